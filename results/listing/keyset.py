"""Pages of a long list by keyset: the last row shown says where the next page starts.

A page costs the same at any depth, and a row that is filed meanwhile shifts nothing. Rows without a value
in the sorted column come last, whichever way the list is sorted: they are a second part of the list.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from results.models import DIMENSION_KEYS

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

    def parts_from(self, rows: QuerySet[Any, Any], cursor: Cursor | None) -> Iterator[QuerySet[Any, Any]]:
        """The rows behind a place, in parts that follow each other, each one stretch of an index."""
        for is_empty in self._kinds_from(cursor):
            part = self.sort(rows, is_empty=is_empty)
            if cursor is None or is_empty != (cursor.value is None):
                yield part
            elif is_empty:
                yield part.filter(**self._beyond("id", cursor.id))
            else:
                yield from self._behind(part, cursor)

    def _behind(self, part: QuerySet[Any, Any], cursor: Cursor) -> Iterator[QuerySet[Any, Any]]:
        """The rows with a value behind the cursor's.

        Dates are hardly ever the same, so one range and one exclusion do. Of a script, a build or a rating
        there are thousands of rows: those of the cursor's value are a part of their own, or else each of
        them up to the cursor would be read. "Less, or equal with a lesser id" and row values both make
        SQLite do that.
        """
        beyond_id = self._beyond("id", cursor.id)
        if self.column == "called_at":
            side, before = ("lte", "gte") if self.is_descending else ("gte", "lte")
            here_or_before = Q(**{"called_at": cursor.value, f"id__{before}": cursor.id})
            yield part.filter(~here_or_before, **{f"called_at__{side}": cursor.value})
            return
        yield part.filter(**{self.column: cursor.value}, **beyond_id)
        yield part.filter(**self._beyond(self.column, cursor.value))

    def _kinds_from(self, cursor: Cursor | None) -> list[bool]:
        """Whether rows have no value, for the two kinds of rows in the order in which the list has them."""
        kinds = [False, True] if self.has_empty_rows else [False]
        if self.is_turned:
            kinds.reverse()
        return kinds if cursor is None else kinds[kinds.index(cursor.value is None) :]

    def _beyond(self, column: str, value: object) -> dict[str, object]:
        return {f"{column}__{'lt' if self.is_descending else 'gt'}": value}

    def sort(self, rows: QuerySet[Any, Any], *, is_empty: bool) -> QuerySet[Any, Any]:
        """One part of the list in order: the rows with a value, or those without."""
        sign = "-" if self.is_descending else ""
        if is_empty:
            return rows.filter(**{f"{self.column}__isnull": True}).order_by(f"{sign}id")
        if self.has_empty_rows:
            rows = rows.filter(**{f"{self.column}__isnull": False})
        return rows.order_by(f"{sign}{self.column}", f"{sign}id")

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

    @property
    def is_whole(self) -> bool:
        """Whether this page is all there is of the list."""
        return self.previous is None and self.next is None


def page_of(rows: QuerySet[Any, Any], order: Order, place: Place, size: int = PAGE_SIZE) -> Page:
    """The page of `rows` (named value lists with the id and the sorted column) at this place.

    Going back to fewer rows than a page holds means the start is near: then it is the first page. So it is
    when nothing is left behind the cursor.
    """
    if place.is_before:
        found = walk(rows, order.turned(), place.cursor, size + 1)
        if len(found) > size:
            shown = found[:size][::-1]
            return Page(shown, _cursor_of(shown[0], order), _cursor_of(shown[-1], order))
        place = Place()
    found = walk(rows, order, place.cursor, size + 1)
    if place.cursor and not found:
        return page_of(rows, order, Place(), size)
    shown = found[:size]
    return Page(
        shown,
        previous=_cursor_of(shown[0], order) if place.cursor else None,
        next=_cursor_of(shown[-1], order) if len(found) > size else None,
    )


def _cursor_of(row: Any, order: Order) -> Cursor:
    return Cursor(getattr(row, order.column), row.id)


def walk(rows: QuerySet[Any, Any], order: Order, cursor: Cursor | None, most: int) -> list[Any]:
    """At most so many rows behind the cursor; mostly from one part of the list, at its borders from more."""
    found: list[Any] = []
    for part in order.parts_from(rows, cursor):
        found += part[: most - len(found)]
        if len(found) == most:
            break
    return found
