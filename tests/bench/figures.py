"""A line of the table: what was measured, of the floor and of us, against which limit."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from .rounds import Ratios


@dataclass(frozen=True)
class Figure:
    """One measured thing, in words. `is_met` is None where nothing is promised."""

    what: str
    floor: str = ""
    ours: str = ""
    ratio: str = ""
    limit: str = ""
    is_met: bool | None = None
    aside: str = ""


def ratio(what: str, found: Ratios, most: float, unit: str = "ms CPU", aside: str = "") -> Figure:
    """Ours is at most so many times the floor, in the middle round."""
    spread = f"{found.middle:.2f} ({min(found.ratios):.2f} to {max(found.ratios):.2f})"
    return Figure(
        what=what,
        floor=f"{found.floor:.3g} {unit}",
        ours=f"{found.ours:.3g} {unit}",
        ratio=spread,
        limit=f"at most {most:g} times",
        is_met=found.middle <= most,
        aside=aside,
    )


def at_most(what: str, found: float, most: float, unit: str, aside: str = "") -> Figure:
    """Ours alone is at most so much."""
    return Figure(what, ours=f"{found:.4g} {unit}", limit=f"at most {most:g} {unit}", is_met=found <= most, aside=aside)


def pace(what: str, floor: list[float], ours: list[float], unit: str, least: float | None = None) -> Figure:
    """Which share of the floor's pace ours reaches, in the middle round; both told round by round. At least `least`,
    where that is promised."""
    shares = [mine / other for mine, other in zip(ours, floor, strict=True)]
    return Figure(
        what=what,
        floor=f"{median(floor):.3g} {unit}",
        ours=f"{median(ours):.3g} {unit}",
        ratio=f"{median(shares):.2f} ({min(shares):.2f} to {max(shares):.2f})",
        limit="" if least is None else f"at least {least:g} times",
        is_met=None if least is None else median(shares) >= least,
    )
