"""Send again what is settled, or a test: by hand, from the page of an endpoint."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from emma_eval.accounts.throttle import Limit

from .announce import new_event, send_off
from .kinds import TEST
from .models import Delivery, Endpoint, State

BY_HAND = Limit("webhook by hand", 30, timedelta(minutes=10))


@transaction.atomic
def replay(delivery: Delivery) -> bool:
    """Have it tried anew, with the same id, and with what may be told now. False while it is on its way anyway."""
    settled = Delivery.objects.settled().filter(pk=delivery.pk)
    if not settled.update(state=State.WAITING, settled_at=None):
        return False
    if delivery.endpoint.paused_at is None:
        send_off([delivery])
    return True


@transaction.atomic
def send_test(endpoint: Endpoint) -> Delivery:
    """An event that nothing happened for, to see the whole road; whatever kinds the endpoint is told of."""
    made = Delivery.objects.create(endpoint=endpoint, event=new_event(), kind=TEST, occurred_at=timezone.now())
    send_off([made])
    return made
