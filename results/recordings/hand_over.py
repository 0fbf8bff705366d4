"""Hand a recording over to the workers once all of it has arrived."""

from __future__ import annotations

from django.utils import timezone

from emma_eval.outbox.enqueue import enqueue

from ..models import Recording, RecordingState

MAKE_READY = "results.make_recording_ready"


def hand_over(recording: Recording) -> bool:
    """Have it made ready to be played, in the caller's transaction; False where that was asked for before."""
    receiving = Recording.objects.filter(pk=recording.pk, state=RecordingState.RECEIVING)
    if not receiving.update(state=RecordingState.WORKING, finished_at=timezone.now()):
        return False
    enqueue(MAKE_READY, recording=str(recording.pk))
    recording.refresh_from_db()
    return True
