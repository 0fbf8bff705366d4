"""The tags as reviewed, beside many rows at once: for lists and files, by the rules of a result's page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from emma_eval.accounts.models import User

from ..models import QueuedFor
from .blind import SEE_REVIEWS, standing_shown_to
from .open_to import time_shown


@dataclass(frozen=True)
class PlacedTag:
    """A tag in a list; `rank` is its place in the order over all, None where that is not known."""

    tag: str
    rank: int | None


Reviewed = dict[int, tuple[PlacedTag, ...]]


def tags_as_reviewed(user: User, rows: Iterable[Any]) -> Reviewed:
    """By the key of each row of which a review stands that this person may read, its tags in their order.

    A row that is reviewed without a problem has none, and is there. `rows` may be seen by this person, and have
    `reviewed_at` and `queued_for`: where none of them was reviewed, nothing is asked; else it is one query.
    """
    keys = [row.id for row in rows if time_shown(row.reviewed_at, row.queued_for) is not None]
    if not keys:
        return {}
    standing = standing_shown_to(user, keys).order_by("result_id", "problems__position")
    found: dict[int, list[PlacedTag]] = {}
    for result, tag, rank in standing.values_list("result_id", "problems__tag", "problems__rank"):
        tags = found.setdefault(result, [])
        if tag is not None:
            tags.append(PlacedTag(tag, rank))
    return {result: tuple(tags) for result, tags in found.items()}


def reason_shown(user: User, queued_for: int | None) -> QueuedFor | None:
    """Why a row waits in the queue, as the filters of the list tell it to those who review and lead; else None."""
    return QueuedFor(queued_for) if queued_for is not None and user.has_role(*SEE_REVIEWS) else None
