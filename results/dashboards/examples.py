"""Three example calls of each problem: which they are, and how they are found without reading every result.

Of the results that carry a problem, those with a recording come first, then testers and scripts that were not shown
yet, then the most recent, of the twenty latest that carry it. They are looked for among the latest results; only a
problem of which fewer than three are found there is looked for among all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, reduce
from operator import attrgetter, or_
from typing import Any, NamedTuple

from django.db.models import F, Q, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber

from emma_eval.accounts.models import User

from ..models import Problem, Recording, Result, ResultQuerySet, ReviewedProblem, Source
from ..recordings.tell_of_rows import one_of_the_call
from .counting import Counting

EXAMPLES = 3
LATEST = 300
FEW = 2 * LATEST  # so few results are looked at whole
MOST_OF_A_PROBLEM = 20
MANY = 500  # up to so many that carry it are read whole
NEAR = 20_000  # of so few results, the database begins with them; of more, with the problem that is looked for
COLUMNS = ("id", "called_at", "tester__name", "tester__email", "script_version__title", "recording_link", "played")

Tag = tuple[str, bool]  # a problem, and whether only as the biggest
Carried = tuple[int, str, int | None]  # a result, a problem that it carries, and the problem's rank


@dataclass(frozen=True)
class Example:
    """A result that carries a problem: of which call, and whether there is a recording to listen to."""

    id: int
    called_at: datetime
    tester_name: str
    tester_email: str
    title: str
    recording_link: str
    played: int | None  # the key of a recording that can be played here

    @property
    def has_recording(self) -> bool:
        """Whether there is something to listen to, here or behind a link."""
        return self.played is not None or bool(self.recording_link)

    @property
    def tester(self) -> str:
        return self.tester_name or self.tester_email


class Candidate(NamedTuple):
    """What is looked at of a result to choose it. `age` grows from the latest call to the earliest.

    A tuple: hundreds are made for a page, which takes a fifth of the time of other objects.
    """

    id: int
    age: int
    tester: int
    script: object
    has_recording: bool


def find_examples(
    counting: Counting, source: Source, wanted: Mapping[Tag, int], results: int
) -> dict[Tag, list[Example]]:
    """At most three of each, the same ones each time. Three queries, and two more where a problem is rare.

    `wanted`: how many results there are of each; `results`: how many there are of all that are counted.
    """
    if not wanted:
        return {}
    narrowed = counting.filters.but(tags=source.value)
    in_order = narrowed.narrow_in_order(Result.objects.visible_to(counting.user), "called_at")
    in_order = in_order.order_by("-called_at", "-id")
    window = in_order[: results if results <= FEW else LATEST]
    latest = _candidates(counting.user, window)
    carried = _tags_of(source, window)
    found = _by_tag(latest, carried, wanted)
    rare = {each: there for each, there in wanted.items() if len(found.get(each, ())) < min(EXAMPLES, there)}
    if rare and len(latest) < results:
        rest = in_order[LATEST:results] if results <= NEAR else counting.rows.order_by()
        more = _tags_of_the_rare(source, rest, rare)
        earlier = in_order.filter(pk__in={result for result, *_ in more} - latest.keys())
        latest |= _candidates(counting.user, earlier, youngest=len(latest))
        found = _by_tag(latest, carried + more, wanted)
    chosen = {tag: choose(candidates) for tag, candidates in found.items()}
    details = _details(counting.user, {each.id for those in chosen.values() for each in those})
    return {tag: [details[each.id] for each in those if each.id in details] for tag, those in chosen.items()}


def choose(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Three of the latest of them, the most telling first."""
    left = sorted(set(candidates), key=attrgetter("age"))[:MOST_OF_A_PROBLEM]
    chosen: list[Candidate] = []
    while left and len(chosen) < EXAMPLES:
        best = _most_telling(left, {each.tester for each in chosen}, {each.script for each in chosen})
        chosen.append(best)
        left.remove(best)
    return chosen


