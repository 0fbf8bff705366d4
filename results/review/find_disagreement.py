"""Find the results whose ratings lie far from what the other testers of the same script and build gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.db import transaction

from ..models import DIMENSION_KEYS, Problem, QueuedFor, Result, ResultQuerySet
from .reasons import reason_for

FAR = 3
Rating = int | None


@dataclass(frozen=True)
class Given:
    """The ratings of one result, in the order of the dimensions, and whose they are."""

    result: int
    tester: int
    ratings: tuple[Rating, ...]


def far_from_the_others(given: Collection[Given]) -> set[int]:
    """The results with a rating at least `FAR` from the median of what the *other* testers gave that dimension.

    All of one script and one build. A tester who ran it often is no second opinion on themselves; of two testers who
    are that far apart both are found; of many, only those who stand alone.
    """
    found: set[int] = set()
    for place in range(len(DIMENSION_KEYS)):
        found |= _far_in(place, given)
    return found


def _far_in(place: int, given: Iterable[Given]) -> set[int]:
    rated = [(each, rating) for each in given if (rating := each.ratings[place]) is not None]
    everybody = Counter(rating for _, rating in rated)
    of_tester: dict[int, Counter[int]] = {}
    for each, rating in rated:
        of_tester.setdefault(each.tester, Counter())[rating] += 1
    others = {tester: median_of(everybody - own) for tester, own in of_tester.items()}
    return {each.result for each, rating in rated if _is_far(rating, others[each.tester])}


def _is_far(rating: int, middle: float | None) -> bool:
    return middle is not None and abs(rating - middle) >= FAR


def median_of(counts: Mapping[int, int]) -> float | None:
    """The median of ratings of which each was given so many times; None of none."""
    total = sum(counts.values())
    if total == 0:
        return None
    low, high = (total - 1) // 2, total // 2
    reached = 0
    middle: list[int] = []
    for rating in sorted(counts):
        reached += counts[rating]
        while len(middle) < 2 and reached > (low, high)[len(middle)]:
            middle.append(rating)
    return sum(middle) / 2


def queue_disagreement(script: str, build: str) -> int:
    """Bring the queue up to date with the results of one script and build; how many were changed.

    Only what nobody has reviewed yet is touched; what does not disagree any more keeps the reason that it gives by
    itself. Run twice, it changes nothing more.
    """
    rows = Result.objects.filter(script__slug=script, build__sort_key=build).rated()
    columns = ("pk", "tester_id", *DIMENSION_KEYS)
    given = [Given(pk, tester, tuple(ratings)) for pk, tester, *ratings in rows.values_list(*columns)]
    far = far_from_the_others(given)
    open_ones = rows.filter(reviewed_at=None)
    agreeing = open_ones.filter(queued_for=QueuedFor.DISAGREEMENT).exclude(pk__in=far)
    changed = sum(_queue_again(result) for result in agreeing)
    return changed + _queue(far)


def _queue(far: Collection[int]) -> int:
    in_order = sorted(far)
    parts = (in_order[start : start + 500] for start in range(0, len(in_order), 500))
    others = Result.objects.exclude(queued_for=QueuedFor.DISAGREEMENT)
    return sum(queue_rows(others.filter(pk__in=part), QueuedFor.DISAGREEMENT) for part in parts)


def queue_rows(rows: ResultQuerySet, reason: QueuedFor) -> int:
    """Queue those of these results that nobody has reviewed; how many were changed. Gold moves as any other does.

    They are locked in one order first, the one in which a correction locks the results of its call: so that no two
    wait for each other in a ring.
    """
    with transaction.atomic():
        open_ones = rows.filter(reviewed_at=None).order_by("pk")
        keys = list(open_ones.select_for_update(no_key=True, of=("self",)).values_list("pk", flat=True))
        return Result.objects.filter(pk__in=keys).update(queued_for=reason)


def _queue_again(result: Result) -> int:
    tags = Problem.objects.filter(result=result).values_list("tag", flat=True)
    same = Result.objects.filter(pk=result.pk, queued_for=QueuedFor.DISAGREEMENT, reviewed_at=None)
    return same.update(queued_for=reason_for(result, tags))
