"""Say who is heard on which side of a recording of two: its figures are made again from what was heard."""

from __future__ import annotations

from django.db import transaction

from emma_eval.accounts.models import User

from ...models import Recording, Sides
from ..making.measure_call import measure_call
from ..trail import TOLD_SIDES, record_act

CHOICES = (Sides.TWO, Sides.TWO_SWAPPED, Sides.MIXED)
BECAUSE = "As somebody who listened to it says."


def may_differ(recording: Recording) -> bool:
    """Whether its two channels hold something of their own, so that it is for people to say whose they are."""
    return recording.is_playable and (recording.sides in CHOICES[:2] or _was_told(recording) or _is_not_said(recording))


def _was_told(recording: Recording) -> bool:
    return recording.sides_because == BECAUSE


def _is_not_said(recording: Recording) -> bool:
    heard = getattr(recording, "figures", None)
    return recording.sides == Sides.UNKNOWN and bool(heard and heard.heard)


@transaction.atomic
def correct_sides(by: User, recording: Recording, sides: Sides) -> bool:
    """Keep it, and who said so; False where there is nothing to say or nothing new."""
    locked = Recording.objects.select_for_update(no_key=True, of=("self",)).get(pk=recording.pk)
    before = locked.sides
    if sides == before or not may_differ(locked):
        return False
    locked.sides, locked.sides_because = sides, BECAUSE
    locked.save(update_fields=["sides", "sides_because"])
    measure_call(locked)
    record_act(by, TOLD_SIDES, recording, before=before, after=str(sides))
    recording.refresh_from_db()
    return True
