"""Find recordings that nobody works on any more, and say so: a worker may have died of one, again and again."""

from __future__ import annotations

from emma_eval.outbox.models import Row

from ...models import Recording, RecordingState
from ..hand_over import MAKE_READY
from .make_ready import NOT_MADE


def give_up_stuck() -> int:
    """Fail those whose work was set aside, how many; what was sent of them is kept, and can be tried again."""
    working = {str(key) for key in Recording.objects.filter(state=RecordingState.WORKING).values_list("pk", flat=True)}
    if not working:
        return 0
    rows = Row.objects.filter(handler=MAKE_READY, done_at=None).order_by("pk")
    is_set_aside = {row.payload["recording"]: row.set_aside_at is not None for row in rows}
    stuck = [key for key in working if is_set_aside.get(key)]
    return Recording.objects.filter(pk__in=stuck, state=RecordingState.WORKING).update(
        state=RecordingState.FAILED, fault=NOT_MADE
    )
