"""How far a figure can be trusted: means, shares and differences, each with n and a two-sided 95 % interval.

Quantiles come from `quantiles`, so that a process that serves pages holds no scipy. Wherever an interval can't be
told (a single value, or values that are all the same), `low` and `high` are None: it is never made up. Under `FEWEST`
values a figure is "n too small", whatever its interval says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from .quantiles import t_quantile, z_quantile

CONFIDENCE = 0.95
FEWEST = 5  # values under which a figure is shown as "n too small"

Interval = tuple[float | None, float | None]
NO_INTERVAL: Interval = (None, None)


@dataclass(frozen=True)
class Mean:
    """A mean of `n` values, in their unit, with its t interval."""

    mean: float
    low: float | None
    high: float | None
    n: int

    @property
    def is_too_small(self) -> bool:
        return self.n < FEWEST


@dataclass(frozen=True)
class Median:
    """The median of `n` values, in their unit, with an interval between two of them."""

    median: float
    low: float | None
    high: float | None
    n: int

    @property
    def is_too_small(self) -> bool:
        return self.n < FEWEST


@dataclass(frozen=True)
class Share:
    """`part` of `n`, as a share from 0 to 1, with its Wilson score interval."""

    share: float
    low: float
    high: float
    part: int
    n: int

    @property
    def is_too_small(self) -> bool:
        return self.n < FEWEST


@dataclass(frozen=True)
class Difference:
    """What `a` has more than `b` (less: negative), in the unit of what is compared.

    `n_a` and `n_b` are the values that were compared, in `strata` pairs; what stood in a pair whose other side
    was empty is not among them. `is_between`: its interval is taken from how the pairs differ, not from within them.
    """

    difference: float
    low: float | None
    high: float | None
    n_a: int
    n_b: int
    strata: int
    is_between: bool = False

    @property
    def is_too_small(self) -> bool:
        return min(self.n_a, self.n_b) < FEWEST

    @property
    def shows_difference(self) -> bool:
        """Whether the data can tell the two apart: n is not too small and 0 is not in the interval."""
        if self.low is None or self.high is None or self.is_too_small:
            return False
        return self.low > 0 or self.high < 0


def mean_of_counts(counts: Sequence[int]) -> Mean | None:
    """The mean of ratings of which `counts[0]` are 1, `counts[1]` are 2, and so on; None of no ratings.

    Interval: mean +- t(n - 1) * s / sqrt(n), "Student" (1908), cut off at the ends of the scale, outside of which
    no mean of ratings can lie.
    """
    n, mean, squares = _moments(counts)
    if not n:
        return None
    low, high = _t_interval(mean, squares, n)
    return Mean(mean, *_within(low, high, 1, len(counts)), n)


def mean_of(values: Sequence[float]) -> Mean | None:
    """The mean of values of any unit, with the t interval of `mean_of_counts`, not cut off; None of no values."""
    n = len(values)
    if not n:
        return None
    mean = math.fsum(values) / n
    squares = math.fsum((value - mean) ** 2 for value in values)
    is_flat = all(one == other for one, other in pairwise(values))
    return Mean(mean, *(NO_INTERVAL if is_flat else _t_interval(mean, squares, n)), n)


@lru_cache(maxsize=8192)
def share_of(part: int, whole: int) -> Share | None:
    """`part` of `whole` with the score interval of Wilson (1927), without correction for continuity; None of nothing.

    It stays within 0 and 1, and tells something even where all or none have it.
    """
    if not whole:
        return None
    low, high = _wilson(part, whole)
    return Share(part / whole, low, high, part, whole)


def median_of(values: Sequence[float]) -> Median | None:
    """The median of values of any unit; None of no values.

    Interval: between two of the values themselves, as far out as the binomial distribution asks, whatever the values
    are distributed like (Thompson, "On confidence ranges for the median", Annals of Mathematical Statistics 7, 1936).
    Under six values there is none.
    """
    n = len(values)
    if not n:
        return None
    ordered = sorted(values)
    middle = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    outside = _values_outside(n)
    low, high = (ordered[outside - 1], ordered[n - outside]) if outside else NO_INTERVAL
    return Median(middle, low, high, n)


@lru_cache(maxsize=4096)
def _values_outside(n: int) -> int:
    """The largest k for which the median lies between the k-th value from either end with enough confidence, or 0."""
    k, tail = 0, 0.5**n if n < 1000 else 0.0
    if n >= 1000:  # where the normal distribution gives the same rank
        return int((n - z_quantile(CONFIDENCE) * math.sqrt(n)) / 2)
    below = tail
    while 2 * below <= 1 - CONFIDENCE:
        k += 1
        tail *= (n - k + 1) / k
        below += tail
    return k


def rate_of(pairs: Sequence[tuple[float, float]]) -> Mean | None:
    """How many there are of something for one of something else: the sum of the first numbers by that of the second.

    Each pair holds both of one unit, such as the silences of a call and its minutes; long calls count for more. None
    where there is nothing to divide by. Interval: t, with the variance of a ratio estimator over units (Cochran,
    "Sampling Techniques", 1977, chapter 6), not below 0. `mean` is the rate, `n` the number of pairs.
    """
    n, whole = len(pairs), math.fsum(size for _, size in pairs)
    if not whole:
        return None
    rate = math.fsum(count for count, _ in pairs) / whole
    squares = math.fsum((count - rate * size) ** 2 for count, size in pairs)
    if n < 2 or not squares:
        return Mean(rate, *NO_INTERVAL, n)
    reach = t_quantile(n - 1, CONFIDENCE) * math.sqrt(squares / (n - 1) * n) / whole
    return Mean(rate, max(0.0, rate - reach), rate + reach, n)


def difference_of(
    pairs: Sequence[tuple[Sequence[int], Sequence[int]]], *, confidence: float = CONFIDENCE
) -> Difference | None:
    """How much higher `a` was rated than `b`, compared within pairs (such as scripts); None where no pair has both.

    Each pair holds the counts of ratings (as in `mean_of_counts`) of a and of b. A pair weighs n_a n_b / (n_a + n_b),
    the weights of Cochran (1954): those with the least variance where ratings spread alike.
    Interval: t, with the standard error and the degrees of freedom of Welch (1947) and Satterthwaite (1946). The
    variance of a is that within its pairs, taken together (and so for b), so that a pair may hold a single rating.
    With one pair this is Welch's own interval. `confidence` above the usual 95 % is for many comparisons at once.

    Of `FEWEST` pairs or more, where that variance has fewer degrees of freedom on either side than there are between
    the pairs, or is 0, the interval is taken from how the differences of the pairs differ: t with k - 1 degrees
    of freedom for k pairs, with the weighted variance of Hartung and Knapp (2001). With pairs of equal weight, such as
    those of single ratings, this is the paired t interval.
    """
    both = [(_moments(a), _moments(b), len(a)) for a, b in pairs if sum(a) and sum(b)]
    if not both:
        return None
    weights = _weights([(a[0], b[0]) for a, b, _ in both])
    differences = [a[1] - b[1] for a, b, _ in both]
    difference = math.fsum(w * each for w, each in zip(weights, differences, strict=True))
    side_a = _side([a for a, _, _ in both], weights)
    side_b = _side([b for _, b, _ in both], weights)
    is_between = len(both) >= FEWEST and _tells_less_within(side_a, side_b, len(both) - 1)
    interval = (
        _between(difference, differences, weights, confidence)
        if is_between
        else _welch(difference, side_a, side_b, confidence)
    )
    widest = max(scale for _, _, scale in both) - 1
    return Difference(difference, *_within(*interval, -widest, widest), side_a.n, side_b.n, len(both), is_between)


def difference_of_shares(
    pairs: Sequence[tuple[tuple[int, int], tuple[int, int]]], *, confidence: float = CONFIDENCE
) -> Difference | None:
    """How much larger the share is in `a` than in `b`, compared within pairs; None where no pair has both.

    Each pair holds (part, whole) of a and of b; weights as in `difference_of`. Interval: from the Wilson intervals of
    all shares by the method of Zou, Huang and Zhang (2009) for a sum of weighted shares. With one pair this is
    method 10 of Newcombe (1998). `confidence` as in `difference_of`.
    """
    both = [(a, b) for a, b in pairs if a[1] and b[1]]
    if not both:
        return None
    weights = _weights([(a[1], b[1]) for a, b in both])
    difference, below, above = 0.0, 0.0, 0.0
    for weight, (a, b) in zip(weights, both, strict=True):
        share_a, share_b = a[0] / a[1], b[0] / b[1]
        (low_a, high_a), (low_b, high_b) = _wilson(*a, confidence), _wilson(*b, confidence)
        difference += weight * (share_a - share_b)
        below += weight**2 * ((share_a - low_a) ** 2 + (high_b - share_b) ** 2)
        above += weight**2 * ((high_a - share_a) ** 2 + (share_b - low_b) ** 2)
    low, high = _within(difference - math.sqrt(below), difference + math.sqrt(above), -1, 1)
    return Difference(difference, low, high, sum(a[1] for a, _ in both), sum(b[1] for _, b in both), len(both))


@dataclass(frozen=True)
class _Side:
    """One side of a comparison over all pairs: the variance of its weighted mean, and its degrees of freedom."""

    n: int
    variance: float | None
    freedom: int


def _moments(counts: Sequence[int]) -> tuple[int, float, float]:
    """n, the mean, and the sum of squared distances from it; exactly 0 where all are the same."""
    n = sum(counts)
    if not n:
        return 0, 0.0, 0.0
    total = sum(value * count for value, count in enumerate(counts, 1))
    of_squares = sum(value**2 * count for value, count in enumerate(counts, 1))
    return n, total / n, (n * of_squares - total**2) / n


def _weights(sizes: list[tuple[int, int]]) -> list[float]:
    weights = [a * b / (a + b) for a, b in sizes]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _side(moments: list[tuple[int, float, float]], weights: list[float]) -> _Side:
    n = sum(size for size, _, _ in moments)
    freedom = n - len(moments)
    if not freedom:
        return _Side(n, None, 0)
    of_one = math.fsum(squares for _, _, squares in moments) / freedom
    return _Side(n, of_one * math.fsum(w**2 / m[0] for w, m in zip(weights, moments, strict=True)), freedom)


def _welch(difference: float, a: _Side, b: _Side, confidence: float) -> Interval:
    if a.variance is None or b.variance is None or not a.variance + b.variance:
        return NO_INTERVAL
    variance = a.variance + b.variance
    freedom = variance**2 / (a.variance**2 / a.freedom + b.variance**2 / b.freedom)
    reach = t_quantile(freedom, confidence) * math.sqrt(variance)
    return difference - reach, difference + reach


def _tells_less_within(a: _Side, b: _Side, freedom: int) -> bool:
    """Whether the variance within pairs has fewer degrees of freedom than that between them, or can't be told."""
    return min(a.freedom, b.freedom) < freedom or not ((a.variance or 0) + (b.variance or 0))


