"""What several people, or one impatient one, do at the same moment."""

from __future__ import annotations

import pytest
from django.utils import timezone

from emma_eval.accounts import change_access, invite, throttle
from emma_eval.accounts.invite import invited_account
from emma_eval.accounts.models import Attempt, AuditEntry, Invitation, Training, User
from emma_eval.accounts.personal_data.erase_person import erase_person
from emma_eval.accounts.roles import Role
from tests import make
from tests.at_once import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.data_layer]


def test_two_administrators_cannot_remove_each_other() -> None:
    first, second = (make.user(f"{name}@example.test", Role.ADMINISTRATOR) for name in ("first", "second"))
    answers = at_once(
        lambda: change_access.change_roles(first, set(), second),
        lambda: change_access.change_roles(second, set(), first),
    )
    assert sorted(type(answer).__name__ for answer in answers) == ["LastAdministratorError", "NoneType"]
    assert User.objects.filter(groups__name=Role.ADMINISTRATOR.value).count() == 1


def test_one_who_is_deactivated_while_their_role_is_taken_keeps_nobody_waiting() -> None:
    keeper = make.user("keeper@example.test", Role.ADMINISTRATOR)
    for number in range(8):
        leaving = make.user(f"leaving-{number}@example.test", Role.ADMINISTRATOR)
        answers = at_once(
            lambda leaving=leaving: change_access.deactivate(leaving, keeper),
            lambda leaving=leaving: change_access.change_roles(leaving, {Role.TESTER}, keeper),
        )
        assert answers == [None, None]
        assert not User.objects.get(pk=leaving.pk).is_active


def test_two_who_erase_each_other_keep_nobody_waiting() -> None:
    make.user("keeper@example.test", Role.ADMINISTRATOR)
    for number in range(8):
        first, second = (make.user(f"{name}-{number}@example.test") for name in ("first", "second"))
        answers = at_once(lambda: erase_person(first, second), lambda: erase_person(second, first))  # noqa: B023
        assert answers == [True, True]


def test_administrators_who_do_everything_to_each_other_at_once_all_get_an_answer() -> None:
    """Whoever is locked first, nobody waits in a ring, and somebody who can look after people is always left."""
    for number in range(4):
        a, b, c, d = (make.user(f"{name}-{number}@example.test", Role.ADMINISTRATOR) for name in "abcd")
        grants = [Training(user=user, starts_on=timezone.localdate()) for user in (a, c)]
        answers = at_once(
            lambda: erase_person(a, b),  # noqa: B023
            lambda: erase_person(b, a),  # noqa: B023
            lambda: change_access.deactivate(c, d),  # noqa: B023
            lambda: change_access.deactivate(d, c),  # noqa: B023
            lambda: change_access.change_roles(a, set(), d),  # noqa: B023
            lambda: change_access.change_roles(d, set(), b),  # noqa: B023
            lambda: change_access.grant_training(grants[0], c),  # noqa: B023
            lambda: change_access.grant_training(grants[1], a),  # noqa: B023
        )
        refused = (change_access.LastAdministratorError, change_access.ErasedError)
        odd = [answer for answer in answers if isinstance(answer, Exception) and not isinstance(answer, refused)]
        assert odd == []
        assert User.objects.filter(groups__name=Role.ADMINISTRATOR.value, is_active=True).count() >= 1
        assert len({found.pk for found in User.objects.filter(erased_at=None)} & {a.pk, b.pk}) <= 1
        User.objects.filter(pk__in=[a.pk, b.pk, c.pk, d.pk]).update(is_active=False)


def test_somebody_who_is_erased_at_that_moment_is_not_let_in_again() -> None:
    keeper = make.user("keeper@example.test", Role.ADMINISTRATOR)
    for number in range(4):
        leaving = make.user(f"leaving-{number}@example.test", is_active=False)
        at_once(lambda: erase_person(leaving, keeper), lambda: change_access.reactivate(leaving, keeper))  # noqa: B023
        found = User.objects.get(pk=leaving.pk)
        assert (found.erased_at is not None, found.is_active) == (True, False)


def test_an_invitation_opened_twice_is_accepted_once() -> None:
    made = invite.invite("new@example.test", "", {Role.TESTER}, None)
    copies = [Invitation.objects.select_related("user").get(pk=made.pk) for _ in range(5)]
    answers = at_once(*(lambda copy=copy: invite.accept(copy, "New", make.PASSWORD) for copy in copies))
    assert sorted(answers) == [False] * 4 + [True]
    assert AuditEntry.objects.filter(action="accepted an invitation").count() == 1


def test_two_invitations_of_one_address_make_one_account() -> None:
    answers = at_once(*[lambda: invite.invite("new@example.test", "", {Role.TESTER}, None)] * 5)
    assert sorted(type(answer).__name__ for answer in answers) == ["AddressTakenError"] * 4 + ["Invitation"]
    assert User.objects.count() == Invitation.objects.count() == 1


def test_one_sheet_read_twice_makes_one_account() -> None:
    answers = at_once(*[lambda: invited_account("new@example.test")] * 5)
    assert len({answer.pk for answer in answers}) == 1
    assert answers[0].roles == {Role.TESTER}


def test_passwords_tried_all_at_once_are_counted_too() -> None:
    answers = at_once(*[lambda: throttle.spend(throttle.SIGN_IN, "somebody")] * 20)
    let_through = [answer for answer in answers if isinstance(answer, Attempt)]
    # Keys can be committed out of order, so one more may slip through; the next ten minutes it is counted.
    assert 10 <= len(let_through) <= 12
    assert all(isinstance(answer, Attempt | throttle.TooManyError) for answer in answers)
