"""How far a figure would move if other units had been drawn: `scipy.stats.bootstrap` over units.

Imports scipy.stats: for tasks, never for a process that serves pages. Chance is handed in.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .intervals import CONFIDENCE

RESAMPLES = 1_000
AT_ONCE = 250  # resamples held in memory

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Resampled:
    """The figure of every resample, and the interval between their outer percentiles (nan if a resample has none)."""

    distribution: Floats
    low: float
    high: float


def bootstrap_sums(units: Floats, statistic: Callable[[Floats], Floats], rng: np.random.Generator) -> Resampled:
    """Resample the rows of `units` (units, numbers) with replacement, for a figure that depends on their sums alone.

    `statistic` takes the sums of many resamples (resamples, numbers) and gives the figure of each. Percentile
    interval: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13.
    """

    def of_indices(indices: NDArray[np.int64], axis: int = -1) -> Floats:
        drawn = np.atleast_2d(np.moveaxis(indices, axis, -1))
        times = np.stack([np.bincount(row, minlength=len(units)) for row in drawn])
        found = statistic(times @ units)
        return found if indices.ndim > 1 else found[0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)  # a resample without a figure: nan says it
        found = stats.bootstrap(
            (np.arange(len(units)),),
            of_indices,
            vectorized=True,
            n_resamples=RESAMPLES,
            batch=AT_ONCE,
            confidence_level=CONFIDENCE,
            method="percentile",
            rng=rng,
        )
    low, high = found.confidence_interval
    return Resampled(np.asarray(found.bootstrap_distribution), float(low), float(high))
