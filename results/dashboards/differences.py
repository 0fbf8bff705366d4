"""Differences in words, how surely they are there, and what is left of them where many are looked at together."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from emma_eval.scoring.intervals import CONFIDENCE, Difference

SAME = "no difference shown"


def say_difference(difference: Difference | None, other: str, *, of: str = "calls") -> str:
    """ "0.40 higher than 2026.42, interval 0.10 to 0.70, 38 and 41 calls": with all that belongs to the figure."""
    if difference is None:
        return "nothing to compare"
    n = f"{difference.n_a} and {difference.n_b} {of}"
    if difference.is_too_small:
        return f"n too small: {n}"
    if difference.low is None or difference.high is None:
        return f"{SAME}: {say_size(difference)} than {other}, but all ratings are alike and tell no interval, {n}"
    said = f"{say_size(difference)} than {other}, {say_interval(difference)}, {n}"
    return said if difference.shows_difference else f"{SAME}: {said}"


def say_size(difference: Difference) -> str:
    """ "0.40 higher"."""
    return f"{abs(difference.difference):.2f} {'higher' if difference.difference >= 0 else 'lower'}"


def say_interval(difference: Difference) -> str:
    """ "interval 0.10 to 0.70" of what is higher, or of what is lower, so that both read as amounts."""
    low, high = difference.low or 0.0, difference.high or 0.0
    if difference.difference < 0:
        low, high = -high, -low
    return f"interval {low:.2f} to {high:.2f}"


def say_points(difference: Difference | None, other: str) -> str:
    """A difference of shares, in points of a hundred: "12 points more than on 2026.42, interval 3 to 21"."""
    if difference is None:
        return "nothing to compare"
    if difference.is_too_small:
        return f"n too small: {difference.n_a} and {difference.n_b} results"
    low, high = difference.low or 0.0, difference.high or 0.0
    is_more = difference.difference >= 0
    low, high = (low, high) if is_more else (-high, -low)
    size = f"{_points(abs(difference.difference))} points {'more' if is_more else 'less'} than on {other}"
    said = f"{size}, interval {_points(low)} to {_points(high)}"
    return said if difference.shows_difference else f"{SAME}: {said}"


def _points(share: float) -> str:
    return f"{round(100 * share, 1) + 0.0:.1f}"


def sureness(difference: Difference | None) -> float:
    """How far from nought it is, in lengths of its interval on that side: above 1 it is shown. Sorts, and no more."""
    if difference is None or difference.is_too_small or difference.low is None or difference.high is None:
        return -1.0
    size = abs(difference.difference)
    reach = (
        difference.difference - difference.low if difference.difference > 0 else difference.high - difference.difference
    )
    return size / reach if reach else 0.0


def is_compared(difference: Difference | None) -> bool:
    """Whether there was anything that could have shown: what is too small to tell is no comparison made."""
    return difference is not None and not difference.is_too_small


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
