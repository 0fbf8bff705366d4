"""How far raters agree: Krippendorff's alpha of ordinal ratings, by the `krippendorff` package.

A unit is what several raters rated. Imports numpy and krippendorff: for tasks, never for a process that serves pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import krippendorff
import numpy as np
from numpy.typing import NDArray

from .bootstrap import bootstrap_sums
from .intervals import FEWEST, NO_INTERVAL, Interval

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_UNTOLD = 0.05


class Untold(StrEnum):
    """Why there is no alpha."""

    NO_PAIR = "no pair"  # no unit was rated by two
    NO_VARIATION = "no variation"  # all ratings are the same, so agreement can't be told from habit


@dataclass(frozen=True)
class Alpha:
    """1: raters agree; 0: no more than by chance; under 0: less. None where it can't be told, `why` says why.

    `units` and `ratings` are those that were compared: of units that two or more rated. The interval is None under
    `FEWEST` units, and where resamples of them mostly tell nothing.
    """

    alpha: float | None
    low: float | None
    high: float | None
    units: int
    ratings: int
    why: Untold | None = None


def ordinal_alpha(
    units: Sequence[Mapping[Any, int]], rng: np.random.Generator | None = None, *, highest: int = 5
) -> Alpha:
    """Alpha of whole ratings from 1 to `highest`. `units`: for each unit the rating of each of its raters.

    Krippendorff, "Content Analysis" (2004), section 11.3, with the ordinal metric. With `rng` it gets a bootstrap
    interval, too.
    """
    counts = np.zeros((len(units), highest), dtype=np.int64)
    for row, unit in enumerate(units):
        for rating in unit.values():
            counts[row, rating - 1] += 1
    return alpha_of_counts(counts, rng)


def alpha_of_counts(counts: Counts, rng: np.random.Generator | None = None) -> Alpha:
    """The same of a table: for each unit (row) how often each rating (column, from the lowest) was given."""
    rated = counts[counts.sum(axis=1) >= 2]
    units, ratings = len(rated), int(rated.sum())
    if not units:
        return Alpha(None, None, None, 0, 0, Untold.NO_PAIR)
    if np.count_nonzero(rated.sum(axis=0)) < 2:
        return Alpha(None, None, None, units, ratings, Untold.NO_VARIATION)
    alpha = float(krippendorff.alpha(value_counts=rated, level_of_measurement="ordinal"))
    return Alpha(alpha, *(_interval(rated, rng) if rng is not None else NO_INTERVAL), units, ratings)


def _interval(counts: Counts, rng: np.random.Generator) -> Interval:
    """Percentiles of alpha over resamples of the units, 95 %.

    A resample without variation has no alpha and is left out; where many have none, nothing can be said.
    """
    if len(counts) < FEWEST:
        return NO_INTERVAL
    resampled = bootstrap_sums(coincidences(counts).reshape(len(counts), -1), alphas_of_coincidences, rng)
    told = resampled.distribution[np.isfinite(resampled.distribution)]
    if len(told) < (1 - MOST_UNTOLD) * len(resampled.distribution):
        return NO_INTERVAL
    if len(told) == len(resampled.distribution):
        return resampled.low, resampled.high
    low, high = np.percentile(told, (2.5, 97.5))
    return float(low), float(high)


def coincidences(counts: Counts) -> Floats:
    """Each unit's part of the coincidence matrix, (units, ratings, ratings): its pairs, over its raters less 1."""
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1], dtype=np.int64)
    return np.asarray(pairs / (counts.sum(axis=1) - 1)[:, None, None], dtype=np.float64)


def alphas_of_coincidences(sums: Floats) -> Floats:
    """Ordinal alpha of each of many coincidence matrices, given flat as rows; nan where ratings don't vary.

    The formula of `krippendorff.alpha` for all rows at once: a thousand resamples one by one take a hundred times
    as long. The tests hold the two equal.
    """
    width = round(sums.shape[1] ** 0.5)
    observed = sums.reshape(-1, width, width)
    given = observed.sum(axis=2)
    middle = given.cumsum(axis=1) - given / 2
    distance = (middle[:, :, None] - middle[:, None, :]) ** 2
    expected = (given[:, :, None] * given[:, None, :] * distance).sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = (given.sum(axis=1) - 1) * (observed * distance).sum(axis=(1, 2)) / expected
    return np.asarray(1 - ratio, dtype=np.float64)
