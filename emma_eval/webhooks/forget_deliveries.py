"""Let go of what is over: deliveries of a month ago, and secrets that sign no more. Find what no worker knows of."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from emma_eval.outbox.models import Row

from .announce import DELIVER, send_off
from .models import Delivery, Endpoint, State

KEPT_FOR = timedelta(days=30)
MISSED_AFTER = timedelta(hours=1)


def forget_deliveries() -> None:
    """May run at any time and twice."""
    now = timezone.now()
    Delivery.objects.filter(occurred_at__lt=now - KEPT_FOR).delete()
    Endpoint.objects.filter(old_secret_until__lte=now).update(old_secret="", old_secret_until=None)


def find_missed() -> None:
    """Put on its way again what waits though no row of the outbox is about it.

    So it is with what happened at the very moment of a resumption, and where each worker that tried was killed.
    """
    open_rows = Row.objects.filter(handler=DELIVER, done_at=None, set_aside_at=None)
    on_their_way = {payload["delivery"] for payload in open_rows.values_list("payload", flat=True)}
    waiting = Delivery.objects.filter(state=State.WAITING, endpoint__paused_at=None)
    waiting = waiting.filter(occurred_at__lt=timezone.now() - MISSED_AFTER)
    send_off([delivery for delivery in waiting.order_by("pk") if delivery.pk not in on_their_way])
