"""The dashboard of one script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef
from django.utils.safestring import SafeString

from emma_eval.accounts.models import User
from scripts_catalog.models import sort_key_of

from ..counts.read_counts import Key, RatingCounts
from .agreed import Agreeing, read_agreeing
from .asked import Asked, Rows
from .cells import Ranking, ranking_of, rows_of_dimensions
from .counting import MET_BEFORE, Counting
from .dimensions import Line
from .known import Known
from .problems import Problems, rank_problems
from .returning import Returning, compare_returning
from .trends import Trends, trends_of

MANY_RUNS = 2_000


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
    every_build = counting.of_every_build.ratings("build", MET_BEFORE)
    chosen, slug = sort_key_of(counting.filters.build), counting.filters.script
    counted = {key: counts for key, counts in every_build.items() if chosen in ("", key[0])}
    rows = Rows.of(counting.filters)
    by_met_before = _folded(counted, 1)
    total = sum(by_met_before.values(), RatingCounts())
    return ScriptDashboard(
        total=Line("", title, total, rows),
        people=_people(counting, total.runs),
        trends=trends_of(counting, asked.over, known, _folded(every_build, 0)),
        problems=rank_problems(counting, asked.source, total),
        returning=compare_returning({(slug, met): side for met, side in by_met_before.items()}, rows),
        agreeing=read_agreeing(counting.user, counting.filters),
    )


def _folded(counted: Mapping[Key, RatingCounts], place: int) -> dict[Any, RatingCounts]:
    """By one part of the key alone."""
    found: dict[Any, RatingCounts] = {}
    for key, counts in counted.items():
        found[key[place]] = found[key[place]] + counts if key[place] in found else counts
    return found


def _people(counting: Counting, runs: int) -> int:
    """How many ran it. Of many runs it is quicker to look for one of each person than to look at every run.

    Counted in one step, which every database answers off the index that has all of it.
    """
    ran = counting.rows.filter(never_started=False)
    if runs < MANY_RUNS:
        return int(ran.order_by().aggregate(people=Count("tester", distinct=True))["people"])
    return User.objects.filter(Exists(ran.filter(tester=OuterRef("pk")))).count()
