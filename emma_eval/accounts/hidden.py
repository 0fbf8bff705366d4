"""Which scripts somebody may not know of. This floor knows no scripts: the room that has them registers the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

if TYPE_CHECKING:
    from .models import User

Slugs = Callable[["User"], "QuerySet[Any, Any]"]
_rooms: list[Slugs] = []


def tells_hidden_scripts(slugs: Slugs) -> Slugs:
    """Register a function that gives the slugs hidden from a person, as the values of one column of a query."""
    _rooms.append(slugs)
    return slugs


def hidden_scripts(user: User) -> list[QuerySet[Any, Any]]:
    """A subquery of slugs from each room that registered; read when the query runs, so never out of date."""
    return [slugs(user) for slugs in _rooms]
