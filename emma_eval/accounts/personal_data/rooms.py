"""Which rooms keep something about people. This floor does not know them: each registers what it has and forgets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import close_old_connections, connection
from django.db.models import QuerySet

if TYPE_CHECKING:
    from ..models import User

Row = dict[str, Any]
Tell = Callable[["User"], Iterable[Row]]
Forget = Callable[["User"], None]
A_SLICE = 500


@dataclass(frozen=True)
class Section:
    """A list in the file of somebody's data."""

    name: str
    tell: Tell


sections: list[Section] = []
forgetters: list[Forget] = []


def tells(name: str) -> Callable[[Tell], Tell]:
    """Register what a room keeps about a person: rows of plain values, as far as that person may know of them."""

    def register(tell: Tell) -> Tell:
        sections.append(Section(name, tell))
        return tell

    return register


def forgets(forget: Forget) -> Forget:
    """Register what a room removes when a person is erased, in the transaction that does it."""
    forgetters.append(forget)
    return forget


def in_slices(found: QuerySet[Any, Any]) -> Iterator[Any]:
    """The rows of a query by key, some hundred at a time: a slow reader holds nothing of the database meanwhile."""
    found, after = found.order_by("pk"), None
    while rows := list((found if after is None else found.filter(pk__gt=after))[:A_SLICE]):
        after = rows[-1].pk
        if not connection.in_atomic_block:
            close_old_connections()
        yield from rows


def columns(row: Any, *left_out: str) -> Row:
    """The columns of a row but those left out; another row is named by its key."""
    fields = [field for field in row._meta.concrete_fields if field.name not in left_out]
    return {field.name: getattr(row, field.attname) for field in fields}
