"""Note something while listening, and take one's own note back."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.accounts.throttle import Limit

from ...models import Recording, RecordingNote
from ..trail import NOTED, WITHDREW_NOTE, record_act

TWICE_WITHIN = timedelta(minutes=2)
NOTED_BY_ONE = Limit("notes on recordings", 60, timedelta(minutes=10))


@transaction.atomic
def note_on_recording(by: User, recording: Recording, at_ms: int, words: str) -> RecordingNote | None:
    """Add a note; None where the recording was removed meanwhile. The same one again, sent in a hurry, is one note."""
    locked = Recording.objects.standing().select_for_update(no_key=True, of=("self",))
    if locked.filter(pk=recording.pk).first() is None:
        return None
    recent = RecordingNote.objects.filter(created_at__gt=timezone.now() - TWICE_WITHIN, withdrawn_at=None)
    again = recent.filter(recording=recording, by=by, at_ms=at_ms, words=words).first()
    if again is not None:
        return again
    record_act(by, NOTED, recording)
    return RecordingNote.objects.create(recording=recording, by=by, at_ms=at_ms, words=words)


@transaction.atomic
def withdraw_note(by: User, note: RecordingNote) -> bool:
    """Its words are gone then. Whether it was still there, and one's own."""
    mine = RecordingNote.objects.filter(pk=note.pk, by=by, withdrawn_at=None)
    is_withdrawn = bool(mine.update(withdrawn_at=timezone.now(), words=""))
    if is_withdrawn:
        record_act(by, WITHDREW_NOTE, note.recording)
    return is_withdrawn
