"""Compare what two sides cost, turn by turn, so that what else the machine does meets both alike.

Each round asks the floor a number of requests and then us as many; a round gives one ratio. The middle one of the
rounds counts, the least and the greatest show how sure it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from statistics import median
from typing import Protocol

from .server import Answers, Client, Request, cpu_s


class Measured(Answers, Protocol):
    """One that says, too, what it has cost so far."""

    def cpu_s(self) -> float: ...


@dataclass(frozen=True)
class Cost:
    """What one request cost on average: processor time of the web server and of the database, and waiting."""

    web_ms: float
    database_ms: float
    wall_ms: float


@dataclass(frozen=True)
class Side:
    """Who is asked for what. `database_pid`: PostgreSQL's first process."""

    server: Measured
    requests: Iterable[Request]
    database_pid: int | None = None


def cost_of(side: Side, requests: Iterator[Request], count: int) -> Cost:
    """Ask so many requests, one after the other over one connection."""
    client = Client(side.server)
    client.ask(next(requests))
    began, web, database = time.perf_counter(), side.server.cpu_s(), _database_s(side)
    for request in islice(requests, count):
        client.ask(request)
    spent = (side.server.cpu_s() - web, _database_s(side) - database, time.perf_counter() - began)
    client.close()
    return Cost(*(seconds * 1000 / count for seconds in spent))


def _database_s(side: Side) -> float:
    return cpu_s(side.database_pid) if side.database_pid else 0.0


@dataclass(frozen=True)
class Compared:
    """The costs of both sides, round by round."""

    floor: list[Cost]
    ours: list[Cost]

    def of(self, part: Callable[[Cost], float]) -> Ratios:
        pairs = list(zip(map(part, self.floor), map(part, self.ours), strict=True))
        return Ratios([ours / floor for floor, ours in pairs], *(median(side) for side in zip(*pairs, strict=True)))


@dataclass(frozen=True)
class Ratios:
    """The ratio of each round, and the middle value of each side."""

    ratios: list[float]
    floor: float
    ours: float

    @property
    def middle(self) -> float:
        return median(self.ratios)


def compare(floor: Side, ours: Side, *, rounds: int, requests: int) -> Compared:
    """Floor, ours, floor, ours, ... A first turn of each, of a tenth, warms up and isn't counted."""
    sides = (floor, ours)
    streams = [iter(side.requests) for side in sides]
    found: tuple[list[Cost], list[Cost]] = ([], [])
    for side, stream in zip(sides, streams, strict=True):
        cost_of(side, stream, max(requests // 10, 3))
    for _ in range(rounds):
        for side, stream, costs in zip(sides, streams, found, strict=True):
            costs.append(cost_of(side, stream, requests))
    return Compared(*found)
