"""Have a result in hand: one reviewer at a time, for some minutes, and longer while work goes on; and not many."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from emma_eval.accounts.models import User

from ..models import Hold, QueuedFor, Result, Review
from .open_to import check_open

MOST_IN_HAND = 3


def begin_review(reviewer: User, result: Result, now: datetime) -> Review:
    """Take a result in hand, or go on with it; what was begun before is still there. It waits from now on, if it did
    not: whoever asks why learns that somebody picked it, and not whether a review was filed since.

    Raises what `check_open` raises.
    """
    with transaction.atomic():
        locked = lock(result.pk)
        check_open(reviewer, locked, now)
        hold(reviewer, locked, now)
        if locked.queued_for is None:
            Result.objects.filter(pk=locked.pk).update(queued_for=QueuedFor.BY_HAND)
        return begin(reviewer, locked)


def begin(reviewer: User, result: Result) -> Review:
    review, _ = Review.objects.get_or_create(
        result=result, reviewer=reviewer, defaults={"result_version": result.version}
    )
    return review


def hold(reviewer: User, result: Result, now: datetime) -> Hold:
    """Write the hold down, over whatever was there. The row of the result must be locked, and nobody else's hold be
    in force: the row is what decides between two who reach for it at the same moment.

    Of what the reviewer has in hand, the one longest ago goes back if it gets too many. Their account is locked, so
    that many presses at once count as well.
    """
    User.objects.select_for_update(no_key=True).filter(pk=reviewer.pk).first()
    until = now + timedelta(minutes=settings.REVIEW_HOLD_MINUTES)
    mine = Hold(result=result, reviewer=reviewer, taken_at=now, until=until)
    Hold.objects.bulk_create(
        [mine], update_conflicts=True, unique_fields=["result"], update_fields=["reviewer", "taken_at", "until"]
    )
    _let_the_oldest_go(reviewer, result, now)
    return mine


def _let_the_oldest_go(reviewer: User, result: Result, now: datetime) -> None:
    others = Hold.objects.in_force(now).filter(reviewer=reviewer).exclude(result=result).order_by("-taken_at", "-pk")
    surplus = list(others.values_list("pk", flat=True)[MOST_IN_HAND - 1 :])
    if surplus:
        Hold.objects.filter(pk__in=surplus, reviewer=reviewer).delete()


def let_go(reviewer: User, result: Result) -> None:
    """Put a result back before its time is over. What was begun stays."""
    Hold.objects.filter(result=result, reviewer=reviewer).delete()


def lock(pk: int) -> Result:
    """The result as it is now, and nobody else writes it or its reviews until the transaction ends."""
    found = Result.objects.select_for_update(no_key=True, of=("self",))
    return found.select_related("script", "script_version__script", "build", "tester").get(pk=pk)