def _most_telling(left: Sequence[Candidate], testers: Collection[int], scripts: Collection[object]) -> Candidate:
    """The latest with a recording, of a tester and of a script that were not chosen yet, or what comes nearest."""
    for each in left:
        if each.has_recording and each.tester not in testers and each.script not in scripts:
            return each
    return min(left, key=lambda each: (not each.has_recording, each.tester in testers, each.script in scripts))


def _candidates(user: User, rows: ResultQuerySet, youngest: int = 0) -> dict[int, Candidate]:
    """`rows` from the latest call to the earliest."""
    played = _played(is_trained=user.is_trained)
    found = rows.annotate(played=played).values_list("id", "tester_id", "script_id", "recording_link", "played")
    return {
        row[0]: Candidate(row[0], age, row[1], row[2], row[3] != "" or row[4] is not None)
        for age, row in enumerate(found, youngest)
    }


def _details(user: User, keys: Collection[int]) -> dict[int, Example]:
    """`keys` are of results that the viewer may see."""
    return {row[0]: Example(*row) for row in _detailed(is_trained=user.is_trained).filter(pk__in=keys)}


@cache
def _detailed(*, is_trained: bool) -> QuerySet[Any]:
    return Result.objects.order_by().annotate(played=_played(is_trained=is_trained)).values_list(*COLUMNS)


@cache
def _played(*, is_trained: bool) -> Subquery:
    """Of a result that somebody may see, a recording that they may play."""
    return one_of_the_call(Recording.objects.of_known_calls(is_trained=is_trained).playable())


@cache
def _problems(source: Source) -> tuple[QuerySet[Any], str]:
    """The rows of tags, as `Carried`, and the path from one to its result. Put together once, for every page."""
    if source == Source.FILED:
        return Problem.objects.order_by().values_list("result_id", "tag", "rank"), "result"
    standing = ReviewedProblem.objects.filter(review__stands=True).order_by()
    return standing.values_list("review__result_id", "tag", "rank"), "review__result"


def _tags_of(source: Source, results: ResultQuerySet) -> list[Carried]:
    problems, path = _problems(source)
    return list(problems.filter(**{f"{path}__in": results.values("pk")}))


def _by_tag(
    results: Mapping[int, Candidate], carried: Iterable[Carried], wanted: Collection[Tag]
) -> dict[Tag, list[Candidate]]:
    """The latest results of each problem. `carried` may name one twice."""
    found: dict[Tag, dict[int, Candidate]] = {tag: {} for tag in wanted}
    of_result: dict[int, list[tuple[str, int | None]]] = {result: [] for result in results}
    for result, tag, rank in carried:
        if result in of_result:  # if not, it was corrected since the one was read and before the other was
            of_result[result].append((tag, rank))
    for result, tags in of_result.items():
        for tag, rank in tags:
            for there in (found.get((tag, False)), found.get((tag, True)) if rank == 1 else None):
                if there is not None and len(there) < MOST_OF_A_PROBLEM:
                    there[result] = results[result]
    return {tag: list(there.values()) for tag, there in found.items()}


def _tags_of_the_rare(source: Source, results: ResultQuerySet, rare: Mapping[Tag, int]) -> list[Carried]:
    """Who carries these problems: all of them, or where they are many the most recent, the biggest first."""
    problems, path = _problems(source)
    wanted = reduce(or_, (Q(tag=tag, rank=1) if is_biggest else Q(tag=tag) for tag, is_biggest in rare))
    within = problems.filter(wanted, **{f"{path}__in": results.values("pk")})
    if sum(rare.values()) <= MANY:
        return list(within)
    place = Window(
        RowNumber(),
        partition_by=[F("tag")],
        order_by=[F("rank").asc(nulls_last=True), F(f"{path}__called_at").desc(), F(f"{path}_id").desc()],
    )
    return list(within.alias(place=place).filter(place__lte=MOST_OF_A_PROBLEM))
