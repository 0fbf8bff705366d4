"""The dashboard of all scripts: the six dimensions over all of them and by script, trends, problems, who had met Emma.

From the kept months wherever no days are asked for, so that its time hardly grows with the number of results; the
number of queries does not depend on anything. Every figure carries the address of the rows that it counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from django.utils.safestring import SafeString

from ..counts.read_counts import RatingCounts
from .agreed import Agreeing, read_agreeing
from .asked import Asked, LineSort, Rows
from .cells import Ranking, cells_of_line, ranking_of, rows_of_dimensions
from .counting import Counting
from .dimensions import Cell, Line
from .known import Known, KnownScript
from .problems import Problems, rank_problems
from .returning import ByScript, Returning, compare_returning
from .trends import Trends, trends_of


@dataclass(frozen=True)
class Lowest:
    """The lowest mean of all scripts and dimensions. `as_low`: how many others are just as low."""

    line: Line
    cell: Cell
    as_low: int


@dataclass(frozen=True)
class Covered:
    """How many of the scripts in use were run at all."""

    run: int
    in_use: int

    @property
    def not_run(self) -> int:
        return self.in_use - self.run


@dataclass(frozen=True)
class Dashboard:
    lines: list[Line]
    total: Line
    trends: Trends
    problems: Problems
    returning: Returning
    covered: Covered
    agreeing: Agreeing

    @cached_property
    def lowest(self) -> Lowest | None:
        """None where n is too small everywhere. Of several that are as low, the one with the most ratings."""
        named = [(cell.mean, line, cell) for line in self.lines for cell in line.cells if cell.mean is not None]
        if not named:
            return None
        mean, line, cell = min(named, key=lambda entry: (entry[0], -entry[2].rated.count, entry[1].title))
        return Lowest(line, cell, sum(entry[0] == mean for entry in named) - 1)

    @property
    def cells_of_lines(self) -> list[tuple[Line, SafeString]]:
        return [(line, cells_of_line(line)) for line in self.lines]

    @property
    def cells_of_total(self) -> SafeString:
        return cells_of_line(self.total)

    @property
    def dimensions(self) -> SafeString:
        return rows_of_dimensions(self.total)

    @property
    def by_count(self) -> Ranking:
        return ranking_of(self.problems.by_count, names_script=True)

    @property
    def by_biggest(self) -> Ranking:
        return ranking_of(self.problems.by_biggest, names_script=True)


def build_dashboard(counting: Counting, asked: Asked, known: Known) -> Dashboard:
    """All figures of the page."""
    counted = counting.ratings("script", "met_emma_before")
    rows = Rows.of(counting.filters)
    lines = _lines(counted, known, rows)
    total = sum((line.counts for line in lines), RatingCounts())
    return Dashboard(
        lines=arrange(lines, asked.sort),
        total=Line("", "All scripts", total, rows),
        trends=trends_of(counting, asked.over, known),
        problems=rank_problems(counting, asked.source, total),
        returning=compare_returning(counted, rows),
        covered=_covered(lines, known, counting.filters.area),
        agreeing=read_agreeing(counting.user, counting.filters),
    )


def _lines(counted: ByScript, known: Known, rows: Rows) -> list[Line]:
    """The scripts that have results, by title."""
    found = []
    for script in known.scripts:
        sides = [counted[key] for key in ((script.slug, True), (script.slug, False)) if key in counted]
        if sides:
            counts = sides[0] if len(sides) == 1 else sides[0] + sides[1]
            found.append(Line(script.slug, script.title, counts, rows.within(f"script={script.slug}")))
    return found


def _covered(lines: list[Line], known: Known, area: str) -> Covered:
    in_use = {script.slug for script in known.scripts if _is_in_use(script, area)}
    return Covered(sum(line.slug in in_use and line.counts.runs > 0 for line in lines), len(in_use))


def _is_in_use(script: KnownScript, area: str) -> bool:
    return script.retired_at is None and area in ("", script.area)


def arrange(lines: list[Line], sort: LineSort) -> list[Line]:
    """The lines, given by title, in this order. Those without a mean come last, whichever way it is sorted."""
    if sort.key == "script":
        return lines[::-1] if sort.is_descending else lines
    if sort.key == "runs":
        return sorted(lines, key=lambda line: line.counts.runs, reverse=sort.is_descending)
    with_mean = [line for line in lines if line.cell(sort.key).mean is not None]
    without = [line for line in lines if line.cell(sort.key).mean is None]
    return sorted(with_mean, key=lambda line: line.cell(sort.key).mean or 0, reverse=sort.is_descending) + without
