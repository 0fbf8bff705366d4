"""How often each rating was given and each problem tagged: straight from the results, or from the kept months.

Every count comes by key: what it is counted by, in the order that was asked for. Nothing is averaged here; the means
and shares of `emma_eval.scoring.intervals` are made of these counts. What was found nowhere has no key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from operator import add
from typing import Any

from django.db.models import Count, F, FilteredRelation, Q, QuerySet, Sum

from emma_eval.accounts.models import User
from emma_eval.scoring.intervals import Mean, Share, mean_of_counts, share_of
from scripts_catalog.models import sort_key_of

from ..models import (
    DIMENSION_KEYS,
    RATING_COUNTS,
    RATINGS,
    MonthCount,
    MonthTag,
    Problem,
    ResultQuerySet,
    ReviewedProblem,
    Source,
)
from ..models.summary import CountQuerySet
from .site_dates import FirstOfMonth, Monday

NONE_RATED: tuple[int, ...] = (0,) * len(RATINGS)
Key = tuple[Any, ...]
Months = tuple[date, date]  # the first days of the first and of the last month
Counted = Mapping[str, Any]  # a row of the database, by alias


@dataclass(frozen=True)
class RatingCounts:
    """How many runs there were, and how often each dimension was rated 1, 2, 3, 4 and 5.

    `without_camera`: of the runs, those whose Vision is N/A. `reviewed`: results of which a review stands.
    """

    runs: int = 0
    never_started: int = 0
    without_camera: int = 0
    reviewed: int = 0
    counts: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: dict.fromkeys(DIMENSION_KEYS, NONE_RATED))

    def __add__(self, other: RatingCounts) -> RatingCounts:
        return RatingCounts(
            self.runs + other.runs,
            self.never_started + other.never_started,
            self.without_camera + other.without_camera,
            self.reviewed + other.reviewed,
            {key: tuple(map(add, self.counts[key], other.counts[key])) for key in DIMENSION_KEYS},
        )

    @property
    def results(self) -> int:
        """Calls that took place and calls that never started."""
        return self.runs + self.never_started

    def n(self, dimension: str) -> int:
        """How many ratings there are; N/A is none."""
        return sum(self.counts[dimension])

    def mean(self, dimension: str) -> Mean | None:
        return mean_of_counts(self.counts[dimension])


@dataclass(frozen=True)
class TagCount:
    """How many results have a problem, and how many have it as their biggest."""

    tagged: int = 0
    biggest: int = 0

    def __add__(self, other: TagCount) -> TagCount:
        return TagCount(self.tagged + other.tagged, self.biggest + other.biggest)


@dataclass(frozen=True)
class TagCounts:
    """Of `n` results, how many have each problem. As reviewed, `n` is those of which a review stands."""

    source: Source
    n: int = 0
    tags: Mapping[str, TagCount] = field(default_factory=dict)

    def of(self, tag: str) -> TagCount:
        return self.tags.get(tag, TagCount())

    def tagged(self, tag: str) -> Share | None:
        return share_of(self.of(tag).tagged, self.n)

    def biggest(self, tag: str) -> Share | None:
        return share_of(self.of(tag).biggest, self.n)


def read_rows(rows: ResultQuerySet, by: Sequence[str] = (), *, with_reviews: bool = True) -> dict[Key, RatingCounts]:
    """The counts of these results, in one query. `by`: any of `BY_ROW`, none for all of them together.

    `with_reviews`: count those of which a review stands, too, which joins a row of another table to each.

    A week is named by its Monday and a month by its first day, in the site's time zone; a script by its slug, a build
    by its sort key, a tester by id.
    """
    asked = _OF_ROWS
    if with_reviews:
        rows = rows.alias(standing=FilteredRelation("reviews", condition=Q(reviews__stands=True)))
        asked = {**_OF_ROWS, "reviewed_": Q(standing__isnull=False)}
    counted = _grouped(rows, _groups(by, ""), {name: Count("id", filter=q) for name, q in asked.items()})
    return {key: _rating_counts(counts) for key, counts in counted if counts["runs_"] or counts["never_started_"]}


def read_months(
    user: User,
    *,
    build: str | None = None,
    area: str | None = None,
    script: str | None = None,
    months: Months | None = None,
    by: Sequence[str] = (),
) -> dict[Key, RatingCounts]:
    """The same from the kept months, of what this person may know of. `by`: any of `BY_MONTH`.

    `build` is a name or a sort key.
    """
    kept = _narrowed(MonthCount.objects.all(), user, build, (area, script), months)
    counted = _grouped(kept, _groups(by, "", kept=True), {f"{name}_": Sum(name) for name in _KEPT})
    return {key: _rating_counts(counts) for key, counts in counted if counts["runs_"] or counts["never_started_"]}


def read_tags(rows: ResultQuerySet, source: Source, by: Sequence[str] = ()) -> dict[Key, TagCounts]:
    """How often each problem was tagged on these results, as filed or as reviewed, and on how many: two queries."""
    within = rows.order_by().values("pk")
    if source == Source.FILED:
        sizes = _grouped(rows, _groups(by, ""), {"n_": Count("id")})
        tags: QuerySet[Any] = Problem.objects.filter(result__in=within)
    else:
        sizes = _grouped(rows.filter(reviews__stands=True), _groups(by, ""), {"n_": Count("id")})
        tags = ReviewedProblem.objects.filter(review__stands=True, review__result__in=within)
    path = "result__" if source == Source.FILED else "review__result__"
    counts = {"tagged_": Count("id"), "biggest_": Count("id", filter=Q(rank=1))}
    return _tag_counts(source, sizes, _grouped(tags, {**_groups(by, path), "tag_by": F("tag")}, counts))


def read_month_tags(
    user: User,
    source: Source,
    *,
    build: str | None = None,
    area: str | None = None,
    script: str | None = None,
    months: Months | None = None,
    by: Sequence[str] = (),
) -> dict[Key, TagCounts]:
    """The same from the kept months, of what this person may know of; narrowed as in `read_months`."""
    groups = _groups(by, "", kept=True)
    n = F("runs") + F("never_started") if source == Source.FILED else F("reviewed")
    sizes = _grouped(_narrowed(MonthCount.objects.all(), user, build, (area, script), months), groups, {"n_": Sum(n)})
    kept = _narrowed(MonthTag.objects.filter(source=source), user, build, (area, script), months)
    counts = {"tagged_": Sum("tagged"), "biggest_": Sum("biggest")}
    return _tag_counts(source, sizes, _grouped(kept, {**groups, "tag_by": F("tag")}, counts))


_COLUMN = {
    "script": "script_id",
    "build": "build_id",
    "tester": "tester_id",
    "script_version": "script_version_id",
    "met_emma_before": "met_emma_before",
    "filed_as_safety": "filed_as_safety",
    "taxonomy_edition": "taxonomy_edition",
}
BY_ROW = (*_COLUMN, "area", "week", "month")
BY_MONTH = ("script", "build", "area", "month", "met_emma_before", "filed_as_safety")

# Aliases end in a stroke, so that none is the name of a column.
_OF_ROWS: dict[str, Q] = {
    "runs_": Q(never_started=False),
    "never_started_": Q(never_started=True),
    "without_camera_": Q(never_started=False, camera_used=False),
    **{f"{key}_{value}_": Q(**{key: value}) for key in DIMENSION_KEYS for value in RATINGS},
}
_KEPT = ("runs", "never_started", "without_camera", "reviewed", *RATING_COUNTS)


def _groups(by: Sequence[str], path: str, *, kept: bool = False) -> dict[str, Any]:
    """What to group by: an alias for each name, with what it stands for."""
    unknown = set(by) - set(BY_MONTH if kept else BY_ROW)
    if unknown:
        raise ValueError(f"nothing is counted by {', '.join(sorted(unknown))}")
    return {f"{name}_by": _group(name, path, kept=kept) for name in by}


def _group(name: str, path: str, *, kept: bool) -> Any:
    if name == "area":
        return F(f"{path}script__area")
    if name == "month" and kept:
        return F("month")
    if name in {"week", "month"}:
        return (Monday if name == "week" else FirstOfMonth)(f"{path}called_at")
    return F(path + _COLUMN[name])


def _grouped(rows: QuerySet[Any], groups: Mapping[str, Any], counts: Mapping[str, Any]) -> list[tuple[Key, Counted]]:
    """One query: the counts by key. With nothing to group by there is one key, the empty one."""
    if not groups:
        return [((), rows.order_by().aggregate(**counts))]
    found = rows.order_by().values(**groups).annotate(**counts)
    return [(tuple(row[name] for name in groups), row) for row in found]


def _narrowed(
    kept: CountQuerySet, user: User, build: str | None, place: tuple[str | None, str | None], months: Months | None
) -> CountQuerySet:
    area, script = place
    said = {"build_id": build and sort_key_of(build), "script__area": area, "script_id": script, "month__range": months}
    return kept.visible_to(user).filter(**{lookup: value for lookup, value in said.items() if value})


def _rating_counts(counts: Counted) -> RatingCounts:
    return RatingCounts(
        counts["runs_"] or 0,
        counts["never_started_"] or 0,
        counts["without_camera_"] or 0,
        counts.get("reviewed_") or 0,
        {key: tuple(counts[f"{key}_{value}_"] or 0 for value in RATINGS) for key in DIMENSION_KEYS},
    )


def _tag_counts(
    source: Source, sizes: list[tuple[Key, Counted]], tags: list[tuple[Key, Counted]]
) -> dict[Key, TagCounts]:
    found: dict[Key, dict[str, TagCount]] = {key: {} for key, counts in sizes if counts["n_"]}
    for (*key, tag), counts in tags:
        if counts["tagged_"]:
            found.setdefault(tuple(key), {})[tag] = TagCount(counts["tagged_"], counts["biggest_"])
    n = {key: counts["n_"] or 0 for key, counts in sizes}
    return {key: TagCounts(source, n.get(key, 0), of_key) for key, of_key in found.items()}
