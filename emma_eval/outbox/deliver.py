"""Do the work of one row: take its lease, run its handler, write down what came of it."""

from __future__ import annotations

import logging
import random
from datetime import datetime, timedelta

from django.db.models import F
from django.utils import timezone

from . import registry
from .models import Row

LEASE = timedelta(seconds=60)
FIRST_WAIT = timedelta(seconds=5)
LONGEST_WAIT = timedelta(minutes=10)
MOST_ATTEMPTS = 8

log = logging.getLogger(__name__)


def deliver(row_id: int) -> bool:
    """Work on a row if it is due. True when this call did the work; False when there was none to take."""
    row = _lease(row_id, timezone.now())
    if row is None:
        return False
    try:
        registry.run(row.handler, row.payload)
    except registry.GiveUpError as reason:
        _set_aside(row, str(reason))
    except Exception as reason:  # a handler's fault must not take the worker down with it
        log.warning("outbox row %s failed, try %s", row, row.attempts, exc_info=True)
        _postpone(row, f"{type(reason).__name__}: {reason}")
    else:
        Row.objects.filter(pk=row.pk).update(done_at=timezone.now(), lease_until=None, last_error="")
    return True


def _lease(row_id: int, now: datetime) -> Row | None:
    """Take the row with one compare-and-set, so that of two workers exactly one gets it."""
    taken = Row.objects.due(now).filter(pk=row_id).update(lease_until=now + LEASE, attempts=F("attempts") + 1)
    return Row.objects.get(pk=row_id) if taken else None


def _postpone(row: Row, reason: str) -> None:
    if row.attempts >= MOST_ATTEMPTS:
        _set_aside(row, reason)
        return
    wait = min(FIRST_WAIT * 2 ** (row.attempts - 1), LONGEST_WAIT)
    jitter = 1 + random.random() / 4  # noqa: S311  (spreads retries; guards nothing)
    next_try_at = timezone.now() + wait * jitter
    Row.objects.filter(pk=row.pk).update(next_try_at=next_try_at, lease_until=None, last_error=reason[:2000])


def _set_aside(row: Row, reason: str) -> None:
    Row.objects.filter(pk=row.pk).update(set_aside_at=timezone.now(), lease_until=None, last_error=reason[:2000])
