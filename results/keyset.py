"""Pages of a long list by keyset: the last row shown says where the next page starts.

A page costs the same at any depth, and a row that is filed meanwhile shifts nothing. Rows without a value
in the sorted column come last, whichever way the list is sorted: they are a second part of the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from .models import DIMENSION_KEYS

PAGE_SIZE = 50
START = datetime(1970, 1, 1, tzinfo=UTC)
MOST_MICROSECONDS = 10**17
BIGGEST_ID = 2**63 - 1
LONGEST_KEY = 160


class BadCursorError(ValueError):
    """The place in the list that an address names can't be read."""


@dataclass(frozen=True)
class Cursor:
    """The place of one row: its value in the sorted column (None: it has none) and its id."""

    value: datetime | str | int | None
    id: int


@dataclass(frozen=True)
class Order:
    """What the list is sorted by; ids break ties in the same direction. `is_turned`: walked from its end."""

    column: str
    is_descending: bool = False
    is_turned: bool = False

    @property
    def has_empty_rows(self) -> bool:
        """Ratings can be missing (Vision N/A, a call that never started); nothing else can."""
        return self.column in DIMENSION_KEYS

    def turned(self) -> Order:
        return Order(self.column, not self.is_descending, not self.is_turned)

    def parts_from(self, cursor: Cursor | None) -> list[bool]:
        """The parts of the list from this place on, each by whether its rows are those without a value."""
        parts = [False, True] if self.has_empty_rows else [False]
        if self.is_turned:
            parts.reverse()
        return parts if cursor is None else parts[parts.index(cursor.value is None) :]

    def sort(self, rows: QuerySet[Any, Any], *, is_empty: bool) -> QuerySet[Any, Any]:
        """One part of the list in order: the rows with a value, or those without."""
        sign = "-" if self.is_descending else ""
        if is_empty:
            return rows.filter(**{f"{self.column}__isnull": True}).order_by(f"{sign}id")
        if self.has_empty_rows:
            rows = rows.filter(**{f"{self.column}__isnull": False})
        return rows.order_by(f"{sign}{self.column}", f"{sign}id")

    def beyond(self, cursor: Cursor) -> Q:
        """The rows behind a place in this order.

        Written as a range and one exclusion, which both databases read off the index. The usual
        "greater, or equal with a greater id" makes SQLite walk the list from its start.
        """
        side, same_or_before = ("lt", "gte") if self.is_descending else ("gt", "lte")
        if cursor.value is None:
            return Q(**{f"id__{side}": cursor.id})
        tie = Q(**{self.column: cursor.value, f"id__{same_or_before}": cursor.id})
        return Q(**{f"{self.column}__{side}e": cursor.value}) & ~tie

    def write(self, cursor: Cursor) -> str:
        """A cursor as it stands in an address: the id, a dot, the value."""
        value = cursor.value
        if isinstance(value, datetime):
            value = (value - START) // timedelta(microseconds=1)
        return f"{cursor.id}.{'' if value is None else value}"

    def read(self, text: str) -> Cursor:
        """The cursor that an address names. Whatever else stands there raises BadCursorError."""
        number, dot, value = text.partition(".")
        if not dot:
            raise BadCursorError
        return Cursor(self._value_of(value), _whole(number, BIGGEST_ID))

    def _value_of(self, text: str) -> datetime | str | int | None:
        if self.column == "called_at":
            return START + timedelta(microseconds=_whole(text, MOST_MICROSECONDS))
        if self.has_empty_rows:
            return _whole(text, 5) if text else None
        if not text or len(text) > LONGEST_KEY or not text.isprintable():
            raise BadCursorError
        return text


def _whole(text: str, most: int) -> int:
    """A number that a column can hold; int() alone also takes "+1", " 1", "1_0" and Bengali digits."""
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= most):
        raise BadCursorError
    return int(text)


@dataclass(frozen=True)
class Place:
    """Where a page stands: behind a cursor, before one, or (without) at the start of the list."""

    cursor: Cursor | None = None
    is_before: bool = False


@dataclass(frozen=True)
class Page:
    """Some rows, and the cursors of the pages on either side; None where there is none."""

    rows: list[Any]
    previous: Cursor | None
    next: Cursor | None


def page_of(rows: QuerySet[Any, Any], order: Order, place: Place, size: int = PAGE_SIZE) -> Page:
    """The page of `rows` (named value lists with the id and the sorted column) at this place.

    Going back to fewer rows than a page holds means the start is near: then it is the first page.
    """
    if place.is_before:
        found = _walk(rows, order.turned(), place.cursor, size + 1)
        if len(found) > size:
            shown = found[:size][::-1]
            return Page(shown, _cursor_of(shown[0], order), _cursor_of(shown[-1], order))
        place = Place()
    found = _walk(rows, order, place.cursor, size + 1)
    shown = found[:size]
    is_behind_something = bool(place.cursor and shown)
    return Page(
        shown,
        previous=_cursor_of(shown[0], order) if is_behind_something else None,
        next=_cursor_of(shown[-1], order) if len(found) > size else None,
    )


def _cursor_of(row: Any, order: Order) -> Cursor:
    return Cursor(getattr(row, order.column), row.id)


def _walk(rows: QuerySet[Any, Any], order: Order, cursor: Cursor | None, most: int) -> list[Any]:
    """At most so many rows behind the cursor; mostly from one part of the list, at its border from both."""
    found: list[Any] = []
    for is_empty in order.parts_from(cursor):
        part = order.sort(rows, is_empty=is_empty)
        if cursor is not None and is_empty == (cursor.value is None):
            part = part.filter(order.beyond(cursor))
        found += part[: most - len(found)]
        if len(found) == most:
            break
    return found
