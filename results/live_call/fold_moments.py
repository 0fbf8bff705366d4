"""Show the moments of a call where there is more to see than they: a few of them, and the others folded away."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..models import Moment

MOST_IN_SIGHT = 8


@dataclass(frozen=True)
class Folded:
    """Both in the order of the call clock."""

    in_sight: tuple[Moment, ...]
    folded: tuple[Moment, ...]

    def __bool__(self) -> bool:
        return bool(self.in_sight)


def fold_moments(moments: Iterable[Moment]) -> Folded:
    """Those with words come first into sight: the others only say when."""
    every = tuple(moments)
    by_use = sorted(every, key=lambda moment: not moment.words)
    in_sight = {moment.pk for moment in by_use[:MOST_IN_SIGHT]}
    return Folded(
        tuple(moment for moment in every if moment.pk in in_sight),
        tuple(moment for moment in every if moment.pk not in in_sight),
    )
