"""What was rated, counted: per script and dimension, and the problems by how often they were tagged.

Counts of ratings are all that is read; means come from them. N/A, and calls that never started, are
counted apart and are in no mean. Every figure carries the address of the rows that it counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from emma_eval.accounts.models import User
from scripts_catalog import taxonomy

from ..charts.bars import Bar, share_bar, stacked_bars
from ..listing.filters import Filters
from ..models import DIMENSION_KEYS, Problem, Result, ResultQuerySet

FEWEST = 5
VALUES = tuple(value for value, _ in taxonomy.SCALE)


@dataclass(frozen=True)
class Figure:
    """A count, and the rows that it counts."""

    count: int
    query: str


@dataclass(frozen=True)
class Cell:
    """How one dimension was rated: each rating's count, how many there are in all, and their mean."""

    dimension: taxonomy.Dimension
    values: tuple[Figure, ...]
    rated: Figure
    not_applicable: Figure

    @property
    def is_not_applicable(self) -> bool:
        """Whether every run was without the camera, so that there was nothing to rate."""
        return not self.rated.count and self.not_applicable.count > 0

    @property
    def mean(self) -> float | None:
        """None where there are too few ratings for a mean to say anything."""
        if self.rated.count < FEWEST:
            return None
        return sum(value * figure.count for value, figure in zip(VALUES, self.values, strict=True)) / self.rated.count


@dataclass(frozen=True)
class Line:
    """One script (or all of them together). `slug` is empty for all."""

    slug: str
    title: str
    took_place: Figure
    never_started: Figure
    cells: tuple[Cell, ...]

    def cell(self, key: str) -> Cell:
        """The cell of the dimension with this key."""
        return self.cells[DIMENSION_KEYS.index(key)]


@dataclass(frozen=True)
class LineSort:
    """What the scripts are sorted by: their titles, their runs, or the mean of a dimension."""

    key: str = "script"
    is_descending: bool = False

    def by(self, key: str) -> LineSort:
        """The sort that pressing a column's head asks for: most runs and lowest means first, then the other way."""
        return LineSort(key, not self.is_descending if key == self.key else key == "runs")

    def params(self) -> dict[str, str]:
        """As they stand in an address; nothing for titles from A."""
        if self == LineSort():
            return {}
        return {"sort": self.key, "direction": "desc" if self.is_descending else "asc"}

    def arrange(self, lines: list[Line]) -> list[Line]:
        """The lines, given by title, in this order. Those without a mean come last, whichever way it is sorted."""
        if self.key == "script":
            return lines[::-1] if self.is_descending else lines
        if self.key == "runs":
            return sorted(lines, key=lambda line: line.took_place.count, reverse=self.is_descending)
        with_mean = [line for line in lines if line.cell(self.key).mean is not None]
        without = [line for line in lines if line.cell(self.key).mean is None]
        return sorted(with_mean, key=lambda line: line.cell(self.key).mean or 0, reverse=self.is_descending) + without


@dataclass(frozen=True)
class Lowest:
    """The lowest mean of all scripts and dimensions. `as_low`: how many others are just as low."""

    line: Line
    cell: Cell
    as_low: int


@dataclass(frozen=True)
class Tagged:
    """How often a problem was tagged, and how often it was known to be the biggest."""

    label: str
    group: str
    often: Figure
    biggest: Figure
    most: int

    @property
    def often_bar(self) -> str:
        return share_bar(self.often.count, self.most)

    @property
    def biggest_bar(self) -> str:
        return share_bar(self.biggest.count, self.most)


