"""File a review: its tags are written once, beside the tester's, which stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils.crypto import salted_hmac

from emma_eval.accounts import audit
from emma_eval.accounts.models import User

from ..announce import announce_reviewed
from ..counts.keep_counts import count_review
from ..filing.file_result import rank_of
from ..models import GoldAnswer, ProblemOrder, QueuedFor, Result, Review, ReviewedProblem
from .gold import keep_within_share
from .hold_result import begin, let_go, lock
from .open_to import check_open, is_gold


class CorrectedMeanwhileError(Exception):
    """The tester has corrected the result since the reviewer read it. Nothing was changed."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"{result} is at version {result.version}")
        self.result = result


@dataclass(frozen=True)
class Judged:
    """What a reviewer says: the tags in order, the biggest first, and why they differ from the tester's."""

    tags: tuple[str, ...]
    reason: str = ""


def file_review(reviewer: User, result_pk: int, judged: Judged, *, based_on: int, now: datetime) -> Review:
    """File the review of a result as it stood at version `based_on`.

    What is judged must have passed `review_form`. Raises what `check_open` raises, and CorrectedMeanwhileError.
    """
    with transaction.atomic():
        result = lock(result_pk)
        check_open(reviewer, result, now)
        if result.version != based_on:
            raise CorrectedMeanwhileError(result)
        review = begin(reviewer, result)
        _write(review, result, judged, now)
        let_go(reviewer, result)
        _tell(review, result)
        settle(result, now)
        review.refresh_from_db()
        return review


def _write(review: Review, result: Result, judged: Judged, now: datetime) -> None:
    """Tags that are confirmed keep what is known of their order, and what is not."""
    review.confirms = tags_of(result) == judged.tags
    review.problem_order = result.problem_order if review.confirms else ProblemOrder.OVERALL
    review.reason, review.draft = judged.reason, {}
    review.filed_at, review.result_version = now, result.version
    review.is_of_gold = is_gold(result)
    review.save()
    ReviewedProblem.objects.bulk_create(problems_of(review, judged.tags))


def tags_of(result: Result) -> tuple[str, ...]:
    """The tags as the tester filed them, in their order."""
    return tuple(result.problems.order_by("position").values_list("tag", flat=True))


def problems_of(review: Review, tags: Sequence[str]) -> list[ReviewedProblem]:
    order = ProblemOrder(review.problem_order)
    return [
        ReviewedProblem(review=review, tag=tag, position=place, rank=rank_of(place, order))
        for place, tag in enumerate(tags, 1)
    ]


def settle(result: Result, now: datetime) -> None:
    """What follows from the reviews that are in. The row of the result must be locked.

    One that was all that was wanted stands at once. Of several a person picks one. While more are wanted the result
    waits on, whether or not anything but a reviewer's hand had put it into the queue.
    """
    filed = list(result.reviews.filed().filter(is_of_gold=False).order_by("filed_at"))
    waited_for = result.queued_for
    if filed:
        _find_its_place(result, len(filed), now)
    keep_within_share(waited_for, is_safety=result.filed_as_safety, now=now)
    if len(filed) == 1 and result.queued_for is None:
        let_stand(filed[0], result, before=None)


def _find_its_place(result: Result, filed: int, now: datetime) -> None:
    """In the queue, while more than these reviews are wanted. One that has them all is gold no more."""
    result.reviewed_at = result.reviewed_at or now
    if filed < settings.REVIEWERS_PER_RESULT:
        result.queued_for = result.queued_for or QueuedFor.BY_HAND
    else:
        result.queued_for = None if filed == 1 else QueuedFor.PICK
        GoldAnswer.objects.filter(result=result, retired_at=None).update(retired_at=now)
    result.save(update_fields=["reviewed_at", "queued_for"])


def let_stand(review: Review, result: Result, *, before: Review | None, picked_by: User | None = None) -> None:
    """This review's tags count from now on, and no more those of the one before. Counts and endpoints are told.

    Counts come last in a transaction: all transactions touch the same few rows of them.
    """
    if before is not None:
        result.reviews.filter(pk=before.pk).update(stands=False)
    review.stands, review.stood_by = True, picked_by
    review.save(update_fields=["stands", "stood_by"])
    announce_reviewed(result)
    count_review(result, before, review)


def _tell(review: Review, result: Result) -> None:
    """The trail says that somebody reviewed a result and nothing of what they found: others may still be at work.

    Nor which one: of gold, whose page goes on saying that nobody has reviewed it, that alone would tell what it is.
    The pages of results say who reviewed them, when all are in.
    """
    audit.record(review.reviewer, "reviewed a result", name_of_review(review), is_safety=result.is_covered)


def name_of_review(review: Review) -> str:
    """What the audit trail calls a review: by its key and the site's secret, so that it leads nobody to its result."""
    return f"review {salted_hmac('results.review.trail', str(review.pk), algorithm='sha256').hexdigest()[:10]}"
