"""Receivers that take their time hold up their owner's deliveries alone: mail and others' webhooks go out at once."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connections
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.outbox import tasks
from emma_eval.outbox.deliver import deliver as work_on
from emma_eval.outbox.models import Row
from emma_eval.webhooks import deliver, turns
from emma_eval.webhooks.announce import DELIVER, announce
from emma_eval.webhooks.models import Delivery, State
from tests.outbox import handlers  # noqa: F401  (registers the handlers)
from tests.receivers import Receiver, raw, serving
from tests.webhooks.hooks import endpoint

A_WORKERS_THREADS = 4
DRIPS_FOR_S = 3


def _work(row_id: int) -> float:
    """As a thread of the worker does; when it was over."""
    try:
        work_on(row_id)
        return time.monotonic()
    finally:
        connections.close_all()


@pytest.mark.django_db(transaction=True)
@pytest.mark.data_layer
def test_a_mail_and_a_healthy_webhook_do_not_wait_for_those_who_drip(
    manager: User,
    eval_member: User,
    receiver: Receiver,
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = deliver.Limits(connect_s=2, read_s=2, whole_s=DRIPS_FOR_S, most_bytes=10_000)
    monkeypatch.setattr(deliver, "LIMITS", limits)
    with serving(raw(*[b"H"] * 20, every_s=0.4)) as dripping:
        for _ in range(18):
            endpoint(manager, dripping.url)
        endpoint(eval_member, receiver.url)
        announce(kind, "17", owner=manager)
        announce(kind, "17", owner=eval_member)
        mail = Row.objects.create(
            handler="tests.write_down", payload={"path": str(tmp_path / "mail")}, next_try_at=timezone.now()
        )
        rows = list(Row.objects.order_by("pk").values_list("pk", flat=True))
        assert rows[-1] == mail.pk
        began = time.monotonic()
        with ThreadPoolExecutor(A_WORKERS_THREADS) as worker:
            over = [each - began for each in worker.map(_work, rows)]
    assert max(over) > DRIPS_FOR_S - 0.5, "somebody did drip"
    assert over[-1] < DRIPS_FOR_S - 1, "the mail"
    assert over[-2] < DRIPS_FOR_S - 1, "the healthy webhook"
    assert (tmp_path / "mail").exists()
    assert Delivery.objects.get(endpoint__owner=eval_member).state == State.DELIVERED
    untried = Row.objects.filter(handler=DELIVER, attempts=0, done_at=None)
    assert untried.count() >= 10, "what waited for its turn has lost no try"


@pytest.mark.django_db
@pytest.mark.data_layer
def test_the_end_of_a_try_wakes_what_waited_for_it(manager: User, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[int] = []
    monkeypatch.setattr(turns, "wake", woken.append)
    turns._waiting.clear()
    endpoint(manager)
    announce(kind, "17")
    row = Row.objects.get(handler=DELIVER)
    with turns.turn_of(manager.pk):
        work_on(row.pk)
        assert woken == []
    assert woken == [row.pk]


@pytest.mark.django_db
@pytest.mark.data_layer
def test_the_sweep_comes_to_deliveries_last(manager: User, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint(manager)
    announce(kind, "17")
    Row.objects.create(handler="tests.write_down", payload={}, next_try_at=timezone.now())
    order: list[int] = []
    monkeypatch.setattr(tasks.act, "deliver", order.append)
    tasks.sweep()
    assert [Row.objects.get(pk=pk).handler for pk in order] == ["tests.write_down", DELIVER]
