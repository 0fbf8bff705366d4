"""How accounts come into being."""

from __future__ import annotations

import pytest
from django.core import mail

from emma_eval.accounts.invite import invited_account
from emma_eval.accounts.models import Invitation, User
from emma_eval.accounts.roles import Role
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


def test_a_person_that_a_sheet_names_becomes_a_tester_who_cannot_sign_in_yet() -> None:
    made = invited_account("  New.Tester@Example.test ")
    assert made.email == "new.tester@example.test"
    assert not made.has_usable_password()
    assert User.objects.get(pk=made.pk).roles == {Role.TESTER}
    assert (Invitation.objects.count(), mail.outbox) == (0, [])


def test_a_person_that_a_sheet_names_twice_is_one_person() -> None:
    assert invited_account("new@example.test") == invited_account("NEW@example.test")


def test_an_account_that_exists_is_left_as_it_is() -> None:
    known = make.user("known@example.test", Role.MANAGER)
    assert invited_account("Known@Example.test") == known
    again = User.objects.get(pk=known.pk)
    assert (again.roles, again.password) == ({Role.MANAGER}, known.password)
