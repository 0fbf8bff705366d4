"""How figures are written everywhere: on pages, in charts and in letters.

Rounded half up, as people do it by hand, on the value as it is said in decimals (4.625 is 4.63, a mean of 4.35 is 4.4);
with a minus sign rather than a hyphen, and never one before a nought.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

MINUS = "−"
KEPT = 8192  # a page writes the same figure in its ranking, its chart and its table
DECIMALS = 2  # of a rating, a difference of ratings, an alpha


@lru_cache(KEPT)
def say_number(value: float, decimals: int = DECIMALS) -> str:
    """ "4.13", "−0.40"."""
    return _written(_rounded(Decimal(repr(value)), decimals))


def say_signed(value: float, decimals: int = DECIMALS) -> str:
    """With its sign, for a difference: "+0.40", "−0.40", "0.00"."""
    rounded = _rounded(Decimal(repr(value)), decimals)
    return f"+{rounded}" if rounded > 0 else _written(rounded)


def say_range(low: float, high: float, decimals: int = DECIMALS) -> str:
    """An interval: "0.10 to 0.70"."""
    return f"{say_number(low, decimals)} to {say_number(high, decimals)}"


def say_share(share: float, decimals: int = 0) -> str:
    """A share from 0 to 1, in hundredths: "20 %"."""
    return f"{say_points(share, decimals)} %"


@lru_cache(KEPT)
def say_points(share: float, decimals: int = 0) -> str:
    """The same without its unit, for a bound of a difference of shares: "20"."""
    return _written(_rounded(Decimal(repr(share)) * 100, decimals))


def say_signed_points(share: float, decimals: int = 0) -> str:
    """With its sign, for a difference of shares: "+20", "−20", "0"."""
    rounded = _rounded(Decimal(repr(share)) * 100, decimals)
    return f"+{rounded}" if rounded > 0 else _written(rounded)


def say_share_range(low: float, high: float) -> str:
    """The interval of a share: "14 % to 40 %"."""
    return f"{say_share(low)} to {say_share(high)}"


def to_whole(value: float) -> int:
    """Rounded to a whole number."""
    return int(_rounded(Decimal(repr(value)), 0))


def _rounded(value: Decimal, decimals: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


def _written(rounded: Decimal) -> str:
    return f"{MINUS}{-rounded}" if rounded < 0 else str(abs(rounded))
