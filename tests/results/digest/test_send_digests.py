"""A digest goes out once a week: by mail and by signed webhook, whoever asks, whatever happens on the way."""

from __future__ import annotations

import threading
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core import mail
from django.db import connection
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from emma_eval.outbox import deliver
from emma_eval.outbox.models import Row
from emma_eval.webhooks.models import Delivery, Endpoint
from results import tasks
from results.digest.send_digests import MAIL, send_digests
from results.models import Digest, SavedView
from tests import make

MONDAY = datetime(2026, 11, 30, 0, 0, 0, tzinfo=UTC)  # 8 in the morning in Hong Kong
pytestmark = [pytest.mark.data_layer]


def view_of(owner: User, name: str = "Everyday", **fields: Any) -> SavedView:
    said = {"path": "/dashboard/", "query": "build=any", "is_mailed": True, **fields}
    return SavedView.objects.create(owner=owner, name=name, **said)


def waiting() -> list[Row]:
    return list(Row.objects.filter(handler=MAIL, done_at=None))


@pytest.mark.django_db
def test_each_view_that_is_mailed_goes_out_once_a_week(manager: User) -> None:
    view_of(manager)
    view_of(manager, "not mailed", is_mailed=False)
    assert send_digests(MONDAY - timedelta(seconds=1)) == 1, "that of the week before, which was never sent"
    assert send_digests(MONDAY) == 1
    assert send_digests(MONDAY) == 0
    assert send_digests(MONDAY + timedelta(days=6, hours=15)) == 0
    assert send_digests(MONDAY + timedelta(days=7)) == 1
    assert sorted(Digest.objects.values_list("week", flat=True)) == [
        date(2026, 11, 23),
        date(2026, 11, 30),
        date(2026, 12, 7),
    ]
    assert len(waiting()) == 3


@pytest.mark.django_db
def test_a_site_that_was_down_on_monday_sends_it_when_it_is_back(manager: User) -> None:
    view_of(manager)
    assert send_digests(MONDAY + timedelta(days=2)) == 1
    assert Digest.objects.get().week == date(2026, 11, 30)


@pytest.mark.django_db
def test_who_has_left_gets_none(manager: User) -> None:
    view_of(manager)
    User.objects.filter(pk=manager.pk).update(is_active=False)
    assert send_digests(MONDAY) == 0


@pytest.mark.django_db(transaction=True)
def test_four_who_ask_at_the_same_moment_send_it_once() -> None:
    for number in range(5):
        view_of(make.user(None, Role.MANAGER), f"{number}")
    together = threading.Barrier(4)
    sent: list[int] = []

    def ask() -> None:
        together.wait()
        try:
            sent.append(send_digests(MONDAY))
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(sent), sum(sent)) == (4, 5)
    assert Digest.objects.count() == len(waiting()) == 5


@pytest.mark.django_db
def test_nothing_is_kept_of_one_whose_way_could_not_be_prepared(manager: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the worker died between the row of the digest and that of the mail: all of it stands, or nothing."""
    view_of(manager)

    def die(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("results.digest.send_digests.enqueue", die)
    with pytest.raises(KeyboardInterrupt):
        send_digests(MONDAY)
    assert not Digest.objects.exists()
    monkeypatch.undo()
    assert send_digests(MONDAY) == 1


@pytest.mark.django_db
def test_the_letter_reaches_its_owner_and_a_killed_worker_loses_nothing(manager: User) -> None:
    view_of(manager)
    send_digests(MONDAY)
    (row,) = waiting()
    # A worker took it and was killed: its lease runs out, and the sweep's next try is as good as the first.
    Row.objects.filter(pk=row.pk).update(attempts=1, lease_until=timezone.now() - timedelta(seconds=1))
    assert deliver.deliver(row.pk)
    assert not deliver.deliver(row.pk), "done"
    (message,) = mail.outbox
    assert message.to == [manager.email]
    assert waiting() == []


@pytest.mark.django_db
def test_one_that_is_sent_twice_is_the_same_message(manager: User) -> None:
    view_of(manager)
    send_digests(MONDAY)
    (row,) = waiting()
    tasks.mail_digest(**row.payload)
    tasks.mail_digest(**row.payload)
    first, second = mail.outbox
    assert first.extra_headers["Message-ID"] == second.extra_headers["Message-ID"]
    assert (first.subject, first.body, first.alternatives) == (second.subject, second.body, second.alternatives)


@pytest.mark.django_db
@pytest.mark.parametrize("lost", ["role", "account", "wish", "view"])
def test_what_was_taken_away_by_then_is_not_sent(manager: User, lost: str) -> None:
    """The row is on its way already: rights are those of the moment of sending."""
    view = view_of(manager)
    send_digests(MONDAY)
    (row,) = waiting()
    if lost == "role":
        manager.groups.clear()
    elif lost == "account":
        User.objects.filter(pk=manager.pk).update(is_active=False)
    elif lost == "wish":
        SavedView.objects.update(is_mailed=False)
    else:
        view.delete()
    assert deliver.deliver(row.pk)
    assert mail.outbox == []
    assert waiting() == []


@pytest.mark.django_db
def test_webhooks_of_its_owner_are_told_and_nobody_elses(manager: User, eval_member: User) -> None:
    for owner in (manager, eval_member):
        Endpoint.objects.create(
            owner=owner, name="bot", url="https://hooks.example.test/", kinds=["digest.weekly"], secret="s"
        )
    view_of(manager)
    send_digests(MONDAY)
    send_digests(MONDAY)
    delivery = Delivery.objects.get()
    assert (delivery.endpoint.owner, delivery.kind) == (manager, "digest.weekly")
    assert delivery.subject == str(Digest.objects.get().pk)


@pytest.mark.django_db
def test_beat_asks_often_and_the_task_answers_for_the_present(manager: User) -> None:

    view_of(manager)
    tasks.send_weekly_digests()
    tasks.send_weekly_digests()
    assert Digest.objects.count() == 1
    schedule = settings.CELERY_BEAT_SCHEDULE["send weekly digests"]
    assert (schedule["task"], schedule["schedule"] <= 600) == ("results.send_digests", True)
