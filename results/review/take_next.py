"""Take the next result from the queue: one of the most pressing that nobody has in hand.

Which of them is drawn, each time anew. In a fixed order a result that others have passed by would be known to be gold
(docs/decisions/0107-*).
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role

from ..models import Hold, QueuedFor, Result, ResultQuerySet, Review
from .hold_result import begin, hold
from .open_to import IS_GOLD, hold_of_another

DRAWN_FROM = 200  # the oldest that wait for the most pressing reason


def take_next(reviewer: User, now: datetime) -> Result | None:
    """The result that this reviewer works on next, held from `now` on; None when nothing is left.

    One that the reviewer has in hand comes first, so that a second press takes no second result; one that was begun
    and left comes last.
    """
    with transaction.atomic():
        in_hand = _in_hand(reviewer, now)
        if in_hand is not None:
            return in_hand
        for rows in (waiting_for(reviewer), left_by(reviewer)):
            taken = _take_one(rows.filter(~_is_held_at(now)), reviewer, now)
            if taken is not None:
                return taken
    return None


def waiting_for(reviewer: User) -> ResultQuerySet:
    """What waits and this reviewer has not begun, in order. Read off an index, and no further than needed.

    Gold is among it, at its own place, as for anybody who can't tell it. Leads know the answers, so they get none.
    """
    mine = Review.objects.filter(result=OuterRef("pk"), reviewer=reviewer)
    waiting = queue_of(reviewer).filter(~Exists(mine))
    return waiting.filter(~IS_GOLD) if reviewer.has_role(Role.EVAL_LEAD) else waiting


def left_by(reviewer: User) -> ResultQuerySet:
    """What waits and this reviewer has begun and not filed, in order."""
    begun = Review.objects.under_way().filter(reviewer=reviewer)
    return queue_of(reviewer).filter(pk__in=begun.values("result"))


def queue_of(user: User, reason: QueuedFor | None = None) -> ResultQuerySet:
    """What waits for a review, or for this one reason, as far as this person may know of it: not one's own results.

    Gold is among it: nothing that is counted may change when a result becomes gold.
    """
    # One reason alone is asked for as an equality and nothing more, or SQLite reads all the others, too.
    asked = {"queued_for__lt": QueuedFor.PICK} if reason is None else {"queued_for": reason}
    waiting = Result.objects.visible_to(user).filter(**asked)
    if not user.is_trained:  # as an equality, too: else SQLite reads past all that is hidden at the head of the queue
        waiting = waiting.filter(filed_as_safety__in=[False])
    return waiting.exclude(tester=user).order_by("queued_for", "id")


def _is_held_at(now: datetime) -> Exists:
    return Exists(Hold.objects.in_force(now).filter(result=OuterRef("pk")))


def _in_hand(reviewer: User, now: datetime) -> Result | None:
    held = Hold.objects.in_force(now).filter(reviewer=reviewer).values("result")
    begun = Review.objects.under_way().filter(reviewer=reviewer, result__in=held)
    seen = Result.objects.visible_to(reviewer).filter(pk__in=begun.values("result"))
    return seen.order_by("-hold__taken_at").first()


def _take_one(rows: ResultQuerySet, reviewer: User, now: datetime) -> Result | None:
    """Lock one that nobody else is just locking. SQLite has one writer, who is this transaction.

    Where somebody took a row between our question and our lock, their hold shows only now: then another one.
    """
    passed: set[int] = set()
    while keys := _most_pressing(rows, passed):
        key = secrets.choice(keys)
        taken = rows.filter(pk=key).select_for_update(no_key=True, skip_locked=True, of=("self",)).first()
        if taken is not None and hold_of_another(reviewer, taken, now) is None:
            hold(reviewer, taken, now)
            begin(reviewer, taken)
            return taken
        passed.add(key)
    return None


def _most_pressing(rows: ResultQuerySet, passed: Collection[int]) -> list[int]:
    """The keys of the oldest that wait for the most pressing reason, but those that were passed by."""
    left = rows.exclude(pk__in=passed) if passed else rows
    found = list(left.values_list("queued_for", "pk")[:DRAWN_FROM])
    return [key for reason, key in found if reason == found[0][0]]
