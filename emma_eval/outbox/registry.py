"""Which function does the work of a row. The outbox knows none by itself: the owning app registers it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any


class GiveUpError(Exception):
    """No retry can help: the row is set aside at once, with this reason."""


class TryLaterError(Exception):
    """What was to be expected went wrong: try again, no sooner than after `wait`.

    `counts`: whether this was one of the row's tries. False where nothing was tried, since it was too early.
    `then` is called once the row is free again, so that whoever is to wake it can't do so too early.
    """

    def __init__(
        self,
        reason: str,
        wait: timedelta = timedelta(0),
        *,
        counts: bool = True,
        then: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(reason)
        self.wait = wait
        self.counts = counts
        self.then = then


Handler = Callable[..., None]
_handlers: dict[str, Handler] = {}
_waits_for_others: set[str] = set()


def handles(name: str, *, waits_for_others: bool = False) -> Callable[[Handler], Handler]:
    """Register a function for rows of this name; it may run twice and must then change nothing more.

    `waits_for_others`: how long it takes is up to machines that are not ours, so all other work comes first.
    """

    def register(handler: Handler) -> Handler:
        _handlers[name] = handler
        if waits_for_others:
            _waits_for_others.add(name)
        return handler

    return register


def handlers_that_wait() -> frozenset[str]:
    return frozenset(_waits_for_others)


def run(name: str, payload: dict[str, Any]) -> None:
    """Call the handler of a row. Raises GiveUpError for a name that nobody registered."""
    handler = _handlers.get(name)
    if handler is None:
        raise GiveUpError(f"nothing handles {name!r}")
    handler(**payload)
