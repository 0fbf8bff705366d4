"""What somebody may not know of. This floor knows neither scripts nor rounds: the rooms that have them register it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.db.models import Q, QuerySet

if TYPE_CHECKING:
    from .models import User

Slugs = Callable[["User"], "QuerySet[Any, Any]"]
Lines = Callable[["User"], Q]
_rooms: list[Slugs] = []
_rooms_of_lines: list[Lines] = []


def tells_hidden_scripts(slugs: Slugs) -> Slugs:
    """Register a function that gives the slugs hidden from a person, as the values of one column of a query."""
    _rooms.append(slugs)
    return slugs


def hidden_scripts(user: User) -> list[QuerySet[Any, Any]]:
    """A subquery of slugs from each room that registered; read when the query runs, so never out of date."""
    return [slugs(user) for slugs in _rooms]


def tells_hidden_lines(lines: Lines) -> Lines:
    """Register a function that gives the lines of the audit trail that are hidden from a person by what became of
    their thing since. It runs each time the trail is read."""
    _rooms_of_lines.append(lines)
    return lines


def hidden_lines(user: User) -> list[Q]:
    return [lines(user) for lines in _rooms_of_lines]
