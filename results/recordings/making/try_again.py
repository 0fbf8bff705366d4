"""Try a recording again that could not be made ready: what was sent of it is kept until it is."""

from __future__ import annotations

from django.db import transaction

from ...models import Chunk, Recording, RecordingState
from ..hand_over import hand_over_again


def may_be_tried_again(recording: Recording) -> bool:
    """Whether it failed, and there is something that it can be made of: a link that was never copied left nothing."""
    if recording.state != RecordingState.FAILED:
        return False
    arrived = Chunk.objects.filter(take__recording=recording).exclude(arrived_at=None)
    return bool(recording.sent_digest) or arrived.exists()


@transaction.atomic
def try_again(recording: Recording) -> bool:
    """Have it made ready once more; False where that can't help. Asked twice, it is done once."""
    return may_be_tried_again(recording) and hand_over_again(recording)
