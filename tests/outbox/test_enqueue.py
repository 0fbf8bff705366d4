"""Putting work into the outbox."""

from __future__ import annotations

import pytest
from celery import current_app
from django.db import transaction
from pytest_django import DjangoCaptureOnCommitCallbacks

from emma_eval.outbox.enqueue import enqueue
from emma_eval.outbox.models import Row

pytestmark = pytest.mark.data_layer


class Broker:
    """Notes what was sent, or is down."""

    def __init__(self, *, is_down: bool = False) -> None:
        self.sent: list[tuple[str, list[int]]] = []
        self.is_down = is_down

    def send_task(self, name: str, args: list[int], **options: object) -> None:
        if self.is_down:
            raise ConnectionRefusedError
        self.sent.append((name, args))


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    made = Broker()
    monkeypatch.setattr(current_app, "send_task", made.send_task)
    return made


@pytest.mark.django_db
def test_it_wakes_a_worker_after_the_commit_and_not_before(
    broker: Broker, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        row = enqueue("tests.write_down", path="nowhere")
        assert broker.sent == []
    assert broker.sent == [("outbox.deliver", [row.pk])]


@pytest.mark.django_db(transaction=True)
def test_a_change_that_is_rolled_back_leaves_no_work(broker: Broker) -> None:
    with transaction.atomic():
        enqueue("tests.write_down", path="nowhere")
        transaction.set_rollback(True)
    assert not Row.objects.exists()
    assert broker.sent == []


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_down_breaks_nothing_and_loses_nothing(broker: Broker) -> None:
    broker.is_down = True
    row = enqueue("tests.write_down", path="nowhere")
    assert Row.objects.get().pk == row.pk
