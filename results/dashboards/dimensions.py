"""How the six dimensions were rated: each rating's count, their mean with its interval, N/A apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from django.utils.safestring import SafeString

from scripts_catalog import taxonomy

from ..charts.bars import Bar, stacked_bars
from ..charts.svg import RATINGS, Reading
from ..counts.read_counts import RatingCounts
from ..models import RATINGS as VALUES
from .asked import Figure, Rows
from .readings import mean_reading

RATED = {dimension.key: f"dimension={dimension.key}&low=1&high=5" for dimension in taxonomy.DIMENSIONS}
NOT_APPLICABLE = "started=yes&camera=no"
VISION = taxonomy.DIMENSIONS[-1].key
_drawn = lru_cache(64)(stacked_bars)


@dataclass(frozen=True)
class Cell:
    """How one dimension was rated. `rows` are those of the line that it stands in."""

    dimension: taxonomy.Dimension
    counts: tuple[int, ...]
    without_camera: int
    rows: Rows

    @cached_property
    def reading(self) -> Reading:
        return mean_reading(self.counts, self.rows.href(RATED[self.dimension.key]))

    @property
    def mean(self) -> float | None:
        """None where there are too few ratings for a mean to say anything."""
        return self.reading.value

    @property
    def shown(self) -> str:
        return "" if self.mean is None else RATINGS.say(self.mean)

    @property
    def interval(self) -> str:
        return RATINGS.say_interval(self.reading)

    @property
    def rated(self) -> Figure:
        return Figure(sum(self.counts), self.rows.href(RATED[self.dimension.key]))

    @property
    def values(self) -> list[Figure]:
        return [
            Figure(count, self.rows.href(f"dimension={self.dimension.key}&low={value}&high={value}"))
            for value, count in zip(VALUES, self.counts, strict=True)
        ]

    @property
    def has_not_applicable(self) -> bool:
        return self.dimension.key == VISION

    @property
    def not_applicable(self) -> Figure:
        return Figure(self.without_camera if self.has_not_applicable else 0, self.rows.href(NOT_APPLICABLE))

    @property
    def is_not_applicable(self) -> bool:
        """Whether every run was without the camera, so that there was nothing to rate."""
        return not self.rated.count and self.not_applicable.count > 0

    @property
    def bar(self) -> Bar:
        without = self.not_applicable.count
        figures = f"{self.shown} · " if self.shown else ""
        na = f" · N/A {without}" if without else ""
        return Bar(self.dimension.name, self.counts, f"{figures}n {sum(self.counts)}{na}")


def cells_of(counts: RatingCounts, rows: Rows) -> tuple[Cell, ...]:
    return tuple(
        Cell(dimension, counts.counts[dimension.key], counts.without_camera, rows) for dimension in taxonomy.DIMENSIONS
    )


@dataclass(frozen=True)
class Line:
    """One script, or all of them together: its runs, calls that never started, and the six dimensions."""

    slug: str
    title: str
    counts: RatingCounts
    rows: Rows

    @cached_property
    def took_place(self) -> Figure:
        return Figure(self.counts.runs, self.rows.href("started=yes"))

    @cached_property
    def never_started(self) -> Figure:
        return Figure(self.counts.never_started, self.rows.href("started=no"))

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        return cells_of(self.counts, self.rows)

    def cell(self, key: str) -> Cell:
        """The cell of the dimension with this key."""
        return next(cell for cell in self.cells if cell.dimension.key == key)

    @property
    def chart(self) -> SafeString:
        title = "How often each rating was given, by dimension, as filed"
        return _drawn("ratings", title, tuple(cell.bar for cell in self.cells))
