"""What a measure is given: the house of one database with both sites standing in it, and people who are signed in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property

from .house import House
from .rounds import Compared, Side, compare
from .server import FLOOR, OURS, Request, Server


@dataclass
class Stage:
    """Both sites are started when they are first asked for, and stopped when the stage is left."""

    house: House
    rounds: int
    ends: ExitStack = field(default_factory=ExitStack)

    @cached_property
    def ours(self) -> Server:
        return self.start(OURS)

    @cached_property
    def floor(self) -> Server:
        return self.start(FLOOR)

    def start(self, application: str) -> Server:
        """One more server, for a measure that needs one of its own; it stops with the stage."""
        return self.ends.enter_context(Server(application, self.house.environment))

    @cached_property
    def facts(self) -> dict[str, str]:
        """What requests are made of: the keys and sessions of this database (see facts.py)."""
        found: dict[str, str] = self.house.ask("facts", "facts")
        return found

    def signed_in(self, **headers: str) -> dict[str, str]:
        """The headers of a tester who is signed in."""
        return {"Cookie": f"session={self.facts['session']}; csrf={self.facts['csrf']}", **headers}

    def requests_in_all(self, a_round: int) -> int:
        """How many requests of each side a comparison takes at most, for those that can be asked only once."""
        return (a_round + 1) * (self.rounds + 1)

    def compare(self, floor: Iterable[Request], ours: Iterable[Request], *, requests: int) -> Compared:
        """The floor's site against ours."""
        pid = self.house.database_pid
        return compare(Side(self.floor, floor, pid), Side(self.ours, ours, pid), rounds=self.rounds, requests=requests)


def again_and_again(request: Request) -> Iterator[Request]:
    while True:
        yield request
