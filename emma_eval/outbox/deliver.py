"""Do the work of one row: take its lease, run its handler, write down what came of it."""

from __future__ import annotations

import logging
import random
from contextvars import ContextVar
from datetime import datetime, timedelta

from django.db.models import F
from django.utils import timezone

from . import registry
from .models import Row, RowQuerySet

LEASE = timedelta(seconds=60)
FIRST_WAIT = timedelta(seconds=5)
LONGEST_WAIT = timedelta(minutes=10)
MOST_ATTEMPTS = 8

log = logging.getLogger(__name__)
_in_work: ContextVar[Row | None] = ContextVar("row in work", default=None)


class LeaseLostError(Exception):
    """The lease ran out and another worker took the row: what is being done here is its work now."""


def hold_on() -> None:
    """Called by a handler, in its own thread, that needs longer than LEASE: from now on it has LEASE again.

    Raises LeaseLostError when it is too late; the handler lets it through, after clearing away what is only its own.
    Outside of a delivery there is nothing to hold.
    """
    row = _in_work.get()
    if row is None:
        return
    lease_until = timezone.now() + LEASE
    if not _still_ours(row).update(lease_until=lease_until):
        raise LeaseLostError(str(row))
    row.lease_until = lease_until


def is_last_try() -> bool:
    """Whether the delivery under way is the last that its row is given. Outside of a delivery there is none to come."""
    row = _in_work.get()
    return row is None or row.attempts >= MOST_ATTEMPTS


def key_in_work() -> int | None:
    """The key of the row that is being worked on in this thread."""
    row = _in_work.get()
    return None if row is None else row.pk


def deliver(row_id: int) -> bool:
    """Work on a row if it is due. True when this call took it; False when there was nothing to take.

    A handler has less than LEASE for its work, unless it holds on (`hold_on`). One that takes longer may be run
    by a second worker at the same time, which its promise to change nothing more when run twice has to stand.
    """
    row = _lease(row_id, timezone.now())
    if row is None:
        return False
    if row.attempts > MOST_ATTEMPTS:
        _set_aside(row, f"given up: no worker lived to tell how try {MOST_ATTEMPTS} ended")
        return True
    in_work = _in_work.set(row)
    try:
        registry.run(row.handler, row.payload)
    except LeaseLostError:
        log.warning("outbox row %s went to another worker, try %s", row, row.attempts)
    except registry.GiveUpError as reason:
        _set_aside(row, str(reason))
    except registry.TryLaterError as reason:
        _put_off(row, reason)
    except Exception as reason:  # a handler's fault must not take the worker down with it
        log.warning("outbox row %s failed, try %s", row, row.attempts, exc_info=True)
        _postpone(row, f"{type(reason).__name__}: {reason}")
    else:
        Row.objects.filter(pk=row.pk).update(done_at=timezone.now(), lease_until=None, last_error="")
    finally:
        _in_work.reset(in_work)
    return True


def _lease(row_id: int, now: datetime) -> Row | None:
    """Take the row with one compare-and-set, so that of two workers exactly one gets it."""
    taken = Row.objects.due(now).filter(pk=row_id).update(lease_until=now + LEASE, attempts=F("attempts") + 1)
    return Row.objects.get(pk=row_id) if taken else None


def _put_off(row: Row, later: registry.TryLaterError) -> None:
    if later.counts:
        _postpone(row, str(later), at_least=later.wait)
    else:
        _still_ours(row).update(next_try_at=timezone.now() + later.wait, lease_until=None, attempts=F("attempts") - 1)
    later.then()


def _postpone(row: Row, reason: str, at_least: timedelta = timedelta(0)) -> None:
    if row.attempts >= MOST_ATTEMPTS:
        _set_aside(row, reason)
        return
    wait = min(FIRST_WAIT * 2 ** (row.attempts - 1), LONGEST_WAIT)
    jitter = 1 - random.random() / 4  # noqa: S311  (spreads retries; guards nothing)
    next_try_at = timezone.now() + max(wait * jitter, at_least)
    _still_ours(row).update(next_try_at=next_try_at, lease_until=None, last_error=reason[:2000])


def _set_aside(row: Row, reason: str) -> None:
    _still_ours(row).update(set_aside_at=timezone.now(), lease_until=None, last_error=reason[:2000])


def _still_ours(row: Row) -> RowQuerySet:
    """The row while we hold its lease: who lost it must not end the lease of the next worker."""
    return Row.objects.filter(pk=row.pk, lease_until=row.lease_until)
