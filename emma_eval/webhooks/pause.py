"""Pause an endpoint and resume it. While it is paused its events are kept, and go out when it is resumed."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from emma_eval.accounts import audit
from emma_eval.accounts.models import User
from emma_eval.outbox.enqueue import enqueue

from .announce import send_off
from .models import Delivery, Endpoint, State

GONE = 410
MOST_GIVEN_UP = 5  # in a row
MAIL_PAUSED = "webhooks.mail_paused"


@transaction.atomic
def pause(endpoint: Endpoint, by: User | None, why: str) -> bool:
    """Send nothing more to it. By nobody: the site itself does, and tells the owner. False if it was paused before."""
    running = Endpoint.objects.filter(pk=endpoint.pk, paused_at=None)
    if not running.update(paused_at=timezone.now(), why_paused=why[:200]):
        return False
    audit.record(by, "paused a webhook", endpoint.name, why=why)
    if by is None:
        enqueue(MAIL_PAUSED, endpoint=endpoint.pk)
    return True


def pause_if_it_keeps_failing(endpoint: Endpoint) -> None:
    """After so many deliveries in a row that were given up: it would only fill the log and hold up workers."""
    newest = Delivery.objects.filter(endpoint=endpoint, state__in=(State.DELIVERED, State.FAILED))
    states = list(newest.order_by("-settled_at").values_list("state", flat=True)[:MOST_GIVEN_UP])
    if states == [State.FAILED] * MOST_GIVEN_UP:
        pause(endpoint, None, f"The last {MOST_GIVEN_UP} deliveries were given up.")


@transaction.atomic
def resume(endpoint: Endpoint, by: User) -> bool:
    """Send again, and first what was kept meanwhile, in order. False if it was not paused."""
    paused = Endpoint.objects.filter(pk=endpoint.pk).exclude(paused_at=None)
    if not paused.update(paused_at=None, why_paused="", held_until=None):
        return False
    audit.record(by, "resumed a webhook", endpoint.name)
    send_off(list(Delivery.objects.filter(endpoint=endpoint, state=State.WAITING).order_by("pk")))
    return True