def _between(difference: float, differences: list[float], weights: list[float], confidence: float) -> Interval:
    if all(math.isclose(one, other, abs_tol=1e-9) for one, other in pairwise(differences)):
        return NO_INTERVAL
    freedom = len(differences) - 1
    squares = math.fsum(w * (each - difference) ** 2 for w, each in zip(weights, differences, strict=True))
    reach = t_quantile(freedom, confidence) * math.sqrt(squares / freedom)
    return difference - reach, difference + reach


def _t_interval(mean: float, squares: float, n: int) -> Interval:
    if n < 2 or not squares:
        return NO_INTERVAL
    reach = t_quantile(n - 1, CONFIDENCE) * math.sqrt(squares / (n - 1) / n)
    return mean - reach, mean + reach


def _within(low: float | None, high: float | None, least: float, most: float) -> Interval:
    return (None, None) if low is None or high is None else (max(low, least), min(high, most))


def _wilson(part: int, whole: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    z = z_quantile(confidence)
    share = part / whole
    middle = (share + z**2 / (2 * whole)) / (1 + z**2 / whole)
    reach = z * math.sqrt(share * (1 - share) / whole + z**2 / (4 * whole**2)) / (1 + z**2 / whole)
    # At the ends the two are equal but for rounding.
    return (0.0 if part == 0 else middle - reach), (1.0 if part == whole else middle + reach)
