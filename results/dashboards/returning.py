"""Returning against first-time users: every dimension rated by both, and whether the data can tell them apart.

Compared within scripts, so that who runs which script makes no difference by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

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
_drawn = lru_cache(16)(dumbbell_figure)
ByScript = Mapping[tuple[str, bool], RatingCounts]


@dataclass(frozen=True)
class Said:
    """How the ratings of one dimension differ, in words. `is_compared`: there is a script that both rated."""

    dimension: taxonomy.Dimension
    words: str
    is_compared: bool


@dataclass(frozen=True)
class Returning:
    """`is_bare`: n is too small everywhere, so that the chart has nothing to draw."""

    chart: SafeString
    differences: tuple[Said, ...]
    is_bare: bool

    @property
    def compared(self) -> list[Said]:
        return [said for said in self.differences if said.is_compared]

    @property
    def not_compared(self) -> str:
        """The names of the dimensions in which no script was rated by both; empty if there is none."""
        return ", ".join(said.dimension.name for said in self.differences if not said.is_compared)


def compare_returning(counted: ByScript, rows: Rows) -> Returning:
    """`counted` is by script and by whether the user had met Emma before."""
    scripts = sorted({script for script, _ in counted})
    returning, first_time = (
        [counted.get((script, met_before), RatingCounts()) for script in scripts] for met_before in (True, False)
    )
    pairs, said = [], []
    for dimension in taxonomy.DIMENSIONS:
        key = dimension.key
        a, b = ([counts.counts[key] for counts in side] for side in (returning, first_time))
        difference = difference_of(list(zip(a, b, strict=True)))
        words = say_difference(difference, "first-time users", of="ratings")
        said.append(Said(dimension, words, is_compared=difference is not None))
        pairs.append(
            Pair(
                dimension.name,
                mean_reading(_sum(a), rows.href("returning=yes", RATED[key])),
                mean_reading(_sum(b), rows.href("returning=no", RATED[key])),
                said[-1].words,
            )
        )
    title = "Mean ratings of returning and of first-time users, as filed"
    is_bare = all(side.value is None for pair in pairs for side in (pair.first, pair.second))
    return Returning(_drawn(Dumbbell("returning", title, RETURNING, FIRST_TIME, tuple(pairs))), tuple(said), is_bare)


def _sum(counts: list[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*counts, strict=True)))
