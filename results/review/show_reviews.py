"""Reviews as pages show them: beside what the tester filed, with what differs marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role

from ..models import Result, Review
from .blind import REVIEWERS, SEE_REVIEWS, is_shown_as_reviewed, reviews_shown_to
from .compare_tags import Comparison, compare_tags, label_of
from .file_review import tags_of
from .open_to import all_are_in


@dataclass(frozen=True)
class ShownTag:
    """A tag of a review. `place`: None where the order is not known. `is_added`: the tester did not pick it."""

    label: str
    place: int | None
    is_added: bool


@dataclass(frozen=True)
class ShownReview:
    """One review. `by` is empty where its reader is not to know who reviewed."""

    review: Review
    by: str
    tags: list[ShownTag]
    taken_out: list[str]
    comparison: Comparison

    @property
    def order_known(self) -> bool:
        return all(tag.place for tag in self.tags)


@dataclass(frozen=True)
class ReviewsOfResult:
    """What the page of a result says of its reviews to one reader, and what that reader may do next."""

    reviews: list[ShownReview]
    is_reviewed: bool
    may_review: bool
    may_pick: bool

    @property
    def standing(self) -> Review | None:
        return next((shown.review for shown in self.reviews if shown.review.stands), None)

    @property
    def waits_for_pick(self) -> bool:
        return self.may_pick and self.standing is None

    @property
    def what_counts_instead(self) -> str:
        """Beside a review that does not stand, once all are in: which one does."""
        if self.standing is None:
            return "Which review counts waits for the lead’s pick."
        return "The lead picked another, whose tags count." if self.standing.stood_by_id else "Another review counts."


def show_reviews(user: User, result: Result) -> ReviewsOfResult:
    """Gather it; `result` must be one that `user` may see."""
    filed = tags_of(result)
    reviews = [show_review(review, filed, user) for review in reviews_shown_to(user, result)]
    is_reviewed = is_shown_as_reviewed(user, result)
    wrote_one = any(shown.review.reviewer_id == user.pk for shown in reviews)
    several = [shown for shown in reviews if not shown.review.is_of_gold]
    return ReviewsOfResult(
        reviews=reviews,
        is_reviewed=is_reviewed,
        may_review=user.has_role(*REVIEWERS) and result.tester_id != user.pk and not (is_reviewed or wrote_one),
        may_pick=user.has_role(Role.EVAL_LEAD) and all_are_in(result) and len(several) > 1,
    )


def show_review(review: Review, filed: Sequence[str], reader: User) -> ShownReview:
    """Testers are not told who reviewed their result: it is the team's word, not a person's."""
    problems = sorted(review.problems.all(), key=lambda problem: problem.position)
    comparison = compare_tags(filed, [problem.tag for problem in problems])
    return ShownReview(
        review=review,
        by=str(review.reviewer) if reader.has_role(*SEE_REVIEWS) else "",
        tags=[ShownTag(problem.label, problem.rank, problem.tag in comparison.added) for problem in problems],
        taken_out=[label_of(tag) for tag in comparison.taken_out],
        comparison=comparison,
    )
