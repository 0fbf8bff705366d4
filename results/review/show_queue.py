"""The page of the queue: how much waits and why, what one has begun, what one reviewed, what waits for a pick."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role

from ..models import Hold, QueuedFor, Result, Review, ReviewQuerySet
from .take_next import queue_of

MOST_COUNTED = 1_000
LATEST = 20
LISTED_FOR_PICK = 50


@dataclass(frozen=True)
class Waiting:
    """How many wait for one reason; `more`: at least that many."""

    reason: QueuedFor
    count: int
    more: bool

    @property
    def in_words(self) -> str:
        return f"{self.count:,}{'+' if self.more else ''}"


@dataclass(frozen=True)
class Begun:
    """A review under way. `until`: held by its reviewer until then; None: the time is over."""

    review: Review
    until: datetime | None


@dataclass(frozen=True)
class Queue:
    waiting: list[Waiting]
    begun: list[Begun]
    filed: list[Review]
    to_pick: list[Result]
    is_lead: bool

    @property
    def is_empty(self) -> bool:
        return not self.waiting

    @property
    def in_hand(self) -> Begun | None:
        return next((each for each in self.begun if each.until), None)


def show_queue(user: User, now: datetime) -> Queue:
    """Gather it. Nothing of it counts what this person may not know of, or must not yet."""
    mine = _reviews_of(user)
    is_lead = user.has_role(Role.EVAL_LEAD)
    return Queue(
        waiting=[waiting for reason in QueuedFor if (waiting := _waiting(user, reason)) and waiting.count],
        begun=_begun(user, mine, now),
        filed=list(mine.filed().order_by("-filed_at")[:LATEST]),
        to_pick=list(_to_pick(user)) if is_lead else [],
        is_lead=is_lead,
    )


def _waiting(user: User, reason: QueuedFor) -> Waiting | None:
    """Without those that this person has reviewed: what others found of them must not show, nor how many wait on."""
    if reason == QueuedFor.PICK:
        return None
    done = Review.objects.filed().filter(reviewer=user).values("result")
    rows = queue_of(user, reason).exclude(pk__in=done).order_by()
    count = rows[: MOST_COUNTED + 1].count()
    return Waiting(reason, min(count, MOST_COUNTED), count > MOST_COUNTED)


def _reviews_of(user: User) -> ReviewQuerySet:
    seen = Result.objects.visible_to(user).filter(pk=OuterRef("result"))
    return Review.objects.filter(Exists(seen), reviewer=user).select_related("result__script_version")


def _begun(user: User, mine: ReviewQuerySet, now: datetime) -> list[Begun]:
    held = dict(Hold.objects.in_force(now).filter(reviewer=user).values_list("result_id", "until"))
    under_way = mine.under_way().order_by("-begun_at")[:LATEST]
    return [Begun(review, held.get(review.result_id)) for review in under_way]


def _to_pick(user: User) -> list[Result]:
    waiting = Result.objects.visible_to(user).filter(queued_for=QueuedFor.PICK).order_by("id")
    return list(waiting.select_related("script_version", "tester")[:LISTED_FOR_PICK])
