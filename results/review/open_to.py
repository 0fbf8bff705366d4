"""Whether somebody may review a result now, and if not, why: one rule for beginning, going on and filing."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db.models import Exists, OuterRef

from emma_eval.accounts.models import User

from ..models import GoldAnswer, Hold, QueuedFor, Result, Review


class OwnResultError(Exception):
    """Nobody reviews what they filed themselves. Nothing was changed."""


class FiledError(Exception):
    """This reviewer has filed a review of the result before. Nothing was changed."""

    def __init__(self, review: Review) -> None:
        super().__init__(f"filed as {review}")
        self.review = review


class AllInError(Exception):
    """As many reviews as are wanted have been filed by others. Nothing was changed, and no draft is lost."""


class HeldError(Exception):
    """Somebody else has the result in hand. Nothing was changed, and no draft is lost."""

    def __init__(self, hold: Hold) -> None:
        super().__init__(f"{hold}")
        self.hold = hold


IS_GOLD = Exists(GoldAnswer.objects.filter(result=OuterRef("pk"), retired_at=None))


def is_gold(result: Result) -> bool:
    """Whether a review of it is compared with a known answer and never stands."""
    return GoldAnswer.objects.filter(result=result, retired_at=None).exists()


def all_are_in(result: Result) -> bool:
    """Whether all reviews that were wanted are filed: only then does anybody see one of somebody else's."""
    return time_shown(result.reviewed_at, result.queued_for) is not None


def time_shown(reviewed_at: datetime | None, queued_for: int | None) -> datetime | None:
    """When a result was reviewed, as lists and files may say it: not before all reviews are in."""
    return reviewed_at if queued_for in {None, QueuedFor.PICK} else None


def check_open(reviewer: User, result: Result, now: datetime) -> None:
    """Raise what stands against a review of `result` by this person at `now`; nothing, if nothing does.

    What somebody else has in hand is closed, however many reviews are wanted: if it stayed open as long as none of
    them was filed, it would tell whether one was.
    """
    if result.tester_id == reviewer.pk:
        raise OwnResultError
    mine = result.reviews.filed().filter(reviewer=reviewer).first()
    if mine is not None:
        raise FiledError(mine)
    if not is_gold(result) and (all_are_in(result) or _filed(result) >= settings.REVIEWERS_PER_RESULT):
        raise AllInError
    hold = hold_of_another(reviewer, result, now)
    if hold is not None:
        raise HeldError(hold)


def _filed(result: Result) -> int:
    return result.reviews.filed().filter(is_of_gold=False).count()


def hold_of_another(reviewer: User, result: Result, now: datetime) -> Hold | None:
    held = Hold.objects.in_force(now).filter(result=result).exclude(reviewer=reviewer)
    return held.select_related("reviewer").first()
