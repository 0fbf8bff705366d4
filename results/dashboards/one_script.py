"""The dashboard of one script."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count
from django.utils.safestring import SafeString

from ..counts.read_counts import RatingCounts
from .agreed import Agreeing, read_agreeing
from .asked import Asked, Rows
from .cells import Ranking, ranking_of, rows_of_dimensions
from .counting import Counting
from .dimensions import Line
from .known import Known
from .problems import Problems, rank_problems
from .returning import Returning, compare_returning
from .trends import Trends, trends_of


@dataclass(frozen=True)
class ScriptDashboard:
    """`people`: how many ran the script, of the calls that took place."""

    total: Line
    people: int
    trends: Trends
    problems: Problems
    returning: Returning
    agreeing: Agreeing

    @property
    def dimensions(self) -> SafeString:
        return rows_of_dimensions(self.total)

    @property
    def by_count(self) -> Ranking:
        return ranking_of(self.problems.by_count, names_script=False)

    @property
    def by_biggest(self) -> Ranking:
        return ranking_of(self.problems.by_biggest, names_script=False)


def build_script_dashboard(counting: Counting, asked: Asked, known: Known, title: str) -> ScriptDashboard:
    """All figures of the page; the number of queries does not depend on the number of results."""
    counted, slug = counting.ratings("met_emma_before"), counting.filters.script
    rows = Rows.of(counting.filters)
    total = sum(counted.values(), RatingCounts())
    by_script = {(slug, met_before): counts for (met_before,), counts in counted.items()}
    return ScriptDashboard(
        total=Line("", title, total, rows),
        people=_people(counting) if total.runs else 0,
        trends=trends_of(counting, asked.over, known),
        problems=rank_problems(counting, asked.source),
        returning=compare_returning(by_script, rows),
        agreeing=read_agreeing(counting.user, counting.filters),
    )


def _people(counting: Counting) -> int:
    found = counting.rows.filter(never_started=False).order_by().aggregate(people=Count("tester", distinct=True))
    return int(found["people"])
