"""Who is behind a sign-in is asked once a request, with their rights, and anew at each."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from emma_eval.accounts.backend import Backend
from emma_eval.accounts.models import Training, User
from emma_eval.accounts.roles import Role
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


def test_a_person_with_roles_and_training_is_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    made = make.user("tara@example.test", Role.TESTER, Role.MANAGER, is_trained=True)
    with django_assert_num_queries(1):
        found = Backend().get_user(made.pk)
        assert found == made
        assert found.roles == {Role.TESTER, Role.MANAGER}
        assert found.is_trained


def test_somebody_without_role_or_training_is_found_too(tester: User) -> None:
    tester.groups.clear()
    found = Backend().get_user(tester.pk)
    assert found == tester
    assert (found.roles, found.is_trained) == (frozenset(), False)


def test_a_group_that_is_no_role_gives_no_rights(tester: User) -> None:
    tester.groups.set([Group.objects.create(name="choir")])
    found = Backend().get_user(tester.pk)
    assert found is not None
    assert found.roles == frozenset()


@pytest.mark.parametrize(
    ("first", "last", "is_trained"), [(-9, None, True), (-9, 0, True), (-9, -1, False), (1, 9, False)]
)
def test_training_counts_on_its_days_alone(tester: User, first: int, last: int | None, is_trained: bool) -> None:
    today = timezone.localdate()
    ends_on = None if last is None else today + timedelta(days=last)
    Training.objects.create(user=tester, starts_on=today + timedelta(days=first), ends_on=ends_on)
    found = Backend().get_user(tester.pk)
    assert found is not None
    assert found.is_trained == is_trained


def test_nobody_is_behind_an_account_that_is_closed_or_gone(tester: User) -> None:
    User.objects.filter(pk=tester.pk).update(is_active=False)
    assert Backend().get_user(tester.pk) is None
    assert Backend().get_user(tester.pk + 1_000) is None


def test_rights_that_are_taken_away_are_gone_on_the_next_request(trained_eval_member: User, client: Client) -> None:
    script = make.script("hard-talk", area="safety")
    client.force_login(trained_eval_member)
    address = script.get_absolute_url()
    assert client.get(address).status_code == 200
    Training.objects.update(revoked_at=timezone.now())
    assert client.get(address).status_code == 404
    assert client.get("/builds/").status_code == 200
    trained_eval_member.groups.clear()
    assert client.get("/builds/").status_code == 403
