"""Medians and rates over calls: held to scipy's binomial distribution, and to what they are worth in repeated draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from emma_eval.scoring.intervals import FEWEST, median_of, rate_of


@pytest.mark.parametrize("n", [6, 7, 10, 25, 60, 301, 999, 1000, 4001])
def test_the_interval_of_a_median_lies_between_the_values_that_the_binomial_asks_for(n: int) -> None:
    found = median_of(list(range(1, n + 1)))
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    outside = int(found.low)
    assert found.high == n + 1 - outside
    assert 2 * stats.binom.cdf(outside - 1, n, 0.5) <= 0.05
    assert 2 * stats.binom.cdf(outside + 1, n, 0.5) > 0.05


@pytest.mark.parametrize(("values", "median"), [([3], 3), ([1, 2], 1.5), ([9, 1, 5], 5), ([4, 1, 3, 2], 2.5)])
def test_of_few_there_is_a_median_without_an_interval(values: list[float], median: float) -> None:
    found = median_of(values)
    assert found is not None
    assert (found.median, found.low, found.high, found.n) == (median, None, None, len(values))
    assert found.is_too_small is (len(values) < FEWEST)


def test_there_is_neither_of_nothing() -> None:
    assert median_of([]) is None
    assert rate_of([]) is None
    assert rate_of([(0, 0)]) is None


def test_a_rate_is_of_all_together() -> None:
    found = rate_of([(1, 10), (5, 20)])
    assert found is not None
    assert found.mean == 0.2
    assert found.n == 2
    assert found.low == 0


def test_a_rate_of_one_or_of_equals_has_no_interval() -> None:
    for pairs in ([(2, 10)], [(2, 10), (4, 20)]):
        found = rate_of(pairs)
        assert found is not None
        assert (found.mean, found.low, found.high) == (0.2, None, None)


def test_intervals_hold_what_they_promise() -> None:
    rng = np.random.default_rng(1)
    holds_median = holds_rate = 0
    for _ in range(400):
        latencies = rng.lognormal(6, 0.5, 25)
        found = median_of(latencies.tolist())
        assert found is not None
        holds_median += (found.low or 0) <= np.exp(6) <= (found.high or 0)
        minutes = rng.uniform(5, 30, 25)
        rate = rate_of(list(zip(rng.poisson(minutes * 0.3).tolist(), minutes.tolist(), strict=True)))
        assert rate is not None
        holds_rate += (rate.low or 0) <= 0.3 <= (rate.high or 0)
    assert holds_median / 400 >= 0.92
    assert holds_rate / 400 >= 0.91
