"""Make a recording ready to be played, in a worker. A worker that is killed leaves it to the next, which begins anew.

Whoever makes it makes the same bytes under the same keys, so two at once cost time and nothing else. What was sent is
kept until the file made of it was seen in the store.
"""

from __future__ import annotations

import hashlib
import logging
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from emma_eval.adapters.media import (
    BadMediaError,
    InterruptedWorkError,
    Media,
    Segment,
    draw_thumbnail,
    look_into,
    take_in,
)
from emma_eval.adapters.recordings import MismatchError, NotKeptError, Store, StoreError
from emma_eval.outbox.deliver import hold_on, is_last_try
from emma_eval.outbox.hold_while import hold_while
from emma_eval.outbox.registry import TryLaterError

from ...models import MOST_FAULT_CHARACTERS, Origin, Recording, RecordingState
from ..work_folder import work_folder
from .clear_sent import clear_sent
from .derive import Heard
from .hear import hear
from .join_chunks import join_chunks
from .measure_call import keep_voices
from .tell_sides import tell_sides

if TYPE_CHECKING:
    from emma_eval.adapters.speech import Voices

STORE_IS_DOWN = timedelta(minutes=1)

GONE = "What was sent is no longer in the store: send it again."
NOT_MADE = "It could not be made ready, though it was tried several times. What was sent is kept: try again later."
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Made:
    """All that was made of a recording, in files of ours."""

    path: Path
    media: Media
    segments: list[Segment]
    words: str
    heard: Heard | None
    voices: Voices | None
    peaks: Path | None
    thumbnail: Path | None
    digest: str


def make_ready(key: str, store: Store) -> None:
    """Make it ready, and clear away what it was made of. Run twice, it is made once.

    Raises TryLaterError where later may help. What can't be played is failed, with words for its tester.
    """
    recording = Recording.objects.filter(pk=key).first()
    if recording is None:
        return
    try:
        if recording.state == RecordingState.WORKING:
            with work_folder() as folder:
                _keep(recording, store, _make(recording, store, folder))
        clear_sent(recording, store)
    except BadMediaError as fault:
        _fail(recording, str(fault))
    except NotKeptError:
        _fail(recording, GONE)
    except (StoreError, InterruptedWorkError, OSError) as fault:
        _try_later(recording, fault)


def _fail(recording: Recording, words: str) -> None:
    working = Recording.objects.filter(pk=recording.pk, state=RecordingState.WORKING)
    working.update(state=RecordingState.FAILED, fault=words[:MOST_FAULT_CHARACTERS])


def _try_later(recording: Recording, fault: Exception) -> None:
    """A store that is down is asked for as long as it takes; what is our own fault is tried some times."""
    log.warning("%s could not be made ready: %s", recording, fault)
    if isinstance(fault, StoreError) and fault.may_retry:
        raise TryLaterError(str(fault), STORE_IS_DOWN, counts=False) from fault
    if is_last_try():
        _fail(recording, NOT_MADE)
    raise TryLaterError(str(fault)) from fault


def _make(recording: Recording, store: Store, folder: Path) -> Made:
    path, segments, words = _playable(recording, store, folder)
    media = look_into(path)
    heard, voices = hear(path, media)
    peaks = folder / "peaks.json" if heard else None
    if heard and peaks:
        heard.write(peaks)
    thumbnail = _thumbnail(path, media, folder)
    hold_on()
    return Made(path, media, segments, words, heard, voices, peaks, thumbnail, hold_while(lambda: _digest(path)))


def _playable(recording: Recording, store: Store, folder: Path) -> tuple[Path, list[Segment], str]:
    """The file, what of the call is in it, and what is to be said of it."""
    if recording.origin == Origin.RECORDED:
        joined = join_chunks(recording, store, folder)
        return joined.path, list(joined.segments), joined.words or recording.fault
    sent = folder / "sent"
    hold_while(lambda: store.fetch(f"{recording.folder}sent", sent))
    path = take_in(sent, folder, beat=hold_on)
    sent.unlink()
    return path, [], ""


def _thumbnail(path: Path, media: Media, folder: Path) -> Path | None:
    try:
        return draw_thumbnail(path, folder, media.duration_ms) if media.has_video else None
    except BadMediaError as fault:
        log.warning("no picture can be made of a recording: %s", fault)
        return None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _keep(recording: Recording, store: Store, made: Made) -> None:
    """Into the store, and then, if it is still wanted, on the page. It is looked at in the store before it counts."""
    if not Recording.objects.filter(pk=recording.pk, state=RecordingState.WORKING).exists():
        return
    keys = {"key": f"{recording.folder}{made.path.name}", "peaks_key": "", "thumbnail_key": ""}
    _bring(store, keys["key"], made.path, made.media.media_type)
    if made.peaks:
        keys["peaks_key"] = f"{recording.folder}peaks.json"
        _bring(store, keys["peaks_key"], made.peaks, "application/json")
    if made.thumbnail:
        keys["thumbnail_key"] = f"{recording.folder}thumbnail.jpg"
        _bring(store, keys["thumbnail_key"], made.thumbnail, "image/jpeg")
    if not _set_ready(recording, keys | _facts(recording, made), made.voices):
        store.remove(key for key in keys.values() if key)


def _bring(store: Store, key: str, path: Path, media_type: str) -> None:
    hold_while(lambda: store.keep(key, path, media_type=media_type))
    there = store.look(key)
    if there is None or there.size != path.stat().st_size:
        raise MismatchError("What the store holds is not what was given to it.")


def _facts(recording: Recording, made: Made) -> dict[str, Any]:
    sides, because = tell_sides(recording, made.media.channels, made.heard)
    return {
        "media_type": made.media.media_type,
        "size": made.path.stat().st_size,
        "digest": made.digest,
        "duration_ms": made.media.duration_ms,
        "width": made.media.width,
        "height": made.media.height,
        "has_video": made.media.has_video,
        "sides": sides,
        "sides_because": because,
        "segments": [asdict(segment) for segment in made.segments],
        "fault": made.words[:MOST_FAULT_CHARACTERS],
        "ready_at": timezone.now(),
        "state": RecordingState.READY,
    }


def _set_ready(recording: Recording, facts: dict[str, Any], voices: Voices | None) -> bool:
    """False where it was removed meanwhile: then what was made of it goes, too."""
    with transaction.atomic():
        found = Recording.objects.select_for_update(no_key=True, of=("self",)).get(pk=recording.pk)
        if found.state == RecordingState.WORKING:
            for column, value in facts.items():
                setattr(found, column, value)
            found.save(update_fields=list(facts))
            _keep_voices(found, voices)
    recording.refresh_from_db()
    return found.state != RecordingState.REMOVED


def _keep_voices(recording: Recording, voices: Voices | None) -> None:
    """A recording is played also where its figures can't be made: a fault of ours there is ours to mend later."""
    try:
        with transaction.atomic():
            keep_voices(recording, voices)
    except Exception:
        log.exception("%s could not be measured", recording)
