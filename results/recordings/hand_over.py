"""Hand a recording over to the workers: once all of it has arrived, or once more after it failed."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from emma_eval.outbox.enqueue import enqueue

from ..models import Recording, RecordingState

MAKE_READY = "results.make_recording_ready"
LISTEN_AGAIN = "results.listen_to_recording_again"


def hand_over(recording: Recording) -> bool:
    """Have it made ready to be played, in the caller's transaction; False where that was asked for before."""
    return _to_the_workers(recording, RecordingState.RECEIVING, finished_at=timezone.now())


def hand_over_again(recording: Recording) -> bool:
    """The same for one that failed; False where it has not, or was handed over again already."""
    return _to_the_workers(recording, RecordingState.FAILED, fault="")


def _to_the_workers(recording: Recording, state: RecordingState, **facts: Any) -> bool:
    """From this state alone, so that of two who ask at once one does it."""
    if not Recording.objects.filter(pk=recording.pk, state=state).update(state=RecordingState.WORKING, **facts):
        return False
    enqueue(MAKE_READY, recording=str(recording.pk))
    recording.refresh_from_db()
    return True
