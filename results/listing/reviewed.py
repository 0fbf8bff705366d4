"""Narrow the list by how far its results are reviewed, for those who review and lead."""

from __future__ import annotations

from django.db.models import F

from results.models import QueuedFor, ResultQuerySet
from results.review.blind import shown_as_reviewed, shown_as_unreviewed

REVIEWED, UNREVIEWED, WAITING = "reviewed", "unreviewed", "waiting"
REASON_OF = {
    "disagreement": QueuedFor.DISAGREEMENT,
    "other": QueuedFor.OTHER_TAG,
    "low": QueuedFor.VERY_LOW,
    "sample": QueuedFor.SAMPLE,
    "by-hand": QueuedFor.BY_HAND,
    "pick": QueuedFor.PICK,
}
KEY_OF_REASON = {reason: key for key, reason in REASON_OF.items()}
REVIEW_STATES = {
    REVIEWED: "Reviewed",
    UNREVIEWED: "Not reviewed",
    WAITING: "Waiting for a review",
    **{key: f"Waiting: {reason.label}" for key, reason in REASON_OF.items() if reason != QueuedFor.PICK},
    "pick": QueuedFor.PICK.label,
}


def narrow_by_review(rows: ResultQuerySet, state: str, column: str = "") -> ResultQuerySet:
    """The rows in this state; `column`: what the list is sorted by, empty for a count.

    By date there is an index of what waits. In any other order the place in the queue is written as a sum that no
    index has, or the database would start with the queue, and sort.
    """
    if state == REVIEWED:
        return shown_as_reviewed(rows)
    if state == UNREVIEWED:
        return shown_as_unreviewed(rows)
    if not state:
        return rows
    exactly = {"": REASON_OF.get(state)} if state in REASON_OF else {"__lt": QueuedFor.PICK}
    if not column:
        return rows.filter(**{f"queued_for{lookup}": value for lookup, value in exactly.items()})
    if column == "called_at":
        rows = rows.filter(queued_for__isnull=False)
    rows = rows.alias(queued=F("queued_for") + 0)
    return rows.filter(**{f"queued{lookup}": value for lookup, value in exactly.items()})
