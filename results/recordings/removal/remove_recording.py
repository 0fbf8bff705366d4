"""Remove a recording for good, in one act: from then on nobody plays it, and the store is emptied behind it."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.outbox.enqueue import enqueue

from ...announce import announce_removed
from ...models import CallFigures, Recording, RecordingNote, RecordingState, Sides, Take, Upload
from ..trail import REMOVED, record_act
from .removal_reasons import Reason, in_words

EMPTY = "results.empty_recording"

_NOTHING: dict[str, Any] = {
    **dict.fromkeys(("fault", "name", "link", "key", "media_type", "digest", "sent_digest", "sides_because"), ""),
    **dict.fromkeys(("peaks_key", "thumbnail_key", "captions_key"), ""),
    **dict.fromkeys(("size", "duration_ms", "width", "height", "ready_at"), None),
    "has_video": False,
    "sides": Sides.UNKNOWN,
    "segments": [],
    "offset_ms": 0,
}


@transaction.atomic
def remove_recording(recording: Recording, by: User | None, reason: Reason, words: str = "") -> bool:
    """False where it was removed before. `words` stand beside the recording, never in the trail.

    What stays is that there was one: its call, when it was begun, agreed to and removed, by whom and why, and who
    watched it. Whoever works on it at this moment finds it removed under its lock and clears away what they made.
    """
    found = Recording.objects.select_for_update(no_key=True, of=("self",)).get(pk=recording.pk)
    if found.state == RecordingState.REMOVED:
        return False
    on_their_way = list(Upload.objects.filter(recording=found).values_list("key", "upload_id"))
    _forget_what_was_made_of(found)
    for column, nothing in _NOTHING.items():
        setattr(found, column, nothing)
    found.state, found.removed_at, found.removed_by = RecordingState.REMOVED, timezone.now(), by
    found.removed_because = in_words(reason, words)
    found.save()
    record_act(by, REMOVED, found, reason=reason.value)
    announce_removed(found)
    enqueue(EMPTY, recording=str(found.pk), uploads=on_their_way)
    return True


def _forget_what_was_made_of(recording: Recording) -> None:
    for model in (Take, Upload, CallFigures):  # with them go chunks and parts
        model.objects.filter(recording=recording).delete()
    RecordingNote.objects.filter(recording=recording).update(words="")
    standing = RecordingNote.objects.filter(recording=recording, withdrawn_at=None)
    standing.update(withdrawn_at=timezone.now())
