"""Handlers for tests. A worker of its own process loads this module too (`--include tests.outbox.handlers`)."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

from emma_eval.outbox import registry
from emma_eval.outbox.deliver import is_last_try
from emma_eval.outbox.registry import GiveUpError, TryLaterError, handles


@handles("tests.write_down")
def write_down(path: str) -> None:
    """Adds a line to a file: once for each time it is run."""
    with Path(path).open("a") as file:
        file.write("done\n")


@handles("tests.hang_at_first")
def hang_at_first(path: str) -> None:
    """Never returns the first time, so that a worker can be killed in the middle of it."""
    started = Path(path + ".started")
    if not started.exists():
        started.touch()
        time.sleep(300)
    write_down(path)


@handles("tests.fail")
def fail(words: str) -> None:
    raise OSError(words)


@handles("tests.give_up")
def give_up(words: str) -> None:
    raise GiveUpError(words)


@handles("tests.be_slow")
def be_slow(path: str) -> None:
    time.sleep(0.2)
    write_down(path)


def registered() -> dict[str, registry.Handler]:
    return registry._handlers


@handles("tests.try_later")
def try_later(wait_s: float, counts: bool, path: str) -> None:
    Path(path).write_text("the last" if is_last_try() else "not the last")
    raise TryLaterError("not now", timedelta(seconds=wait_s), counts=counts)
