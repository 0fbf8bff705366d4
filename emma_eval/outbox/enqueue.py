"""Put work into the outbox, in the transaction that decided on it; wake a worker after the commit."""

from __future__ import annotations

import logging

from celery import current_app
from django.db import transaction
from django.utils import timezone

from .models import Row

log = logging.getLogger(__name__)


def enqueue(handler: str, **payload: object) -> Row:
    """A new row for the named handler. The payload holds ids, never the things themselves."""
    row = Row.objects.create(handler=handler, payload=payload, next_try_at=timezone.now())
    transaction.on_commit(lambda: wake(row.pk))
    return row


def wake(row_id: int) -> None:
    """Nudge a worker. A broker that is down costs nothing but time: the sweep finds the row."""
    try:
        current_app.send_task("outbox.deliver", args=[row_id], retry=False)
    except Exception:  # whatever the broker's library raises, the row is safe
        log.warning("the broker is down; outbox row %s waits for the sweep", row_id, exc_info=True)
