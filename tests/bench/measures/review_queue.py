"""Twenty reviewers take the next result from one queue, one after the other, none giving one back: how long the act
takes inside the server, while nothing is reviewed yet and the queue is as long as it can be."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from ..figures import Figure, at_most
from ..stage import Stage

PLACE, TITLE = 14, "Next result to review"
MOST_MS, TURNS = 20, 5


def measure(stage: Stage) -> Iterator[Figure]:
    taken = sorted(stage.house.ask("timed", "next_reviews", turns=TURNS))
    slowest = taken[int(len(taken) * 0.95) - 1]
    yield at_most("next result to review, p95", slowest, MOST_MS, "ms", f"median {median(taken):.1f} ms")
