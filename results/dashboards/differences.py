"""Differences in words, how surely they are there, and what is left of them where many are looked at together."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from emma_eval.scoring.intervals import CONFIDENCE, Difference

from ..figures import say_points, say_range, say_signed, say_signed_points

SAME = "no difference shown"
UNTOLD = "can’t be told"


def say_difference(difference: Difference | None, other: str, *, of: str = "calls") -> str:
    """ "+0.40 against 2026.42, interval 0.10 to 0.70, 38 and 41 calls": with all that belongs to the figure."""
    if difference is None:
        return "nothing to compare"
    n = f"{difference.n_a} and {difference.n_b} {of}"
    if difference.is_too_small:
        return f"n too small: {n}"
    if not has_interval(difference):
        return f"{_without_interval(difference, other)}, {n}"
    said = f"{say_size(difference)} against {other}, {say_interval(difference)}, {n}"
    return said if difference.shows_difference else f"{SAME}: {said}"


def _without_interval(difference: Difference, other: str) -> str:
    """Why there is none: nothing varies that it could be taken from."""
    if not difference.difference:
        return f"{SAME}: rated alike, with nothing to take an interval from"
    alike = "every script differs by the same" if difference.is_between else "all ratings of a script are alike"
    return f"{UNTOLD}: {say_size(difference)} against {other}, but {alike} and nothing tells an interval"


def say_size(difference: Difference) -> str:
    """ "+0.40", or "−0.40" of what is lower: with its sign, as its interval has it."""
    return say_signed(difference.difference)


def say_interval(difference: Difference) -> str:
    """ "interval 0.10 to 0.70", or "interval −0.70 to −0.10" of what is lower."""
    return f"interval {say_range(difference.low or 0.0, difference.high or 0.0)}"


def say_in_short(difference: Difference) -> str:
    """ "+0.40, interval 0.10 to 0.70, n 38 and 41": in a sentence that says against what."""
    return f"{say_size(difference)}, {say_interval(difference)}, n {difference.n_a} and {difference.n_b}"


def say_difference_of_shares(difference: Difference | None, other: str) -> str:
    """In points of a hundred: "+12.0 points against 2026.42, interval 3.1 to 21.0"."""
    if difference is None:
        return "nothing to compare"
    if difference.is_too_small:
        return f"n too small: {difference.n_a} and {difference.n_b} results"
    low, high = (say_points(bound or 0.0, 1) for bound in (difference.low, difference.high))
    said = f"{say_signed_points(difference.difference, 1)} points against {other}, interval {low} to {high}"
    return said if difference.shows_difference else f"{SAME}: {said}"


def sureness(difference: Difference | None) -> float:
    """How far from 0 it is, in lengths of its interval on that side: above 1 it is shown. Sorts, and no more."""
    if difference is None or difference.is_too_small or difference.low is None or difference.high is None:
        return -1.0
    size = abs(difference.difference)
    reach = (
        difference.difference - difference.low if difference.difference > 0 else difference.high - difference.difference
    )
    return size / reach if reach else 0.0


def has_interval(difference: Difference) -> bool:
    return difference.low is not None and difference.high is not None


def is_compared(difference: Difference | None) -> bool:
    """Whether there was anything that could have shown: what can't be told is no comparison made."""
    return difference is not None and not difference.is_too_small and has_interval(difference)


def is_told(difference: Difference | None) -> bool:
    """Whether anything can be said of it: what was compared, and what is rated the same on both sides."""
    if difference is None or difference.is_too_small:
        return False
    return has_interval(difference) or not difference.difference


def joint_confidence(differences: Iterable[Difference | None]) -> float:
    """The confidence at which each has to show, for all to be trusted together at the usual 95 % (Bonferroni)."""
    made = sum(map(is_compared, differences))
    return 1 - (1 - CONFIDENCE) / max(made, 1)


def holds(difference: Difference | None, again: Callable[[], Difference | None]) -> bool:
    """Whether it shows, and still does when it is worked out again with the confidence that all together ask for."""
    if difference is None or not difference.shows_difference:
        return False
    surer = again()
    return surer is not None and surer.shows_difference
