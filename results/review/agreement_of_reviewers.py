"""How far a reviewer agrees with known answers, and with the reviews that stand where several people reviewed.

Three figures of each: the share with the same biggest problem, the mean overlap of the two sets of tags (that of
Jaccard, 1912: those that both have, of those that either has; 1 where neither has any), and the share with exactly the
same order. Where a review says nothing of an order, since that was not known of the tags it confirms, it is left out of
what is about the order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, Exists, OuterRef, Q

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from emma_eval.scoring.intervals import Mean, Share, mean_of, share_of

from ..models import ProblemOrder, Result, Review, ReviewQuerySet
from .compare_tags import label_of


@dataclass(frozen=True)
class Ordered:
    """Keys of tags, the biggest first, as far as the order is known."""

    tags: tuple[str, ...]
    order: str = ProblemOrder.OVERALL

    @property
    def biggest_is_known(self) -> bool:
        return len(self.tags) < 2 or self.order != ProblemOrder.GROUPS

    @property
    def order_is_known(self) -> bool:
        return len(self.tags) < 2 or self.order == ProblemOrder.OVERALL

    @property
    def biggest(self) -> str:
        return self.tags[0] if self.tags else ""

    @property
    def labels(self) -> list[str]:
        return [label_of(tag) for tag in self.tags]


@dataclass(frozen=True)
class Pair:
    """A reviewer's answer beside the one that it is compared with. `why`: the words of the latter."""

    review: Review
    mine: Ordered
    other: Ordered
    why: str

    @property
    def result(self) -> Result:
        return self.review.result

    @property
    def same_biggest(self) -> bool | None:
        """None where either of them doesn't know it."""
        if not (self.mine.biggest_is_known and self.other.biggest_is_known):
            return None
        return self.mine.biggest == self.other.biggest

    @property
    def same_order(self) -> bool | None:
        """Exactly the same tags in the same order; None where they are the same and one doesn't know their order."""
        if set(self.mine.tags) != set(self.other.tags):
            return False
        if not (self.mine.order_is_known and self.other.order_is_known):
            return None
        return self.mine.tags == self.other.tags

    @property
    def overlap(self) -> float:
        return overlap_of(self.mine.tags, self.other.tags)


def overlap_of(one: Iterable[str], other: Iterable[str]) -> float:
    """The overlap of two sets of tags, from 0 (nothing in common) to 1 (the same)."""
    both, either = set(one) & set(other), set(one) | set(other)
    return len(both) / len(either) if either else 1.0


@dataclass(frozen=True)
class Agreement:
    """The three figures over some pairs; None where there is nothing to tell them from."""

    pairs: list[Pair] = field(default_factory=list)

    @property
    def n(self) -> int:
        return len(self.pairs)

    @property
    def biggest(self) -> Share | None:
        return _share(pair.same_biggest for pair in self.pairs)

    @property
    def order(self) -> Share | None:
        return _share(pair.same_order for pair in self.pairs)

    @property
    def overlap(self) -> Mean | None:
        """Its t interval, cut off at 0 and 1, outside of which no mean of overlaps can lie."""
        found = mean_of([pair.overlap for pair in self.pairs])
        if found is None or found.low is None or found.high is None:
            return found
        return Mean(found.mean, max(found.low, 0.0), min(found.high, 1.0), found.n)


def _share(said: Iterable[bool | None]) -> Share | None:
    known = [each for each in said if each is not None]
    return share_of(sum(known), len(known))


@dataclass(frozen=True)
class OfReviewer:
    """One reviewer: with the known answers, and with the reviews that stand."""

    reviewer: User
    gold: Agreement
    standing: Agreement

    @property
    def key(self) -> str:
        return str(self.reviewer.pk)


def agreement_of(viewer: User, reviewer: User) -> OfReviewer:
    """One reviewer's, over the results that `viewer` may see; who may ask for whose is `may_see_agreement_of`."""
    mine = _seen_by(viewer).filter(reviewer=reviewer)
    return OfReviewer(reviewer, Agreement(_with_gold(mine)), Agreement(_with_standing(mine)))


def agreement_of_all(viewer: User) -> list[OfReviewer]:
    """Everybody who has answered gold or reviewed what others reviewed too, by name; for leads."""
    if not viewer.has_role(Role.EVAL_LEAD):
        return []
    gold, standing = _with_gold(_seen_by(viewer)), _with_standing(_seen_by(viewer))
    people = {pair.review.reviewer_id: pair.review.reviewer for pair in (*gold, *standing)}
    return [
        OfReviewer(person, Agreement(_of(person, gold)), Agreement(_of(person, standing)))
        for person in sorted(people.values(), key=lambda person: str(person).lower())
    ]


def may_see_agreement_of(viewer: User, reviewer: User) -> bool:
    """Leads see everybody's, reviewers their own, nobody else any."""
    if viewer.has_role(Role.EVAL_LEAD):
        return True
    return viewer.pk == reviewer.pk and viewer.has_role(Role.EVAL_TEAM)


def _of(person: User, pairs: list[Pair]) -> list[Pair]:
    return [pair for pair in pairs if pair.review.reviewer_id == person.pk]


def _seen_by(viewer: User) -> ReviewQuerySet:
    """Filed reviews, the latest first: nothing of a known answer shows before one's own is filed."""
    filed = Review.objects.filed().filter(result__in=Result.objects.visible_to(viewer))
    named = filed.select_related("reviewer", "result__script_version", "result__tester", "result__gold")
    return named.prefetch_related("problems").order_by("-filed_at", "-pk")


def _with_gold(reviews: ReviewQuerySet) -> list[Pair]:
    """Answers of gold beside what is known by now; those of a retired answer still count."""
    answered = reviews.filter(is_of_gold=True, result__gold__isnull=False)
    return [
        Pair(review, _as_reviewed(review), Ordered(tuple(review.result.gold.tags)), review.result.gold.why)
        for review in answered
    ]


def _with_standing(reviews: ReviewQuerySet) -> list[Pair]:
    """Reviews of results that several people reviewed beside the one that stands. One's own may be that one."""
    filed = Review.objects.filed().filter(result=OuterRef("result"), is_of_gold=False)
    several = filed.order_by().values("result").annotate(n=Count("pk")).filter(n__gt=1)
    settled = Review.objects.filter(result=OuterRef("result"), stands=True)
    compared = list(reviews.filter(Exists(several), Exists(settled), is_of_gold=False))
    standing = _standing_of(compared)
    return [
        Pair(review, _as_reviewed(review), _as_reviewed(standing[review.result_id]), standing[review.result_id].reason)
        for review in compared
    ]


def _standing_of(reviews: Sequence[Review]) -> dict[int, Review]:
    found = Review.objects.filter(Q(stands=True), result__in={review.result_id for review in reviews})
    return {review.result_id: review for review in found.prefetch_related("problems")}


def _as_reviewed(review: Review) -> Ordered:
    problems = sorted(review.problems.all(), key=lambda problem: problem.position)
    return Ordered(tuple(problem.tag for problem in problems), review.problem_order)
