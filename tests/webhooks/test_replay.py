"""Sending again what is settled, with the same id; and tests."""

from __future__ import annotations

import json

import pytest
from standardwebhooks import Webhook

from emma_eval.accounts.models import User
from emma_eval.webhooks.announce import announce
from emma_eval.webhooks.models import Delivery, State, Try
from emma_eval.webhooks.pause import pause, resume
from emma_eval.webhooks.replay import replay, send_test
from tests.receivers import Receiver, answer, in_turn, serving

from .hooks import endpoint, rows, work, work_to_the_end

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]


def test_what_was_taken_can_be_sent_again_with_the_same_id(manager: User, receiver: Receiver, kind: str) -> None:
    to = endpoint(manager, receiver.url)
    announce(kind, "7")
    work()
    assert replay(Delivery.objects.select_related("endpoint").get())
    work()
    first, second = receiver.heard
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert Webhook(to.secret).verify(second.body, second.headers)
    assert (Delivery.objects.get().state, Try.objects.count()) == (State.DELIVERED, 2)


def test_what_was_given_up_gets_all_its_tries_anew(manager: User, kind: str) -> None:
    with serving(answer(500)) as there:
        endpoint(manager, there.url)
        announce(kind, "7")
        work_to_the_end()
        tries = len(there.heard)
        there.talk = in_turn(answer(500), answer(200))
        assert replay(Delivery.objects.select_related("endpoint").get())
        work_to_the_end()
        assert len(there.heard) == tries + 2
    assert Delivery.objects.get().state == State.DELIVERED


def test_what_is_told_is_what_may_be_told_now(receiver: Receiver, manager: User, kind: str) -> None:
    endpoint(manager, receiver.url)
    announce(kind, "7")
    work()
    User.objects.update(name="Not told")
    replay(Delivery.objects.select_related("endpoint").get())
    work()
    assert len(receiver.heard) == 1
    assert Delivery.objects.get().state == State.WITHHELD
    User.objects.update(name="")
    replay(Delivery.objects.select_related("endpoint").get())
    work()
    assert len(receiver.heard) == 2


def test_what_is_on_its_way_is_not_sent_twice(manager: User, receiver: Receiver, kind: str) -> None:
    endpoint(manager, receiver.url)
    announce(kind, "7")
    waiting = Delivery.objects.select_related("endpoint").get()
    assert not replay(waiting)
    work_to_the_end()
    assert [replay(waiting), replay(waiting)] == [True, False]
    assert len(rows()) == 1


def test_a_test_goes_the_whole_road_whatever_kinds_were_chosen(manager: User, receiver: Receiver) -> None:
    to = endpoint(manager, receiver.url, kinds=[])
    send_test(to)
    work()
    [heard] = receiver.heard
    assert Webhook(to.secret).verify(heard.body, heard.headers)
    assert json.loads(heard.body)["type"] == "endpoint.test"


def test_for_a_paused_endpoint_it_waits_until_it_is_resumed(manager: User, receiver: Receiver, kind: str) -> None:
    to = endpoint(manager, receiver.url)
    announce(kind, "7")
    work()
    pause(to, manager, "Paused by hand.")
    assert replay(Delivery.objects.select_related("endpoint").get())
    assert rows() == []
    resume(to, manager)
    work()
    assert len(receiver.heard) == 2
