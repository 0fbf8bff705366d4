"""Try a recording again that could not be made ready: what was sent of it is kept until it is."""

from __future__ import annotations

from django.db import transaction

from emma_eval.outbox.enqueue import enqueue

from ..models import Recording, RecordingState
from .hand_over import MAKE_READY


@transaction.atomic
def try_again(recording: Recording) -> bool:
    """Have it made ready once more; False where it is not one that failed. Asked twice, it is done once."""
    failed = Recording.objects.filter(pk=recording.pk, state=RecordingState.FAILED)
    if not failed.update(state=RecordingState.WORKING, fault=""):
        return False
    enqueue(MAKE_READY, recording=str(recording.pk))
    recording.refresh_from_db()
    return True
