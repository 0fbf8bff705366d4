"""Recordings of two of the demo team's calls: handed over as what testers send is, and made ready by the same worker.

One was recorded beside its call, with a side for each of the two; one was uploaded with both in one track, so nothing
is measured in it. The other calls have a link somewhere else, or nothing yet.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from emma_eval.accounts.models import User
from emma_eval.adapters.recordings import StoreError

from .models import Chunk, Origin, Recording, RecordingNote, Sides, Take
from .recordings.hand_over import hand_over
from .recordings.player.note_on_recording import note_on_recording
from .recordings.recorder.finish_recording import finish_recording
from .recordings.store import recordings_store
from .recordings.uploads.begin_upload import AS_TOLD

FILES = Path(__file__).parent / "data" / "demo_recordings"


@dataclass(frozen=True)
class Sent:
    """A file of the folder, and how it came. `began_at_ms`: on the call clock, of what was recorded beside the call."""

    name: str
    media_type: str
    began_at_ms: int | None = None


SENT = {
    "bad-news-day": Sent("bad-news-day.webm", "video/webm;codecs=vp9,opus", began_at_ms=80_000),
    "small-talk": Sent("small-talk.ogg", "audio/ogg"),
}
NOTE = (39_100, "Both begin at once here, and she gives way at the next word.")


def record_call(tester: User, call: uuid.UUID, called_at: datetime, name: str) -> None:
    """Give a call its recording. Where the store does not answer, it has none: the site starts all the same."""
    sent = SENT[name]
    recording = Recording(tester=tester, call_uuid=call, consented_at=called_at)
    try:
        if sent.began_at_ms is None:
            _upload(recording, sent)
        else:
            _record(recording, sent, sent.began_at_ms, called_at)
    except StoreError:
        Recording.objects.filter(pk=recording.pk).delete()
        return
    # It came with its call, days ago.
    came_at = called_at + timedelta(minutes=10)
    Recording.objects.filter(pk=recording.pk).update(created_at=came_at, heard_at=came_at, finished_at=came_at)


def note_something(by: User, now: datetime) -> None:
    """What somebody of the eval team noted while listening to what was recorded, if it is there."""
    at_ms, words = NOTE
    recording = Recording.objects.filter(origin=Origin.RECORDED, tester__is_demo=True).first()
    if recording is not None:
        note_on_recording(by, recording, at_ms, words)
        RecordingNote.objects.filter(recording=recording, by=by).update(created_at=now - timedelta(hours=22))


def _upload(recording: Recording, sent: Sent) -> None:
    recording.origin, recording.name = Origin.UPLOADED, sent.name
    recording.sides, recording.sides_because = Sides.MIXED, AS_TOLD
    recording.save(force_insert=True)
    recordings_store().keep(f"{recording.folder}sent", FILES / sent.name, media_type=sent.media_type)
    hand_over(recording)


def _record(recording: Recording, sent: Sent, began_at_ms: int, now: datetime) -> None:
    """One take whose only chunk is the whole file."""
    recording.origin = Origin.RECORDED
    recording.save(force_insert=True)
    take = Take.objects.create(
        recording=recording,
        number=1,
        media_type=sent.media_type,
        began_at_ms=began_at_ms,
        has_tester=True,
        has_emma=True,
        chunk_count=1,
    )
    content = (FILES / sent.name).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    chunk = Chunk(take=take, number=0, size=len(content), sha256=digest, arrived_at=recording.consented_at)
    recordings_store().keep(chunk.key, FILES / sent.name, media_type=sent.media_type)
    chunk.save(force_insert=True)
    finish_recording(recording, now)
