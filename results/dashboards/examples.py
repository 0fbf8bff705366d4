"""Three example calls of each problem: which they are, and how they are found without reading every result.

Of the results that carry a problem, those with a recording come first, then testers and scripts that were not shown
yet, then the most recent. They are looked for among the latest results; only a problem of which fewer than three are
found there is looked for among all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber
from django.urls import reverse

from ..models import Problem, Result, ReviewedProblem, Source
from .counting import Counting

EXAMPLES = 3
LATEST = 300
MOST_OF_A_PROBLEM = 20
COLUMNS = (
    "id",
    "called_at",
    "tester_id",
    "tester__name",
    "tester__email",
    "script_id",
    "script_version__title",
    "recording_link",
)


@dataclass(frozen=True)
class Example:
    """A result that carries a problem: of which call, and whether there is a recording to listen to."""

    id: int
    called_at: datetime
    tester_id: int
    tester_name: str
    tester_email: str
    script: str
    title: str
    recording_link: str

    @property
    def has_recording(self) -> bool:
        return bool(self.recording_link)

    @property
    def href(self) -> str:
        return reverse("result", args=[self.id])

    @property
    def tester(self) -> str:
        return self.tester_name or self.tester_email


Tag = tuple[str, bool]  # a problem, and whether only as the biggest


def find_examples(counting: Counting, source: Source, wanted: Collection[Tag]) -> dict[Tag, list[Example]]:
    """At most three of each, the same ones each time. Two queries, and two more where a problem is rare."""
    if not wanted:
        return {}
    latest = _latest(counting, source)
    carried = _tags_of(source, latest)
    found = _by_tag(latest, carried, wanted)
    rare = {tag for tag, _ in (each for each in wanted if len(found.get(each, ())) < EXAMPLES)}
    if rare and len(latest) == LATEST:
        more = _of_the_rare(counting, source, rare)
        everything = {**more, **latest}
        found = _by_tag(everything, [*carried, *_tags_of(source, more)], wanted)
    return {tag: choose(examples) for tag, examples in found.items()}


def choose(examples: Iterable[Example]) -> list[Example]:
    """Three of them, the most telling first."""
    left = sorted(set(examples), key=lambda each: (each.called_at, each.id), reverse=True)
    chosen: list[Example] = []
    while left and len(chosen) < EXAMPLES:
        testers, scripts = {each.tester_id for each in chosen}, {each.script for each in chosen}
        best = min(left, key=lambda each: (not each.has_recording, each.tester_id in testers, each.script in scripts))
        chosen.append(best)
        left.remove(best)
    return chosen


def _latest(counting: Counting, source: Source) -> dict[int, Example]:
    rows = counting.filters.but(tags=source.value).narrow_in_order(
        Result.objects.visible_to(counting.user), "called_at"
    )
    return _read(rows.order_by("-called_at", "-id")[:LATEST])


def _read(rows: QuerySet[Result]) -> dict[int, Example]:
    found = rows.values_list(*COLUMNS)
    return {row[0]: Example(*row) for row in found}


def _problems(source: Source) -> tuple[QuerySet[Any], str]:
    """The rows of tags, and the path from one to its result."""
    if source == Source.FILED:
        return Problem.objects.all(), "result"
    return ReviewedProblem.objects.filter(review__stands=True), "review__result"


def _tags_of(source: Source, results: Mapping[int, Example]) -> list[tuple[int, str, int | None]]:
    problems, path = _problems(source)
    return list(problems.filter(**{f"{path}__in": list(results)}).order_by().values_list(f"{path}_id", "tag", "rank"))


def _by_tag(
    results: Mapping[int, Example], carried: Iterable[tuple[int, str, int | None]], wanted: Collection[Tag]
) -> dict[Tag, list[Example]]:
    found: dict[Tag, list[Example]] = defaultdict(list)
    for result, tag, rank in carried:
        for key in ((tag, False), *(((tag, True),) if rank == 1 else ())):
            if key in wanted:
                found[key].append(results[result])
    return found


def _of_the_rare(counting: Counting, source: Source, tags: Collection[str]) -> dict[int, Example]:
    """The most recent results of these problems, those where it is the biggest first."""
    problems, path = _problems(source)
    place = Window(
        RowNumber(),
        partition_by=[F("tag")],
        order_by=[F("rank").asc(nulls_last=True), F(f"{path}__called_at").desc(), F(f"{path}_id").desc()],
    )
    within = problems.filter(**{f"{path}__in": counting.rows.order_by().values("pk")}, tag__in=tags)
    first = within.order_by().alias(place=place).filter(place__lte=MOST_OF_A_PROBLEM)
    keys = list(first.values_list(f"{path}_id", flat=True))
    return _read(Result.objects.visible_to(counting.user).filter(pk__in=keys))
