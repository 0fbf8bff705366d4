"""Pick the review whose tags count, where several people reviewed a result; and pick again, later."""

from __future__ import annotations

from django.db import transaction

from emma_eval.accounts import audit
from emma_eval.accounts.models import User

from ..models import Result, Review
from .file_review import let_stand
from .hold_result import lock
from .open_to import all_are_in
from .standing import standing_review_of

PICKED = "picked a review"


class NothingToPickError(Exception):
    """Reviews are still wanted, or the one that was named is none of this result's. Nothing was changed."""


def reviews_to_pick(result: Result) -> list[Review]:
    """What there is to pick from, in the order in which they came in; nothing before all are in."""
    if not all_are_in(result):
        return []
    filed = result.reviews.filed().filter(is_of_gold=False)
    return list(filed.select_related("reviewer", "stood_by").prefetch_related("problems").order_by("filed_at"))


def pick_review(lead: User, result_pk: int, review_pk: int, word: str) -> Review:
    """Let this review stand. Who picked which, over which, and why, is kept in the audit trail.

    The same pick again, a second press, changes nothing.
    """
    with transaction.atomic():
        result = lock(result_pk)
        review = next((each for each in reviews_to_pick(result) if each.pk == review_pk), None)
        if review is None:
            raise NothingToPickError
        if review.stands:
            return review
        result.queued_for = None
        result.save(update_fields=["queued_for"])
        before = standing_review_of(result)
        _tell(lead, result, review, before, word)
        let_stand(review, result, before=before, picked_by=lead)
        return review


def _tell(lead: User, result: Result, review: Review, before: Review | None, word: str) -> None:
    audit.record(
        *(lead, PICKED, str(result.pk)),
        is_safety=result.is_covered,
        script=result.script_id,
        about=review.reviewer,
        instead_of=f"that of person {before.reviewer_id}" if before else "",
        why=word,
    )
