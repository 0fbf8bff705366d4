"""Means, shares and differences: held to scipy's own figures and published ones, and to what intervals must do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from emma_eval.scoring.intervals import (
    FEWEST,
    Difference,
    difference_of,
    difference_of_shares,
    mean_of,
    mean_of_counts,
    share_of,
)

counts = st.lists(st.integers(0, 30), min_size=5, max_size=5).map(tuple)


def values(given: Sequence[int]) -> np.ndarray:
    return np.repeat(np.arange(1, len(given) + 1), given)


# --- means ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given", [(1, 2, 3, 4, 0), (0, 0, 1, 12, 9), (3, 0, 0, 0, 3), (0, 1, 1, 0, 0), (90, 3, 8, 1, 0)]
)
def test_a_mean_has_the_t_interval_of_scipy(given: tuple[int, ...]) -> None:
    found, said = mean_of_counts(given), values(given)
    low, high = stats.t.interval(0.95, len(said) - 1, said.mean(), stats.sem(said))
    assert found is not None
    assert (found.mean, found.n) == (pytest.approx(said.mean()), len(said))
    assert (found.low, found.high) == (pytest.approx(max(low, 1)), pytest.approx(min(high, len(given))))
    of_values = mean_of([float(value) for value in said])
    assert of_values is not None
    assert (of_values.low, of_values.high) == (pytest.approx(low), pytest.approx(high))


def test_no_ratings_have_no_mean() -> None:
    assert mean_of_counts((0, 0, 0, 0, 0)) is None
    assert mean_of([]) is None


@pytest.mark.parametrize("given", [(0, 0, 0, 1, 0), (0, 0, 0, 9, 0)])
def test_one_rating_and_ratings_that_are_all_the_same_have_no_interval(given: tuple[int, ...]) -> None:
    for found in (mean_of_counts(given), mean_of([4.0] * sum(given))):
        assert found is not None
        assert (found.mean, found.low, found.high) == (4.0, None, None)


def test_values_with_a_remainder_that_are_all_the_same_have_none_either() -> None:
    found = mean_of([0.1] * 3)
    assert found is not None
    assert (found.low, found.high) == (None, None)


def test_an_interval_of_ratings_stays_on_the_scale() -> None:
    found = mean_of_counts((0, 0, 0, 1, 3))
    assert found is not None
    assert found.high == 5


@given(given=counts)
def test_a_mean_lies_in_its_interval_and_more_of_the_same_is_told_closer(given: tuple[int, ...]) -> None:
    assume(np.count_nonzero(given) > 1)
    found, twice = mean_of_counts(given), mean_of_counts([2 * count for count in given])
    assert found is not None
    assert twice is not None
    assert found.low is not None
    assert found.high is not None
    assert twice.low is not None
    assert twice.high is not None
    assert 1 <= found.low <= found.mean <= found.high <= 5
    assert twice.high - twice.low <= found.high - found.low


@given(given=counts)
def test_turned_round_a_scale_gives_the_interval_turned_round(given: tuple[int, ...]) -> None:
    found, turned = mean_of_counts(given), mean_of_counts(given[::-1])
    if found is None or found.low is None or found.high is None:
        assert turned is None or turned.low is None
        return
    assert turned is not None
    assert (turned.low, turned.high) == (pytest.approx(6 - found.high), pytest.approx(6 - found.low))


def test_the_interval_of_a_mean_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    chances = np.array([0.05, 0.15, 0.3, 0.35, 0.15])
    truth = float((np.arange(1, 6) * chances).sum())
    drawn = [mean_of_counts([int(count) for count in rng.multinomial(20, chances)]) for _ in range(2_000)]
    covered = sum(one is not None and one.low is not None and one.low <= truth <= (one.high or 0) for one in drawn)
    assert 0.93 <= covered / 2_000 <= 0.97


# --- shares ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("part", "whole"), [(0, 1), (1, 1), (0, 20), (20, 20), (3, 10), (81, 263), (15, 148), (1, 29)])
def test_a_share_has_the_wilson_interval_of_scipy(part: int, whole: int) -> None:
    found = share_of(part, whole)
    said = stats.binomtest(part, whole).proportion_ci(method="wilson")
    assert found is not None
    assert (found.low, found.high) == (pytest.approx(said.low), pytest.approx(said.high))
    assert (found.share, found.part, found.n) == (part / whole, part, whole)


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    # Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I, method 3
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_published_shares_have_their_published_intervals(part: int, whole: int, low: float, high: float) -> None:
    found = share_of(part, whole)
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_a_share_of_nothing_is_none() -> None:
    assert share_of(0, 0) is None


@given(whole=st.integers(1, 500), data=st.data())
def test_a_share_lies_in_its_interval_and_turned_round_it_is_turned_round(whole: int, data: st.DataObject) -> None:
    part = data.draw(st.integers(0, whole))
    found, other, twice = share_of(part, whole), share_of(whole - part, whole), share_of(2 * part, 2 * whole)
    assert found is not None
    assert other is not None
    assert twice is not None
    assert 0 <= found.low <= found.share <= found.high <= 1
    assert (other.low, other.high) == (pytest.approx(1 - found.high), pytest.approx(1 - found.low))
    assert twice.high - twice.low < found.high - found.low


# --- differences ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"),
    [((1, 2, 3, 4, 0), (0, 1, 2, 4, 8)), ((0, 0, 5, 30, 12), (0, 3, 9, 20, 2)), ((1, 0, 0, 0, 1), (0, 4, 9, 0, 0))],
)
def test_with_one_pair_a_difference_has_the_interval_of_welch(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    found = difference_of([(a, b)])
    said = stats.ttest_ind(values(a), values(b), equal_var=False).confidence_interval()
    assert found is not None
    assert found.difference == pytest.approx(values(a).mean() - values(b).mean())
    assert (found.low, found.high) == (pytest.approx(max(said.low, -4)), pytest.approx(min(said.high, 4)))
    assert (found.n_a, found.n_b, found.strata) == (sum(a), sum(b), 1)


def test_scripts_are_compared_with_themselves() -> None:
    """Build a ran the hard script more often: all together it looks worse, script by script it is better."""
    easy, hard = ((0, 0, 0, 2, 4), (0, 0, 0, 16, 24)), ((4, 20, 16, 0, 0), (3, 3, 0, 0, 0))
    together = [tuple(map(sum, zip(*side, strict=True))) for side in zip(easy, hard, strict=True)]
    mixed, paired = difference_of([(together[0], together[1])]), difference_of([easy, hard])
    assert mixed is not None
    assert paired is not None
    assert mixed.difference < 0 < paired.difference
    assert (paired.n_a, paired.n_b, paired.strata) == (46, 46, 2)


def test_a_script_that_one_build_did_not_run_is_left_out() -> None:
    both, alone = ((1, 2, 3, 4, 0), (0, 1, 2, 4, 8)), ((0, 0, 0, 0, 40), (0, 0, 0, 0, 0))
    assert difference_of([both, alone]) == difference_of([both])
    assert difference_of([alone]) is None
    assert difference_of([]) is None


SINGLE = {rating: tuple(int(rating == each) for each in range(1, 6)) for rating in range(1, 6)}


def test_scripts_that_were_run_once_on_each_build_have_the_paired_interval_of_scipy() -> None:
    a, b = [5, 4, 5, 3, 4, 5, 5], [3, 4, 3, 3, 2, 4, 4]
    found = difference_of([(SINGLE[one], SINGLE[other]) for one, other in zip(a, b, strict=True)])
    said = stats.ttest_rel(a, b).confidence_interval()
    assert found is not None
    assert found.difference == pytest.approx(np.mean(a) - np.mean(b))
    assert (found.low, found.high) == (pytest.approx(said.low), pytest.approx(said.high))
    assert (found.n_a, found.n_b, found.strata, found.is_between) == (7, 7, 7, True)
    assert found.shows_difference


def test_pairs_of_unlike_weight_have_the_interval_of_weighted_least_squares() -> None:
    """Which is that of Hartung and Knapp: worked out here as scipy would fit a constant with these weights."""
    pairs = [((0, 1, 0, 1, 0), SINGLE[1]), *((SINGLE[a], SINGLE[b]) for a, b in ((5, 2), (4, 4), (3, 2), (5, 3)))]
    found = difference_of(pairs)
    weights = np.array([2 / 3, 0.5, 0.5, 0.5, 0.5])
    differences = np.array([2, 3, 0, 1, 2])
    mean = np.average(differences, weights=weights)
    error = np.sqrt((weights * (differences - mean) ** 2).sum() / weights.sum() / 4)
    low, high = stats.t.interval(0.95, 4, mean, error)
    assert found is not None
    assert (found.difference, found.low, found.high) == (
        pytest.approx(mean),
        pytest.approx(low),
        pytest.approx(min(high, 4)),
    )


@pytest.mark.parametrize(
    "pairs",
    [
        [(SINGLE[4], SINGLE[3])] * 6,  # every script differs by the same
        [((0, 0, 0, 0, 30), (0, 0, 0, 30, 0))],  # one script, all alike
        [((0, 0, 0, 0, 3), (0, 0, 0, 3, 0)), ((0, 0, 0, 3, 0), (0, 3, 0, 0, 0))],  # too few scripts to go by them
    ],
)
def test_where_nothing_varies_there_is_no_interval(pairs: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
    found = difference_of(pairs)
    assert found is not None
    assert (found.low, found.high, found.shows_difference) == (None, None, False)


def test_what_varies_within_scripts_is_gone_by_where_it_tells_more() -> None:
    """Six scripts have five degrees of freedom between them: with as many within them on both sides, those count."""
    twice = ((0, 0, 0, 1, 1), (0, 0, 1, 1, 0))
    few = difference_of([twice] * 4 + [(SINGLE[5], SINGLE[3]), (SINGLE[4], SINGLE[4])])
    enough = difference_of([twice] * 5 + [(SINGLE[5], SINGLE[3])])
    assert few is not None
    assert enough is not None
    assert (few.is_between, enough.is_between) == (True, False)


def test_where_all_runs_of_a_script_are_alike_the_scripts_still_tell_something() -> None:
    found = difference_of([((0, 0, 0, 0, 8), (0, 0, 0, 8, 0))] * 4 + [((0, 0, 0, 8, 0), (0, 8, 0, 0, 0))] * 3)
    assert found is not None
    assert found.is_between
    assert found.shows_difference


@pytest.mark.parametrize(
    ("most", "scatter", "least", "at_most"),
    [(1, 0.0, 0.93, 0.97), (1, 0.1, 0.93, 0.97), (2, 0.0, 0.93, 0.97), (2, 0.1, 0.93, 0.97)],
    ids=["once", "once, scripts drawn", "once or twice", "once or twice, scripts drawn"],
)
def test_of_scripts_run_once_or_twice_the_interval_covers_the_truth_as_often_as_it_says(
    most: int, scatter: float, least: float, at_most: float
) -> None:
    """Seventeen unlike scripts. With `scatter`, build a is better by more in some scripts than in others."""
    rng = np.random.default_rng(31)
    covered = 0
    for _ in range(1_500):
        pairs = []
        for hard in rng.uniform(0.25, 0.6, 17):
            better = hard + 0.35 / 4 + rng.normal(0, scatter)
            n, m = rng.integers(1, most + 1, 2)
            pairs.append((_drawn(rng, min(max(better, 0), 1), n), _drawn(rng, hard, m)))
        found = difference_of(pairs)
        assert found is not None
        assert found.is_between
        covered += found.low is not None and found.low <= 0.35 <= (found.high or 0)
    assert least <= covered / 1_500 <= at_most


def test_of_these_scripts_alone_an_interval_from_their_differences_is_rather_too_wide() -> None:
    """What each script differs by is fixed here: the truth is their mean, which is held at least as often as said."""
    rng = np.random.default_rng(37)
    hard = rng.uniform(0.25, 0.6, 17)
    better = hard + rng.normal(0.09, 0.1, 17)
    truth, covered = 4 * float(np.mean(better - hard)), 0
    for _ in range(1_500):
        found = difference_of([(_drawn(rng, p, 1), _drawn(rng, q, 1)) for p, q in zip(better, hard, strict=True)])
        assert found is not None
        covered += found.low is not None and found.low <= truth <= (found.high or 0)
    assert covered / 1_500 >= 0.94


def _drawn(rng: np.random.Generator, chance: float, n: int) -> tuple[int, ...]:
    return tuple(int(count) for count in np.bincount(rng.binomial(4, chance, n), minlength=5))


def test_ratings_that_are_all_the_same_show_no_difference() -> None:
    found = difference_of([((0, 0, 0, 0, 30), (0, 0, 0, 30, 0))])
    assert found is not None
    assert (found.difference, found.low, found.high, found.shows_difference) == (1.0, None, None, False)


@pytest.mark.parametrize(
    ("low", "high", "n", "shows"),
    [(0.1, 0.5, 20, True), (-0.5, -0.1, 20, True), (-0.1, 0.5, 20, False), (0.0, 0.5, 20, False), (0.1, 0.5, 4, False)],
)
def test_a_difference_is_shown_where_0_is_outside_and_n_is_enough(low: float, high: float, n: int, shows: bool) -> None:
    assert Difference((low + high) / 2, low, high, n, 50, 3).shows_difference is shows
    assert FEWEST == 5


@given(pairs=st.lists(st.tuples(counts, counts), min_size=1, max_size=6))
def test_a_difference_lies_in_its_interval_and_turned_round_it_is_turned_round(
    pairs: list[tuple[tuple[int, ...], tuple[int, ...]]],
) -> None:
    found, turned = difference_of(pairs), difference_of([(b, a) for a, b in pairs])
    if found is None or found.low is None or found.high is None:
        assert turned is None or turned.low is None
        return
    assert turned is not None
    assert found.low <= found.difference <= found.high
    assert (turned.low, turned.high) == (pytest.approx(-found.high), pytest.approx(-found.low))


def test_the_interval_of_a_difference_covers_the_truth_as_often_as_it_says() -> None:
    """Twelve scripts of unlike hardness, unlike spread and few runs each; build a is 0.35 better in each."""
    rng = np.random.default_rng(23)
    hard = rng.uniform(0.2, 0.7, 12)
    sizes = rng.integers(1, 7, (12, 2))

    def drawn(chance: float, n: int) -> list[int]:
        return [int(count) for count in np.bincount(rng.binomial(4, chance, n), minlength=5)]

    covered = 0
    for _ in range(1_500):
        found = difference_of([(drawn(p + 0.35 / 4, n), drawn(p, m)) for p, (n, m) in zip(hard, sizes, strict=True)])
        assert found is not None
        covered += found.low is not None and found.low <= 0.35 <= (found.high or 0)
    assert 0.93 <= covered / 1_500 <= 0.97


@pytest.mark.parametrize(
    ("a", "b", "low", "high"),
    # Newcombe, "Interval estimation for the difference between independent proportions" (1998), table II, method 10
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_published_differences_of_shares_have_their_published_intervals(
    a: tuple[int, int], b: tuple[int, int], low: float, high: float
) -> None:
    found = difference_of_shares([(a, b)])
    assert found is not None
    assert (round(found.low or 0, 4), round(found.high or 0, 4)) == (low, high)


def test_shares_are_compared_within_scripts_too() -> None:
    found = difference_of_shares([((5, 10), (3, 10)), ((1, 40), (1, 20)), ((7, 7), (0, 0))])
    assert found is not None
    weights = [5.0, 40 * 20 / 60]
    assert found.difference == pytest.approx((5 * 0.2 + weights[1] * (0.025 - 0.05)) / sum(weights))
    assert (found.n_a, found.n_b, found.strata) == (50, 30, 2)
    assert difference_of_shares([((7, 7), (0, 0))]) is None


def test_the_interval_of_a_difference_of_shares_covers_the_truth_at_least_as_often_as_it_says() -> None:
    rng = np.random.default_rng(29)
    hard, sizes, covered = rng.uniform(0.02, 0.5, 12), rng.integers(1, 9, (12, 2)), 0
    for _ in range(1_500):
        pairs = [
            ((int(rng.binomial(n, p + 0.2)), int(n)), (int(rng.binomial(m, p)), int(m)))
            for p, (n, m) in zip(hard, sizes, strict=True)
        ]
        found = difference_of_shares(pairs)
        assert found is not None
        covered += (found.low or 0) <= 0.2 <= (found.high or 0)
    assert 0.935 <= covered / 1_500 <= 0.995


@settings(max_examples=50)
@given(confidence=st.floats(0.95, 0.999))
def test_more_confidence_asks_for_a_wider_interval(confidence: float) -> None:
    pair = ((1, 2, 3, 4, 0), (0, 1, 2, 4, 8))
    usual, more = difference_of([pair]), difference_of([pair], confidence=confidence)
    assert usual is not None
    assert more is not None
    assert (more.low or 0) <= (usual.low or 0) + 1e-12
    assert (more.high or 0) >= (usual.high or 0) - 1e-12


def test_no_figure_loads_scipy_or_numpy() -> None:
    code = """
import sys
from emma_eval.scoring import intervals
assert intervals.mean_of_counts((1, 2, 3)).low < 2 and intervals.share_of(1, 2).low < 0.5
assert intervals.difference_of([((1, 2, 3), (1, 2, 3))]) is not None
assert not any(name.startswith(("scipy", "numpy")) for name in sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