@dataclass(frozen=True)
class Dashboard:
    lines: list[Line]
    total: Line
    by_count: list[Tagged]
    by_biggest: list[Tagged]

    @property
    def lowest(self) -> Lowest | None:
        """None where n is too small everywhere. Of several that are as low, the one with the most ratings."""
        found = [(cell.mean, -cell.rated.count, line, cell) for line in self.lines for cell in line.cells]
        named = [(mean, fewer, line, cell) for mean, fewer, line, cell in found if mean is not None]
        if not named:
            return None
        mean, _, line, cell = min(named, key=lambda entry: (entry[0], entry[1], entry[2].title))
        return Lowest(line, cell, sum(entry[0] == mean for entry in named) - 1)

    @property
    def chart(self) -> str:
        bars = [
            Bar(
                cell.dimension.name,
                tuple(figure.count for figure in cell.values),
                f"n {cell.rated.count}" + (f" · N/A {cell.not_applicable.count}" if cell.not_applicable.count else ""),
            )
            for cell in self.total.cells
        ]
        return stacked_bars("ratings", "How often each rating was given, by dimension", bars)


def build_dashboard(user: User, filters: Filters, titles: Mapping[str, str], sort: LineSort) -> Dashboard:
    """Two queries, whatever the number of scripts. `titles`: of the scripts that the viewer may know, in order."""
    rows = filters.narrow(Result.objects.visible_to(user))
    counted = {row["script_id"]: row for row in _counts(rows)}
    lines = [_line(filters.but(script=slug), titles[slug], counted[slug]) for slug in titles if slug in counted]
    together = {name: sum(row[name] for row in counted.values()) for name in _COUNTS}
    problems = _problems(rows, filters)
    return Dashboard(
        lines=sort.arrange(lines),
        total=_line(filters, "All scripts", together),
        by_count=sorted(problems, key=lambda tagged: (-tagged.often.count, tagged.label)),
        by_biggest=sorted(
            (tagged for tagged in problems if tagged.biggest.count), key=lambda t: (-t.biggest.count, t.label)
        ),
    )


_COUNTS: dict[str, Q] = {
    "took_place": Q(never_started=False),
    "not_started": Q(never_started=True),
    "without_camera": Q(never_started=False, camera_used=False),
    **{f"{key}_{value}": Q(**{key: value}) for key in DIMENSION_KEYS for value in VALUES},
}


def _counts(rows: ResultQuerySet) -> Iterable[dict[str, Any]]:
    """Per script every count that the page needs."""
    return rows.order_by().values("script_id").annotate(**{name: Count("id", filter=q) for name, q in _COUNTS.items()})


def _line(filters: Filters, title: str, counts: Mapping[str, int]) -> Line:
    took_place = filters.but(started=True)
    return Line(
        slug=filters.script,
        title=title,
        took_place=Figure(counts["took_place"], took_place.query()),
        never_started=Figure(counts["not_started"], filters.but(started=False).query()),
        cells=tuple(_cell(took_place, dimension, counts) for dimension in taxonomy.DIMENSIONS),
    )


def _cell(filters: Filters, dimension: taxonomy.Dimension, counts: Mapping[str, int]) -> Cell:
    found = {value: counts[f"{dimension.key}_{value}"] for value in VALUES}
    without = counts["without_camera"] if dimension.key == "vision" else 0
    within = filters.but(dimension=dimension.key)
    return Cell(
        dimension,
        tuple(Figure(count, within.but(low=value, high=value).query()) for value, count in found.items()),
        Figure(sum(found.values()), within.but(low=1, high=5).query()),
        Figure(without, filters.but(camera_used=False).query()),
    )


def _problems(rows: ResultQuerySet, filters: Filters) -> list[Tagged]:
    """Every tag that was used. A problem whose place in the overall order is not known is nobody's biggest."""
    tags = Problem.objects.filter(result__in=rows.order_by().values("pk")).order_by().values("tag")
    counted = list(tags.annotate(often=Count("id"), biggest=Count("id", filter=Q(rank=1))))
    most = max((row["often"] for row in counted), default=0)
    return [
        Tagged(
            taxonomy.TAG_BY_KEY[row["tag"]].label,
            taxonomy.GROUP_OF_TAG[row["tag"]].name,
            Figure(row["often"], filters.but(problem=row["tag"]).query()),
            Figure(row["biggest"], filters.but(problem=row["tag"], is_biggest=True).query()),
            most,
        )
        for row in counted
    ]
