"""The ratings of all scripts, counted from the months that are kept, beside counting them from the results in one
GROUP BY. Measured inside one process, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from ..figures import Figure, ratio
from ..rounds import Ratios
from ..stage import Stage

PLACE, TITLE = 13, "Overview of all scripts"
MOST, TURNS = 0.1, 5


def measure(stage: Stage) -> Iterator[Figure]:
    found = stage.house.ask("timed", "overview", turns=TURNS)
    ratios = [kept / plain for plain, kept in zip(found["plain"], found["kept"], strict=True)]
    yield ratio("overview of 200 scripts", Ratios(ratios, median(found["plain"]), median(found["kept"])), MOST, "ms")
