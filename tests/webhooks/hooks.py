"""Endpoints for tests, and a worker that does not wait for the clock."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.outbox.deliver import MOST_ATTEMPTS, deliver
from emma_eval.outbox.models import Row
from emma_eval.webhooks import tasks  # noqa: F401  (registers the handlers)
from emma_eval.webhooks.announce import DELIVER
from emma_eval.webhooks.kinds import TEST
from emma_eval.webhooks.models import Delivery, Endpoint
from emma_eval.webhooks.sign import new_secret
from tests.receivers import Receiver

KINDS = ["result.filed", "result.corrected", "result.reviewed", "tests.event"]


def endpoint(owner: User, url: str = "https://hooks.example.test/", **fields: Any) -> Endpoint:
    return Endpoint.objects.create(
        owner=owner, **{"name": "Team dashboard", "url": url, "kinds": KINDS, "secret": new_secret(), **fields}
    )


def delivery(to: Endpoint, **fields: Any) -> Delivery:
    """One that is not on its way: whatever is wanted of it is said."""
    said = {"event": f"evt_{Delivery.objects.count()}", "kind": TEST, "occurred_at": timezone.now()}
    return Delivery.objects.create(endpoint=to, **{**said, **fields})


def rows() -> list[Row]:
    return list(Row.objects.filter(handler=DELIVER, done_at=None, set_aside_at=None).order_by("pk"))


def work(times: int = 1) -> None:
    """Do all deliveries that are on their way, so many times, as if each had come due."""
    for _ in range(times):
        for row in rows():
            Row.objects.filter(pk=row.pk).update(next_try_at=timezone.now(), lease_until=None)
            deliver(row.pk)


def work_to_the_end() -> None:
    work(MOST_ATTEMPTS)
    assert rows() == []


def bodies(receiver: Receiver) -> list[bytes]:
    return [heard.body for heard in receiver.heard]
