"""What can go wrong with a neighbour outside the house, in words for people.

A text of these names hosts and statuses, never the rest of an address, a header, a body or a key: it is shown on pages
and written into logs.
"""

from __future__ import annotations


class NeighbourError(Exception):
    """A neighbour did not do what was asked. `may_retry`: whether asking again later can help."""

    may_retry = True


class RefusedError(NeighbourError):
    """We don't go there: an address that this site does not open, or a redirect that it does not follow."""

    may_retry = False


class UnreachableError(NeighbourError):
    """Nobody answered: no such name, no route, or nobody listens."""


class UntrustedError(NeighbourError):
    """Whoever answered could not prove to be the one who was asked for."""


class TooSlowError(NeighbourError):
    """It took longer than it may. `while_waiting` is what was being waited for."""


class TooLargeError(NeighbourError):
    """The answer is longer than it may be."""

    may_retry = False


class GarbledError(NeighbourError):
    """The answer was cut off, or can't be read."""


class UnwantedError(NeighbourError):
    """The answer is something else than what is taken; `media_type` is what it says it is, empty where that is odd."""

    may_retry = False

    def __init__(self, media_type: str) -> None:
        super().__init__(f"its answer is {media_type or 'of no known type'}, which is not taken")
        self.media_type = media_type
