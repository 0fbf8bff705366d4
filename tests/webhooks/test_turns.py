"""Receivers that take their time hold up their owner's deliveries alone: mail and others' webhooks go out at once."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db import connections
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from emma_eval.outbox import tasks
from emma_eval.outbox.deliver import deliver as work_on
from emma_eval.outbox.models import Row
from emma_eval.webhooks import deliver, turns
from emma_eval.webhooks.announce import DELIVER, announce
from emma_eval.webhooks.models import Delivery, Endpoint, State, Try
from tests import make
from tests.outbox import handlers  # noqa: F401  (registers the handlers)
from tests.receivers import Receiver, answer, late, raw, serving
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
    to = endpoint(manager)
    announce(kind, "17")
    row = Row.objects.get(handler=DELIVER)
    with turns.turn_of(manager.pk, to.pk):
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


# --- owners who let the whole site wait ---------------------------------------------------------------


@dataclass
class Worker:
    """Threads that do what is woken, in the order in which it comes, as a worker of Celery does."""

    woken: queue.Queue[int | None] = field(default_factory=queue.Queue)

    def run(self) -> None:
        while (row := self.woken.get()) is not None:
            work_on(row)
        connections.close_all()


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    made = Worker()
    monkeypatch.setattr(turns, "wake", made.woken.put)
    threads = [threading.Thread(target=made.run) for _ in range(A_WORKERS_THREADS)]
    for each in threads:
        each.start()
    yield made
    for _ in threads:
        made.woken.put(None)
    for each in threads:
        each.join()


def in_time(is_so: Callable[[], bool], within_s: float) -> float:
    """How long it took, no more than this."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < within_s, "it took too long"
        time.sleep(0.02)
    return time.monotonic() - began


def set_up(hostile: list[User], at: Receiver, monkeypatch: pytest.MonkeyPatch, *, whole_s: float) -> None:
    """A dozen endpoints each that never answer, and a minute of peace for them that is over at once."""
    monkeypatch.setattr(deliver, "LIMITS", deliver.Limits(1, whole_s, whole_s, 10_000))
    monkeypatch.setattr(deliver, "SHORT", deliver.Limits(0.3, 0.3, 0.3, 10_000))
    monkeypatch.setattr(deliver, "WAIT_FOR_A_SLOW_ONE", timedelta(0))
    for owner in hostile:
        for _ in range(12):
            endpoint(owner, at.url)


def on_their_way(worker: Worker, kind: str, *owners: User) -> None:
    before = set(Row.objects.values_list("pk", flat=True))
    for owner in owners:
        announce(kind, "17", owner=owner)
    for row in Row.objects.exclude(pk__in=before).order_by("pk"):
        worker.woken.put(row.pk)


def delivered_to(*owners: User) -> int:
    return Delivery.objects.filter(endpoint__owner__in=owners, state=State.DELIVERED).count()


@pytest.mark.django_db(transaction=True)
@pytest.mark.data_layer
@pytest.mark.parametrize("is_known", [True, False])
def test_two_owners_whose_endpoints_never_answer_delay_nobody_else(
    is_known: bool,
    receiver: Receiver,
    kind: str,
    worker: Worker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hostile, honest = [make.user(None, Role.MANAGER) for _ in range(2)], [make.user(None, Role.MANAGER) for _ in "ab"]
    with serving(raw(hangs_s=8)) as silent:
        set_up(hostile, silent, monkeypatch, whole_s=3)
        for owner in honest:
            endpoint(owner, receiver.url)
        if is_known:
            on_their_way(worker, kind, *honest)
            in_time(lambda: delivered_to(*honest) == 2, 3)
        on_their_way(worker, kind, *hostile, *hostile)
        in_time(lambda: len(silent.heard) >= 2, 3)
        for events in range(1, 4):
            on_their_way(worker, kind, *honest)
            wanted = 2 * (events + is_known)
            in_time(lambda wanted=wanted: delivered_to(*honest) == wanted, 1.5)
        assert delivered_to(*hostile) == 0
        assert Row.objects.filter(done_at=None, handler=DELIVER).count() > 40, "and they still wait"
        Endpoint.objects.filter(owner__in=hostile).update(paused_at=timezone.now())


@pytest.mark.django_db(transaction=True)
@pytest.mark.data_layer
def test_owners_take_turns_also_where_all_of_them_are_slow(
    kind: str, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The honest one needs a second for each answer, more than a short try has: it is told after two others' turns."""
    hostile, honest = [make.user(None, Role.MANAGER) for _ in range(2)], make.user(None, Role.MANAGER)
    with serving(raw(hangs_s=8)) as silent, serving(late(answer(204), 0.6)) as slow:
        set_up(hostile, silent, monkeypatch, whole_s=1)
        endpoint(honest, slow.url)
        on_their_way(worker, kind, *hostile, *hostile, *hostile)
        in_time(lambda: len(silent.heard) >= 2, 3)
        on_their_way(worker, kind, honest)
        in_time(lambda: delivered_to(honest) == 1, 6)
        assert len(silent.heard) < 20
        Endpoint.objects.filter(owner__in=hostile).update(paused_at=timezone.now())


@pytest.mark.django_db
@pytest.mark.data_layer
def test_a_try_that_is_cut_short_costs_none_and_is_made_again_with_more_time(
    manager: User, eval_member: User, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliver, "SHORT", deliver.Limits(0.3, 0.3, 0.3, 10_000))
    with serving(late(answer(204), 0.6)) as slow:
        to, other = endpoint(manager, slow.url), endpoint(eval_member)
        announce(kind, "17", owner=manager)
        row = Row.objects.get(handler=DELIVER)
        with turns.turn_of(eval_member.pk, other.pk) as long_one:
            assert not long_one.is_short
            work_on(row.pk)
            row.refresh_from_db()
            assert (row.attempts, row.set_aside_at) == (0, None)
            work_on(row.pk)
            assert len(slow.heard) == 1, "no second short try"
        work_on(row.pk)
    first, second = slow.heard
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert Delivery.objects.get().state == State.DELIVERED
    assert [each.status for each in Try.objects.order_by("pk")] == [None, 204]
    to.refresh_from_db()
    assert to.held_until is None


@pytest.mark.django_db
def test_a_turn_that_is_kept_for_a_row_which_needs_none_goes_to_the_next(
    manager: User, eval_member: User, tester: User, kind: str, monkeypatch: pytest.MonkeyPatch, settings: LazySettings
) -> None:
    settings.WEBHOOKS_AT_ONCE = 1
    woken: list[int] = []
    monkeypatch.setattr(turns, "wake", woken.append)
    held, other = endpoint(manager), endpoint(eval_member)
    for owner in (manager, eval_member):
        announce(kind, "17", owner=owner)
    first, second = Row.objects.order_by("pk").values_list("pk", flat=True)
    with turns.turn_of(tester.pk, 0):
        work_on(first)
        work_on(second)
    assert woken == [first]
    Endpoint.objects.filter(pk=held.pk).update(held_until=timezone.now() + timedelta(minutes=1))
    work_on(first)
    assert woken == [first, second]
    assert other.owner_id == eval_member.pk
