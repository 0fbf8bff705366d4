"""Have a result in hand: one reviewer at a time, for some minutes, and longer while work goes on."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from emma_eval.accounts.models import User

from ..models import Hold, QueuedFor, Result, Review
from .open_to import HeldError, check_open, hold_of_another


def begin_review(reviewer: User, result: Result, now: datetime) -> Review:
    """Take a result in hand, or go on with it; what was begun before is still there. It waits from now on, if it did
    not: whoever asks why learns that somebody picked it, and not whether a review was filed since.

    Raises what `check_open` raises, and HeldError where somebody else has it in hand and this person has not begun.
    """
    with transaction.atomic():
        locked = lock(result.pk)
        check_open(reviewer, locked, now)
        begun = locked.reviews.filter(reviewer=reviewer).first()
        other = hold_of_another(reviewer, locked, now)
        if begun is None and other is not None:
            raise HeldError(other)
        if other is None:
            hold(reviewer, locked, now)
        if locked.queued_for is None:
            Result.objects.filter(pk=locked.pk).update(queued_for=QueuedFor.BY_HAND)
        return begun or begin(reviewer, locked)


def begin(reviewer: User, result: Result) -> Review:
    review, _ = Review.objects.get_or_create(
        result=result, reviewer=reviewer, defaults={"result_version": result.version}
    )
    return review


def hold(reviewer: User, result: Result, now: datetime) -> Hold:
    """Write the hold down, over whatever was there. The row of the result must be locked, and nobody else's hold be
    in force: the row is what decides between two who reach for it at the same moment.
    """
    until = now + timedelta(minutes=settings.REVIEW_HOLD_MINUTES)
    mine = Hold(result=result, reviewer=reviewer, taken_at=now, until=until)
    Hold.objects.bulk_create(
        [mine], update_conflicts=True, unique_fields=["result"], update_fields=["reviewer", "taken_at", "until"]
    )
    return mine


def let_go(reviewer: User, result: Result) -> None:
    """Put a result back before its time is over. What was begun stays."""
    Hold.objects.filter(result=result, reviewer=reviewer).delete()


def lock(pk: int) -> Result:
    """The result as it is now, and nobody else writes it or its reviews until the transaction ends."""
    found = Result.objects.select_for_update(of=("self",))
    return found.select_related("script", "script_version__script", "build", "tester").get(pk=pk)
