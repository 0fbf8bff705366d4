"""What is over is let go of, and what no worker knows of is found."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.outbox.models import Row
from emma_eval.webhooks.forget_deliveries import KEPT_FOR, MISSED_AFTER
from emma_eval.webhooks.models import Delivery, Endpoint, State, Try
from emma_eval.webhooks.tasks import forget_deliveries

from .hooks import delivery, endpoint, rows

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]
MINUTE = timedelta(minutes=1)


def test_deliveries_go_after_thirty_days_with_their_tries(manager: User) -> None:
    to, now = endpoint(manager), timezone.now()
    old = delivery(to, occurred_at=now - KEPT_FOR - MINUTE, state=State.DELIVERED)
    Try.objects.create(delivery=old, at=now, took_ms=1)
    kept = delivery(to, occurred_at=now - KEPT_FOR + MINUTE, state=State.DELIVERED)
    forget_deliveries()
    forget_deliveries()
    assert list(Delivery.objects.all()) == [kept]
    assert not Try.objects.exists()


def test_a_secret_that_signs_no_more_is_gone(manager: User) -> None:
    over = endpoint(manager, old_secret="whsec_a", old_secret_until=timezone.now() - MINUTE)
    rotating = endpoint(manager, old_secret="whsec_b", old_secret_until=timezone.now() + MINUTE)
    forget_deliveries()
    assert Endpoint.objects.get(pk=over.pk).old_secret == ""
    assert Endpoint.objects.get(pk=rotating.pk).old_secret == "whsec_b"


def test_one_that_waits_without_a_row_is_sent_off_again(manager: User) -> None:
    long_ago = timezone.now() - MISSED_AFTER - MINUTE
    to = endpoint(manager)
    missed = delivery(to, occurred_at=long_ago)
    killed_its_workers = delivery(to, occurred_at=long_ago)
    Row.objects.create(
        handler="webhooks.deliver",
        payload={"delivery": killed_its_workers.pk},
        next_try_at=long_ago,
        set_aside_at=long_ago,
    )
    delivery(to, occurred_at=long_ago, state=State.FAILED)
    delivery(to)
    delivery(endpoint(manager, paused_at=long_ago), occurred_at=long_ago)
    forget_deliveries()
    forget_deliveries()
    assert [row.payload["delivery"] for row in rows()] == [missed.pk, killed_its_workers.pk]


def test_it_is_done_by_the_clock() -> None:
    assert {"task": "webhooks.forget_deliveries", "schedule": 3600.0} in settings.CELERY_BEAT_SCHEDULE.values()
