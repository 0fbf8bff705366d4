"""Announce an event: in the transaction of what happened, one delivery for each endpoint that is told of its kind."""

from __future__ import annotations

import uuid
from functools import lru_cache
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.outbox.enqueue import enqueue

from .models import Delivery, Endpoint

DELIVER = "webhooks.deliver"


def announce(
    kind: str, subject: object, *, owner: User | None = None, is_safety: bool = False, script: str = ""
) -> None:
    """Put the event on its way to every endpoint that is told of this kind, or to those of one owner alone.

    It costs one query of a small table where nobody is told. `subject` is the key by which the kind's own function
    reads it at each try. `is_safety` and `script` keep the line of the log from those who may not know of it, as in
    the audit trail. Whether the endpoint's owner may know is asked at each try, not here: a right may come or go.
    """
    told = _told_of(kind, owner)
    if told:
        event, now = new_event(), timezone.now()
        made = Delivery.objects.bulk_create(
            Delivery(
                endpoint_id=endpoint,
                event=event,
                kind=kind,
                subject=str(subject),
                occurred_at=now,
                is_safety=is_safety,
                script=script,
            )
            for endpoint, _ in told
        )
        send_off([delivery for delivery, (_, is_paused) in zip(made, told, strict=True) if not is_paused])


def _told_of(kind: str, owner: User | None) -> list[tuple[int, bool]]:
    """The endpoints that chose this kind, and whether they are paused. There are few of them, so they are all read:
    the two databases don't look into JSON in the same way."""
    found = _endpoints().all() if owner is None else _endpoints().filter(owner=owner)
    return [(pk, paused_at is not None) for pk, kinds, paused_at in found if kind in kinds]


@lru_cache(maxsize=1)
def _endpoints() -> QuerySet[Any, Any]:
    """Put together once: at each result that is filed, half of its cost would be in putting it together."""
    return Endpoint.objects.order_by().values_list("pk", "kinds", "paused_at")


def new_event() -> str:
    """The id of an event, by which receivers know what they have had."""
    return f"evt_{uuid.uuid4().hex}"


def send_off(deliveries: list[Delivery]) -> None:
    """Have workers try these, after the commit. What is on its way twice is sent twice at worst, with the same id."""
    for delivery in deliveries:
        enqueue(DELIVER, delivery=delivery.pk)
