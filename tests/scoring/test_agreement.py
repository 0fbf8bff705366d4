"""Agreement between raters, held to published figures and to the package it comes from."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as of_numpy

from emma_eval.scoring.agreement import (
    Untold,
    alpha_of_counts,
    alphas_of_coincidences,
    coincidences,
    ordinal_alpha,
)

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C: four observers, twelve units.
PUBLISHED = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]


def units_of(table: list[str]) -> list[dict[int, int]]:
    rows = [row.split() for row in table]
    return [
        {rater: int(row[unit]) for rater, row in enumerate(rows) if row[unit] != "."} for unit in range(len(rows[0]))
    ]


def table_of(counts: list[list[int]]) -> np.ndarray:
    return np.array(counts, dtype=np.int64)


def test_the_published_example_has_its_published_alpha() -> None:
    found = ordinal_alpha(units_of(PUBLISHED))
    assert found.alpha == pytest.approx(0.815, abs=0.0005)
    assert (found.units, found.ratings) == (11, 40)  # the twelfth unit was rated by one alone


@pytest.mark.parametrize(
    ("counts", "alpha"),
    [
        ([[2, 0, 0, 0, 0], [0, 0, 0, 0, 2]], 1.0),
        ([[0, 3, 0, 0, 0], [0, 0, 0, 4, 0], [1, 0, 0, 0, 0]], 1.0),
        ([[1, 0, 0, 0, 1], [1, 0, 0, 0, 1]], -0.5),  # each pair disagrees: 1 - 3 / 2
    ],
)
def test_alpha_of_plain_cases(counts: list[list[int]], alpha: float) -> None:
    assert alpha_of_counts(table_of(counts)).alpha == pytest.approx(alpha)


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        ([], Untold.NO_PAIR),
        ([[1, 0, 0, 0, 0], [0, 0, 0, 0, 1]], Untold.NO_PAIR),
        ([[0, 0, 0, 4, 0], [0, 0, 0, 2, 0]], Untold.NO_VARIATION),
        ([[0, 0, 0, 4, 0], [1, 0, 0, 0, 0]], Untold.NO_VARIATION),  # the other rating stands alone
    ],
)
def test_what_cannot_be_told_says_why(counts: list[list[int]], why: Untold) -> None:
    found = alpha_of_counts(table_of(counts).reshape(-1, 5), np.random.default_rng(1))
    assert (found.alpha, found.low, found.high, found.why) == (None, None, None, why)


tables = of_numpy.arrays(np.int64, st.tuples(st.integers(1, 12), st.just(5)), elements=st.integers(0, 4))


@settings(max_examples=300, deadline=None)
@given(counts=tables)
def test_many_at_once_are_what_the_package_says_of_each(counts: np.ndarray) -> None:
    rated = counts[counts.sum(axis=1) >= 2]
    if np.count_nonzero(rated.sum(axis=0)) < 2:
        assert alpha_of_counts(counts).alpha is None
        return
    sums = coincidences(rated).reshape(len(rated), -1).sum(axis=0, keepdims=True)
    said = krippendorff.alpha(value_counts=rated, level_of_measurement="ordinal")
    assert alphas_of_coincidences(sums)[0] == pytest.approx(said)
    assert alpha_of_counts(counts).alpha == pytest.approx(said)
    assert said <= 1 + 1e-9


def raters(units: int, spread: int, rng: np.random.Generator, several: int = 3) -> np.ndarray:
    """Ratings around a unit's own, up to `spread` away, by several raters."""
    own, counts = rng.integers(1, 6, units), np.zeros((units, 5), dtype=np.int64)
    for _ in range(several):
        counts[np.arange(units), np.clip(own + rng.integers(-spread, spread + 1, units), 1, 5) - 1] += 1
    return counts


def test_the_interval_holds_alpha_and_is_the_same_for_the_same_chance() -> None:
    counts = raters(40, 1, np.random.default_rng(5))
    one, again = (alpha_of_counts(counts, np.random.default_rng(7)) for _ in range(2))
    assert one == again
    assert one.low is not None
    assert one.high is not None
    assert one.alpha is not None
    assert one.low < one.alpha < one.high


def test_fewer_units_have_a_wider_interval_and_too_few_have_none() -> None:
    rng = np.random.default_rng(11)
    counts, widths = raters(400, 2, rng), []
    for units in (400, 40, 10):
        found = alpha_of_counts(counts[:units], np.random.default_rng(3))
        assert found.low is not None
        assert found.high is not None
        widths.append(found.high - found.low)
    assert widths == sorted(widths)
    assert alpha_of_counts(counts[:4], rng).low is None


def test_nothing_is_said_where_most_resamples_tell_nothing() -> None:
    counts = table_of([[0, 0, 0, 2, 0]] * 40 + [[0, 0, 1, 1, 0]])  # a third of the resamples hold no other rating
    found = alpha_of_counts(counts, np.random.default_rng(2))
    assert found.alpha is not None
    assert (found.low, found.high) == (None, None)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(17)
    truth = alpha_of_counts(raters(50_000, 1, rng)).alpha
    assert truth is not None
    covered = 0
    for _ in range(150):
        found = alpha_of_counts(raters(40, 1, rng), rng)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= truth <= found.high
    assert covered >= 0.88 * 150  # a percentile interval of 40 units; 95 % of very many
