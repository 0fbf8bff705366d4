"""How far from the middle a two-sided interval reaches, in standard errors: of the normal and of Student's t.

In plain Python: scipy would cost every process that serves pages 50 MB for these two numbers. Tests hold them to
`scipy.special` to ten digits.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

MANY = 1000  # degrees of freedom from which on four terms of the expansion give every digit of a float
PRECISION = 1e-14
NEAR = 1e-9  # each step squares the distance: behind one this small only rounding is left
MOST_STEPS = 1000  # so that every loop ends


@lru_cache(maxsize=64)
def z_quantile(confidence: float) -> float:
    """Of the normal distribution: 1.96 of 0.95. `confidence` lies between 0 and 1, or it raises StatisticsError."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


@lru_cache(maxsize=4096)  # a page asks for the same ones by the dozen
def t_quantile(freedom: float, confidence: float) -> float:
    """Of Student's t with `freedom` degrees of freedom (above 0, whole or not): 12.7 of 1 and 0.95.

    Newton's method from the normal quantile on, which lies below: the tails are convex there, so no step goes too far.
    """
    if freedom <= 0:
        raise ValueError(f"{freedom} degrees of freedom")
    t = z_quantile(confidence)
    if freedom >= MANY:
        return _expanded(t, freedom)
    for _ in range(MOST_STEPS):
        step = (_tails(t, freedom) - (1 - confidence)) / (2 * _density(t, freedom))
        t += step
        if step <= NEAR * t:
            break
    return t


def _expanded(z: float, freedom: float) -> float:
    """Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.5."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, 1))


def _density(t: float, freedom: float) -> float:
    """Of Student's t at `t`."""
    half = (freedom + 1) / 2
    height = math.exp(math.lgamma(half) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    return height * math.exp(-half * math.log1p(t * t / freedom))


def _tails(t: float, freedom: float) -> float:
    """How much of Student's t lies beyond `t` on both sides: the incomplete beta function (DLMF 8.17)."""
    x = freedom / (freedom + t * t)
    if x > (freedom / 2 + 1) / (freedom / 2 + 2.5):  # where the fraction of the other side is the quick one
        return 1 - _incomplete_beta(1 - x, 0.5, freedom / 2)
    return _incomplete_beta(x, freedom / 2, 0.5)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Regularized, by its continued fraction (DLMF 8.17.22) in Lentz's order."""
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, MOST_STEPS):
        change = 1.0
        for part in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + part * d), 1 + part / c
            change = c * d
            fraction *= change
        if abs(change - 1) <= PRECISION:
            break
    return math.exp(log_front) * fraction / a
