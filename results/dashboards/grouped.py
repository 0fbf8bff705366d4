"""The counts of a dashboard by one thing: scripts, builds, weeks, months, or whether the user had met Emma."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, time
from enum import StrEnum
from typing import Any, TypeVar

from django.utils import timezone

from ..counts.read_counts import (
    RatingCounts,
    TagCount,
    TagCounts,
    read_month_tags,
    read_months,
    read_rows,
    read_tags,
)
from ..models import ResultQuerySet, Source
from .counting import MET_BEFORE, Counting
from .trends import MOST_WEEKS, WEEK, monday_of

Counts = TypeVar("Counts", RatingCounts, TagCounts)


class By(StrEnum):
    """What figures can be grouped by."""

    SCRIPT = "script"
    BUILD = "build"
    WEEK = "week"
    MONTH = "month"
    RETURNING = "returning"

    @property
    def column(self) -> str:
        """As `read_counts` calls it."""
        return MET_BEFORE if self == By.RETURNING else self.value


@dataclass(frozen=True)
class Group:
    """`key`: a script's slug, a build's sort key, a Monday, the first day of a month, or whether Emma was met."""

    key: Any
    counts: RatingCounts
    tags: TagCounts


def count_all(counting: Counting, source: Source) -> Group:
    """Everything together."""
    counts = counting.ratings().get((), RatingCounts())
    return Group(None, counts, counting.tags(source, counts))


def count_by(counting: Counting, source: Source, by: By) -> list[Group]:
    """One group of each that has any result, in the order of their keys. Of weeks, the last `MOST_WEEKS`."""
    if by == By.WEEK or not counting.is_by_months:
        rows = _last_weeks(counting.rows) if by == By.WEEK else counting.rows
        ratings = {key: counts for (key,), counts in read_rows(rows, (by.column,)).items()}
        tags = {key: counts for (key,), counts in read_tags(rows, source, (by.column,)).items()}
    else:
        ratings, tags = _ratings_by(counting, by), _tags_by(counting, source, by)
    return [Group(key, ratings[key], tags.get(key, TagCounts(source))) for key in sorted(ratings)]


def _last_weeks(rows: ResultQuerySet) -> ResultQuerySet:
    last = rows.order_by("-called_at").values_list("called_at", flat=True).first()
    if last is None:
        return rows
    begin = monday_of(timezone.localtime(last).date()) - (MOST_WEEKS - 1) * WEEK
    return rows.filter(called_at__gte=timezone.make_aware(datetime.combine(begin, time.min)))


def _ratings_by(counting: Counting, by: By) -> dict[Any, RatingCounts]:
    return _folded(counting, read_months(counting.user, **_asked(counting, by)), RatingCounts.__add__)


def _tags_by(counting: Counting, source: Source, by: By) -> dict[Any, TagCounts]:
    return _folded(counting, read_month_tags(counting.user, source, **_asked(counting, by)), _together)


def _asked(counting: Counting, by: By) -> dict[str, Any]:
    """The kept months are asked by whether Emma was met, too, since they are narrowed by nothing else of the kind."""
    filters = counting.filters
    names = tuple(dict.fromkeys((by.column, MET_BEFORE)))
    place = {"build": filters.build, "area": filters.area, "script": filters.script}
    return {**place, "months": counting.months, "by": names}


def _folded(
    counting: Counting, found: Mapping[tuple[Any, ...], Counts], add: Callable[[Counts, Counts], Counts]
) -> dict[Any, Counts]:
    """By the first part of the key alone, without those of whom the filters want none."""
    wanted = counting.filters.met_emma_before
    folded: dict[Any, Counts] = {}
    for (key, *rest), counts in found.items():
        met_before = rest[0] if rest else key
        if wanted in (None, met_before):
            folded[key] = add(folded[key], counts) if key in folded else counts
    return folded


def _together(one: TagCounts, other: TagCounts) -> TagCounts:
    tags = {tag: one.tags.get(tag, TagCount()) + other.tags.get(tag, TagCount()) for tag in {**one.tags, **other.tags}}
    return TagCounts(one.source, one.n + other.n, tags)
