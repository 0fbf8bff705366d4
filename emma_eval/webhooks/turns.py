"""Which deliveries a worker tries at the same time, so that receivers who are slow hold up their owner's alone.

One try of an owner at a time, and all of them on no more than half of the worker's threads, so that mail and whatever
else has to be done goes on. One of these turns is not for endpoints that let us wait the last time, and a try in it is
short: however many owners let us wait, whoever answers is told soon (docs/decisions/0139-*).

What has to wait is woken when a turn is free: one of each owner by turns, not in the order in which it came. The turn
is kept for it for a moment. What nobody wakes, the sweep finds. All of this is known to one worker, and to no other.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from django.conf import settings

from emma_eval.outbox.deliver import key_in_work
from emma_eval.outbox.enqueue import wake
from emma_eval.outbox.registry import TryLaterError

MOST_REMEMBERED = 10_000
KEPT_FOR_S = 5.0


@dataclass(frozen=True)
class Turn:
    """Whose it is. `is_short`: the one that is not for endpoints that let us wait."""

    owner: int
    is_short: bool


@dataclass
class Turns:
    """Who has a turn, for whom one is kept, who waits, who let us wait. Whoever reads or writes it has the lock."""

    taken: dict[int, Turn] = field(default_factory=dict)  # by owner
    kept: dict[int, tuple[Turn, float]] = field(default_factory=dict)  # by row: until when
    waiting: OrderedDict[int, OrderedDict[int, int]] = field(default_factory=OrderedDict)  # by owner: rows, endpoints
    slow: OrderedDict[int, None] = field(default_factory=OrderedDict)  # endpoints
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, owner: int, endpoint: int, row: int | None) -> Turn | None:
        """A turn, if this owner may have one now."""
        self._let_lapse(row)
        is_short = None if owner in self._busy() else self._free_for(endpoint)
        if is_short is None:
            return None
        self._waits_no_more(owner, row)
        self.taken[owner] = Turn(owner, is_short)
        return self.taken[owner]

    def wait(self, owner: int, endpoint: int, row: int) -> None:
        if sum(map(len, self.waiting.values())) < MOST_REMEMBERED:
            self.waiting.setdefault(owner, OrderedDict())[row] = endpoint

    def keep_free_ones(self) -> list[int]:
        """Keep what is free for rows that wait, the owner first whose turn is longest ago; which are to be woken."""
        self._let_lapse(None)
        woken: list[int] = []
        while (found := self._next()) is not None:
            row, turn = found
            self.kept[row] = (turn, time.monotonic() + KEPT_FOR_S)
            self._waits_no_more(turn.owner, row)
            if turn.owner in self.waiting:
                self.waiting.move_to_end(turn.owner)
            woken.append(row)
        return woken

    def note(self, endpoint: int, *, is_slow: bool) -> None:
        self.slow.pop(endpoint, None)
        if is_slow:
            self.slow[endpoint] = None
        if len(self.slow) > MOST_REMEMBERED:
            self.slow.popitem(last=False)

    def _next(self) -> tuple[int, Turn] | None:
        busy = self._busy()
        for owner, rows in self.waiting.items():
            for row, endpoint in rows.items():
                is_short = None if owner in busy else self._free_for(endpoint)
                if is_short is not None:
                    return row, Turn(owner, is_short)
        return None

    def _free_for(self, endpoint: int) -> bool | None:
        """Which turn this endpoint can have: whether it is the short one; None if none is free."""
        held = [*self.taken.values(), *(turn for turn, _ in self.kept.values())]
        short = sum(turn.is_short for turn in held)
        has_short = settings.WEBHOOKS_AT_ONCE > 1
        if len(held) - short < settings.WEBHOOKS_AT_ONCE - has_short:
            return False
        return True if has_short and not short and endpoint not in self.slow else None

    def _busy(self) -> set[int]:
        return {*self.taken, *(turn.owner for turn, _ in self.kept.values())}

    def _let_lapse(self, row: int | None) -> None:
        """What was kept for this row, and what was kept in vain."""
        now = time.monotonic()
        self.kept = {each: (turn, until) for each, (turn, until) in self.kept.items() if each != row and until > now}

    def _waits_no_more(self, owner: int, row: int | None) -> None:
        rows = self.waiting.get(owner)
        if rows is not None and row is not None:
            rows.pop(row, None)
        if not rows:
            self.waiting.pop(owner, None)


_turns = Turns()


@contextmanager
def passed_on() -> Iterator[None]:
    """Around the work on one row: a turn that is kept for it and not taken goes to the next that waits."""
    try:
        yield
    finally:
        row = key_in_work()
        with _turns.lock:
            was_kept = row is not None and _turns.kept.pop(row, None) is not None
            woken = _turns.keep_free_ones() if was_kept else []
        _wake(woken)


@contextmanager
def turn_of(owner: int, endpoint: int) -> Iterator[Turn]:
    """Raises TryLaterError, which costs no try, if it is not this owner's turn now."""
    with _turns.lock:
        turn = _turns.take(owner, endpoint, key_in_work())
    if turn is None:
        raise not_now("other deliveries are under way", owner, endpoint)
    try:
        yield turn
    finally:
        with _turns.lock:
            del _turns.taken[owner]
            if owner in _turns.waiting:
                _turns.waiting.move_to_end(owner)
            woken = _turns.keep_free_ones()
        _wake(woken)


def not_now(why: str, owner: int, endpoint: int) -> TryLaterError:
    """To be raised: the row waits for its owner's turn, and loses no try by that."""
    row = key_in_work()
    wait = partial(_wait, owner, endpoint, row) if row is not None else _nothing
    return TryLaterError(why, counts=False, then=wait)


def _wait(owner: int, endpoint: int, row: int) -> None:
    """A turn may have become free since there was none."""
    with _turns.lock:
        _turns.wait(owner, endpoint, row)
        woken = _turns.keep_free_ones()
    _wake(woken)


def _nothing() -> None:
    """Outside of the outbox there is no row to be woken."""


def note_pace(endpoint: int, *, is_slow: bool) -> None:
    """Whether this endpoint let us wait just now: so it is treated until it is tried again."""
    with _turns.lock:
        _turns.note(endpoint, is_slow=is_slow)


def forget_all() -> None:
    """As a worker that has just begun."""
    global _turns  # noqa: PLW0603  (what the threads of a process share)
    _turns = Turns()


def _wake(rows: list[int]) -> None:
    for row in rows:
        wake(row)
