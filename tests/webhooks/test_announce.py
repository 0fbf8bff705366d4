"""Announcing: in the transaction of what happened, one delivery for each endpoint that is told of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.outbox.models import Row
from emma_eval.webhooks.announce import announce
from emma_eval.webhooks.models import Delivery, State
from tests import make

from .hooks import endpoint, rows

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]


def test_it_costs_one_query_where_nobody_is_told(manager: User, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        announce("tests.event", 1)
    endpoint(manager, kinds=["another.event"])
    with django_assert_num_queries(1):
        announce("tests.event", 1)
    assert not Delivery.objects.exists()


def test_each_endpoint_that_chose_the_kind_gets_one_with_the_same_id(manager: User, eval_member: User) -> None:
    told = {endpoint(manager).pk, endpoint(manager).pk, endpoint(eval_member).pk}
    endpoint(manager, kinds=["another.event"])
    announce("tests.event", 42, is_safety=True, script="a-script")
    made = list(Delivery.objects.all())
    assert {each.endpoint_id for each in made} == told
    assert len({each.event for each in made}) == 1
    assert {(each.kind, each.subject, each.state) for each in made} == {("tests.event", "42", State.WAITING)}
    assert {(each.is_safety, each.script) for each in made} == {(True, "a-script")}
    assert sorted(row.payload["delivery"] for row in rows()) == sorted(each.pk for each in made)


def test_two_events_have_two_ids(manager: User) -> None:
    endpoint(manager)
    announce("tests.event", 1)
    announce("tests.event", 1)
    assert len(set(Delivery.objects.values_list("event", flat=True))) == 2


def test_what_is_for_one_person_goes_to_their_endpoints_alone(manager: User, eval_member: User) -> None:
    own = endpoint(manager)
    endpoint(eval_member)
    announce("tests.event", 1, owner=manager)
    assert Delivery.objects.get().endpoint == own


def test_for_a_paused_endpoint_it_is_kept_and_not_sent_off(manager: User) -> None:
    endpoint(manager, paused_at=timezone.now())
    announce("tests.event", 1)
    assert Delivery.objects.get().state == State.WAITING
    assert rows() == []


@pytest.mark.django_db(transaction=True)
def test_what_did_not_happen_is_not_told(db: None) -> None:
    endpoint(make.user(None))
    with transaction.atomic():
        announce("tests.event", 1)
        transaction.set_rollback(True)
    assert not Delivery.objects.exists()
    assert not Row.objects.exists()
