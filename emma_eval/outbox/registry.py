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
    """

    def __init__(self, reason: str, wait: timedelta = timedelta(0), *, counts: bool = True) -> None:
        super().__init__(reason)
        self.wait = wait
        self.counts = counts


Handler = Callable[..., None]
_handlers: dict[str, Handler] = {}


def handles(name: str) -> Callable[[Handler], Handler]:
    """Register a function for rows of this name; it may run twice and must then change nothing more."""

    def register(handler: Handler) -> Handler:
        _handlers[name] = handler
        return handler

    return register


def run(name: str, payload: dict[str, Any]) -> None:
    """Call the handler of a row. Raises GiveUpError for a name that nobody registered."""
    handler = _handlers.get(name)
    if handler is None:
        raise GiveUpError(f"nothing handles {name!r}")
    handler(**payload)
