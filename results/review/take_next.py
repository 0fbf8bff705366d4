"""Take the next result from the queue: the most pressing, oldest one that nobody has in hand."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef

from emma_eval.accounts.models import User

from ..models import Hold, QueuedFor, Result, ResultQuerySet, Review
from .gold import gold_for
from .hold_result import begin, hold
from .open_to import IS_GOLD, hold_of_another


def take_next(reviewer: User, now: datetime) -> Result | None:
    """The result that this reviewer works on next, held from `now` on; None when nothing is left.

    One that the reviewer has in hand comes first, so that a second press takes no second result; one that was begun
    and left comes last.
    """
    with transaction.atomic():
        in_hand = _in_hand(reviewer, now)
        if in_hand is not None:
            return in_hand
        gold = gold_for(reviewer, now)
        mixed_in = Result.objects.filter(pk=gold.pk) if gold else Result.objects.none()
        for rows in (mixed_in, waiting_for(reviewer), left_by(reviewer)):
            taken = _take_first(rows.filter(~_is_held_at(now)), reviewer, now)
            if taken is not None:
                return taken
    return None


def waiting_for(reviewer: User) -> ResultQuerySet:
    """What waits and this reviewer has not begun, in order. Read off an index, and no further than to its first row."""
    mine = Review.objects.filter(result=OuterRef("pk"), reviewer=reviewer)
    return queue_of(reviewer).filter(~IS_GOLD, ~Exists(mine))


def left_by(reviewer: User) -> ResultQuerySet:
    """What waits and this reviewer has begun and not filed, in order."""
    begun = Review.objects.under_way().filter(reviewer=reviewer)
    return queue_of(reviewer).filter(pk__in=begun.values("result"))


def queue_of(user: User, reason: QueuedFor | None = None) -> ResultQuerySet:
    """What waits for a review, or for this one reason, as far as this person may know of it: not one's own results.

    Gold is among it, which waits for ever: nothing that is counted may change when a result becomes gold.
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


def _take_first(rows: ResultQuerySet, reviewer: User, now: datetime) -> Result | None:
    """Lock the first row that nobody else is just locking. SQLite has one writer, who is this transaction.

    Where somebody took a row between our question and our lock, their hold shows only now: then the next one.
    """
    while True:
        first = rows.select_for_update(skip_locked=True, of=("self",)).first()
        if first is None:
            return None
        if hold_of_another(reviewer, first, now) is None:
            hold(reviewer, first, now)
            begin(reviewer, first)
            return first
