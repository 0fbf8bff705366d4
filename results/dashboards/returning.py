"""Returning against first-time users: every dimension rated by both, and whether the data can tell them apart.

Compared within scripts, so that who runs which script makes no difference by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from django.utils.safestring import SafeString

from emma_eval.scoring.intervals import difference_of
from scripts_catalog import taxonomy

from ..charts.dumbbell import Dumbbell, Pair, dumbbell_figure
from ..counts.read_counts import RatingCounts
from .asked import Rows
from .differences import say_difference
from .dimensions import RATED
from .readings import mean_reading

RETURNING, FIRST_TIME = "Returning users", "First-time users"
ByScript = Mapping[tuple[str, bool], RatingCounts]


def compare_returning(counted: ByScript, rows: Rows) -> SafeString:
    """`counted` is by script and by whether the user had met Emma before. Nothing where there are no runs."""
    sides: dict[bool, list[RatingCounts]] = defaultdict(list)
    for script in sorted({script for script, _ in counted}):
        for met_before in (True, False):
            sides[met_before].append(counted.get((script, met_before), RatingCounts()))
    pairs = tuple(_pair(dimension, sides[True], sides[False], rows) for dimension in taxonomy.DIMENSIONS)
    title = "Mean ratings of returning and of first-time users, as filed"
    return dumbbell_figure(Dumbbell("returning", title, RETURNING, FIRST_TIME, pairs))


def _pair(
    dimension: taxonomy.Dimension, returning: list[RatingCounts], first_time: list[RatingCounts], rows: Rows
) -> Pair:
    key = dimension.key
    a, b = ([counts.counts[key] for counts in side] for side in (returning, first_time))
    return Pair(
        dimension.name,
        mean_reading(_sum(a), rows.href("returning=yes", RATED[key])),
        mean_reading(_sum(b), rows.href("returning=no", RATED[key])),
        say_difference(difference_of(list(zip(a, b, strict=True))), "first-time users", of="ratings"),
    )


def _sum(counts: list[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*counts, strict=True)))
