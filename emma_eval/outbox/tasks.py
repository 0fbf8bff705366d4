"""What Celery wakes. The truth is in the rows."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from celery import shared_task
from django.utils import timezone

from . import deliver as act
from .models import Row
from .registry import handlers_that_wait

KEEP_DONE_FOR = timedelta(days=30)
SWEEP_EVERY_S = 30.0


@shared_task(name="outbox.deliver")
def deliver(row_id: int) -> None:
    act.deliver(row_id)


@shared_task(name="outbox.sweep")
def sweep() -> None:
    """Find what a lost message or a killed worker left behind, and clear away what was done long ago.

    It ends before the next sweep begins, however slow the handlers are; that one goes on from there.
    """
    until = time.monotonic() + SWEEP_EVERY_S
    now = timezone.now()
    for row_id in _most_urgent_first(now):
        if time.monotonic() >= until:
            break
        act.deliver(row_id)
    Row.objects.filter(done_at__lt=now - KEEP_DONE_FOR).delete()


def _most_urgent_first(now: datetime) -> list[int]:
    """What waits for machines that are not ours comes last: it holds up nothing else."""
    due = Row.objects.due(now).order_by("next_try_at").values_list("pk", flat=True)
    slow = handlers_that_wait()
    return [*due.exclude(handler__in=slow)[:1000], *due.filter(handler__in=slow)[:1000]]
