"""Quantiles in plain Python are those of scipy."""

from __future__ import annotations

from collections import Counter
from statistics import StatisticsError

import pytest
from scipy.special import ndtri, stdtrit

from emma_eval.scoring import quantiles
from emma_eval.scoring.quantiles import MANY, t_quantile, z_quantile

CONFIDENCES = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
WHOLE = (*range(1, 60), 99, 100, 250, 499, MANY - 1, MANY, MANY + 1, 5_000, 100_000, 10_000_000)
FRACTIONS = (0.7, 0.9999999, 1.0001, 1.37, 2.5, 4.99, 17.3, 88.8, 640.2, MANY - 0.01)


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_they_are_those_of_scipy(confidence: float) -> None:
    assert z_quantile(confidence) == pytest.approx(ndtri((1 + confidence) / 2), rel=1e-12)
    for freedom in (*WHOLE, *FRACTIONS):
        expected = stdtrit(freedom, (1 + confidence) / 2)
        assert t_quantile(freedom, confidence) == pytest.approx(expected, rel=1e-10), freedom


def test_none_goes_on_where_only_rounding_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    tails = quantiles._tails
    monkeypatch.setattr(quantiles, "_tails", lambda t, freedom: asked.append(freedom) or tails(t, freedom))
    quantiles.t_quantile.cache_clear()
    for confidence in CONFIDENCES:
        for freedom in (*range(1, MANY), *FRACTIONS):
            t_quantile(freedom, confidence)
    assert max(Counter(asked).values()) <= 30 * len(CONFIDENCES)


def test_well_known_ones() -> None:
    """As tables of every textbook print them."""
    assert round(z_quantile(0.95), 4) == 1.96
    assert [round(t_quantile(freedom, 0.95), 3) for freedom in (1, 2, 5, 30)] == [12.706, 4.303, 2.571, 2.042]


@pytest.mark.parametrize("freedom", [0, -3])
def test_there_are_none_of_no_freedom(freedom: float) -> None:
    with pytest.raises(ValueError, match="degrees of freedom"):
        t_quantile(freedom, 0.95)


def test_nor_of_a_certainty() -> None:
    with pytest.raises(StatisticsError):
        z_quantile(1.0)
