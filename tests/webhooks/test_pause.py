"""Pausing an endpoint: by hand, because it keeps failing, because it wants nothing more; and resuming it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.outbox.deliver import deliver as do_row
from emma_eval.outbox.models import Row
from emma_eval.webhooks.announce import announce
from emma_eval.webhooks.models import Delivery, Endpoint, State
from emma_eval.webhooks.pause import MAIL_PAUSED, MOST_GIVEN_UP, pause, resume
from tests.receivers import Receiver, answer, serving

from .hooks import delivery, endpoint, rows, work, work_to_the_end

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]


def fail(to: Endpoint, kind: str, times: int = 1) -> None:
    for _ in range(times):
        announce(kind, "7")
        work_to_the_end()


def test_after_five_in_a_row_that_were_given_up_it_is_paused_and_its_owner_is_told(
    manager: User, kind: str, mailoutbox: list[Any]
) -> None:
    with serving(answer(500)) as there:
        to = endpoint(manager, there.url + "/key-in-the-path")
        fail(to, kind, MOST_GIVEN_UP - 1)
        to.refresh_from_db()
        assert to.paused_at is None
        fail(to, kind)
    to.refresh_from_db()
    assert to.paused_at is not None
    assert to.why_paused == "The last 5 deliveries were given up."
    for row in Row.objects.filter(handler=MAIL_PAUSED):
        do_row(row.pk)
    [mail] = mailoutbox
    assert mail.to == [manager.email]
    assert "Team dashboard" in mail.body
    assert f"/webhooks/{to.pk}/" in mail.body
    assert "key-in-the-path" not in mail.body
    assert to.secret not in mail.body
    entry = AuditEntry.objects.get(action="paused a webhook")
    assert (entry.actor, entry.target) == (None, "Team dashboard")


def test_one_that_was_taken_between_them_starts_the_count_anew(manager: User, kind: str) -> None:
    with serving(answer(500)) as there:
        to = endpoint(manager, there.url)
        fail(to, kind, MOST_GIVEN_UP - 1)
        there.talk = answer(200)
        fail(to, kind)
        there.talk = answer(500)
        fail(to, kind, MOST_GIVEN_UP - 1)
    to.refresh_from_db()
    assert to.paused_at is None


def test_410_pauses_it_at_once(manager: User, kind: str) -> None:
    with serving(answer(410)) as there:
        to = endpoint(manager, there.url)
        fail(to, kind)
        assert len(there.heard) == 1
    to.refresh_from_db()
    assert to.why_paused == "127.0.0.1 answered 410: it wants nothing more."
    assert Delivery.objects.get().state == State.FAILED


def test_an_owner_who_has_no_right_any_more_gets_no_mail(manager: User, mailoutbox: list[Any]) -> None:
    to = endpoint(manager)
    manager.groups.clear()
    pause(to, None, "The last 5 deliveries were given up.")
    do_row(Row.objects.get(handler=MAIL_PAUSED).pk)
    assert mailoutbox == []


def test_nobody_is_mailed_about_what_they_paused_themselves(manager: User) -> None:
    pause(endpoint(manager), manager, "Paused by hand.")
    assert not Row.objects.filter(handler=MAIL_PAUSED).exists()


def test_what_happens_during_a_pause_goes_out_in_order_when_it_is_resumed(
    manager: User, receiver: Receiver, kind: str
) -> None:
    to = endpoint(manager, receiver.url)
    announce(kind, "before")
    pause(to, manager, "Paused by hand.")
    for subject in ("first", "second", "third"):
        announce(kind, subject)
    work_to_the_end()
    assert receiver.heard == []
    assert set(Delivery.objects.values_list("state", flat=True)) == {State.WAITING}
    assert resume(to, manager)
    work_to_the_end()
    said = [heard.body.decode() for heard in receiver.heard]
    assert [next(word for word in ("before", "first", "second", "third") if word in body) for body in said] == [
        "before",
        "first",
        "second",
        "third",
    ]


def test_pausing_and_resuming_twice_is_once(manager: User) -> None:
    to = endpoint(manager)
    assert [pause(to, manager, "a"), pause(to, manager, "b")] == [True, False]
    to.refresh_from_db()
    assert to.why_paused == "a"
    assert [resume(to, manager), resume(to, manager)] == [True, False]
    to.refresh_from_db()
    assert (to.paused_at, to.why_paused) == (None, "")
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["paused a webhook", "resumed a webhook"]


def test_resuming_forgets_what_it_was_to_be_left_in_peace_for(manager: User, receiver: Receiver, kind: str) -> None:
    to = endpoint(manager, receiver.url, paused_at=timezone.now(), held_until=timezone.now() + timedelta(hours=1))
    delivery(to, kind=kind)
    resume(to, manager)
    assert len(rows()) == 1
    work()
    assert Delivery.objects.get().state == State.DELIVERED
