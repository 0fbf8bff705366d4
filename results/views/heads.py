"""The heads of a table that is sorted by its columns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Head:
    """The head of a column: what pressing it asks for, and how the table is sorted by it now."""

    key: str
    label: str
    query: str
    sorted: str


def head_of(key: str, label: str, query: str, *, is_sorted: bool, is_descending: bool) -> Head:
    """`sorted` in the words of `aria-sort`; empty where the table is sorted by another column."""
    now = "descending" if is_descending else "ascending"
    return Head(key, label, query, now if is_sorted else "")
