"""How accounts come into being."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from django.utils import timezone

from emma_eval.accounts import change_access, invite
from emma_eval.accounts.invite import invited_account
from emma_eval.accounts.models import AuditEntry, Invitation, User
from emma_eval.accounts.roles import Role
from emma_eval.accounts.tasks import mail_invitation
from emma_eval.outbox.deliver import deliver
from emma_eval.outbox.models import Row
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


@pytest.fixture
def link(administrator: User) -> str:
    made = invite.invite("new@example.test", "New", {Role.TESTER}, administrator)
    return f"/invitations/{made.token}/"


def deliver_all() -> None:
    for row in Row.objects.filter(done_at=None, set_aside_at=None):
        deliver(row.pk)


CHOSEN = {"name": "Newton", "password": make.PASSWORD, "password_again": make.PASSWORD}


def test_an_invitation_is_mailed_through_the_outbox(link: str) -> None:
    deliver_all()
    message = mail.outbox[0]
    assert (message.to, message.subject) == (["new@example.test"], "[Emma Eval] You are invited to Emma Eval")
    assert settings.ORIGIN + link in str(message.body)


def test_the_outbox_and_the_database_hold_no_token(link: str) -> None:
    token = link.split("/")[2]
    assert token not in str(Row.objects.get().payload)
    assert token not in str(Invitation.objects.values().get())


def test_a_mail_that_is_sent_twice_says_the_same(link: str) -> None:
    pk = Invitation.objects.get().pk
    mail_invitation(pk)
    mail_invitation(pk)
    assert mail.outbox[0].body == mail.outbox[1].body


def test_an_invitation_taken_back_meanwhile_is_not_mailed(link: str, administrator: User) -> None:
    invite.revoke_invitation(User.objects.get(email="new@example.test"), administrator)
    deliver_all()
    assert (mail.outbox, Row.objects.get().last_error) == ([], "the invitation is no longer open")


def test_a_changed_secret_key_is_said_in_words(link: str) -> None:
    with override_settings(SECRET_KEY="y" * 60):
        deliver_all()
    assert (mail.outbox, Row.objects.get().last_error) == ([], "the secret key changed since; invite again")


def test_it_is_accepted_once_with_a_name_and_a_password(client: Client, link: str) -> None:
    assert "new@example.test" in client.get(link).text
    answer = client.post(link, CHOSEN)
    assert answer["Location"] == "/"
    assert client.get("/scripts/").status_code == 200, "the person is signed in"
    user = User.objects.get(email="new@example.test")
    assert (user.name, user.check_password(make.PASSWORD)) == ("Newton", True)
    again = Client().get(link)
    assert (again.status_code, "This invitation is over" in again.text) == (404, True)


def test_two_answers_at_the_same_moment_set_one_password(link: str) -> None:
    first, second = (Invitation.objects.select_related("user").get() for _ in range(2))
    assert invite.accept(first, "First", make.PASSWORD)
    assert not invite.accept(second, "Second", "somebody-elses-password")
    assert User.objects.get(email="new@example.test").check_password(make.PASSWORD)


@pytest.mark.parametrize(
    "over",
    [
        {"expires_at": timezone.now() - timedelta(seconds=1)},
        {"revoked_at": timezone.now()},
        {"accepted_at": timezone.now()},
    ],
    ids=lambda over: next(iter(over)),
)
def test_a_link_that_is_over_opens_nothing(client: Client, link: str, over: dict[str, Any]) -> None:
    Invitation.objects.update(**over)
    assert client.get(link).status_code == 404
    assert client.post(link, CHOSEN).status_code == 404
    assert not User.objects.get(email="new@example.test").has_usable_password()


def test_a_link_works_for_three_days(link: str) -> None:
    assert abs(Invitation.objects.get().expires_at - timezone.now() - timedelta(hours=72)) < timedelta(minutes=1)


def test_a_made_up_link_looks_like_one_that_is_over(client: Client, link: str) -> None:
    Invitation.objects.update(revoked_at=timezone.now())
    assert client.get("/invitations/made-up/").text == client.get(link).text


def test_a_new_invitation_makes_the_old_link_worthless(client: Client, link: str, administrator: User) -> None:
    again = invite.invite_again(User.objects.get(email="new@example.test"), administrator)
    assert client.get(link).status_code == 404
    assert client.get(f"/invitations/{again.token}/").status_code == 200


def test_an_account_that_was_deactivated_cannot_be_entered_by_its_link(client: Client, link: str) -> None:
    change_access.deactivate(User.objects.get(email="new@example.test"), None)
    assert client.get(link).status_code == 404


def test_somebody_who_is_signed_in_does_not_take_over_the_account_of_another(tester_client: Client, link: str) -> None:
    assert tester_client.get(link).status_code == 409
    assert tester_client.post(link, CHOSEN).status_code == 409
    assert not User.objects.get(email="new@example.test").has_usable_password()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": "  "}, "Enter your name."),
        ({"password": ""}, "Choose a password."),
        ({"password_again": ""}, "Enter the password once more."),
        ({"password_again": "another"}, "The two passwords are not the same."),
        ({"password": "short", "password_again": "short"}, "at least 10 characters"),
        ({"password": "new@example.test", "password_again": "new@example.test"}, "too similar"),
    ],
)
def test_what_is_wrong_with_an_answer_is_said_beside_its_field(
    client: Client, link: str, fields: dict[str, str], words: str
) -> None:
    answer = client.post(link, {**CHOSEN, **fields})
    assert answer.status_code == 422
    assert answer.text.count(words) == 2
    assert ('value="Newton"' in answer.text) == ("name" not in fields)
    assert make.PASSWORD not in answer.text


def test_everything_about_an_invitation_is_written_down(client: Client, link: str, administrator: User) -> None:
    user = User.objects.get(email="new@example.test")
    invite.revoke_invitation(user, administrator)
    again = invite.invite_again(user, administrator)
    client.post(f"/invitations/{again.token}/", CHOSEN)
    said = [(entry.actor, entry.action, entry.about) for entry in AuditEntry.objects.order_by("pk")]
    assert said == [
        (administrator, "invited a person", user.pk),
        (administrator, "revoked an invitation", user.pk),
        (administrator, "invited a person again", user.pk),
        (user, "accepted an invitation", user.pk),
    ]


def link_printed(*arguments: str) -> str:
    out = StringIO()
    call_command("invite", *arguments, stdout=out)
    return out.getvalue().strip()


def test_the_command_line_makes_the_first_administrator(client: Client) -> None:
    printed = link_printed("Boss@Example.test", "--role", "administrator", "--trained-from", "2020-01-01")
    path = "/" + printed.split("/", 3)[3]
    client.post(path, CHOSEN)
    user = User.objects.get(email="boss@example.test")
    assert (user.roles, user.is_trained) == ({Role.ADMINISTRATOR}, True)
    assert client.get("/people/").status_code == 200


def test_the_command_line_invites_again_and_adds_roles(client: Client) -> None:
    first = link_printed("boss@example.test")
    second = link_printed("boss@example.test", "--role", "manager", "--trained-from", "2020-01-01")
    assert first != second
    user = User.objects.get(email="boss@example.test")
    assert (user.roles, user.is_trained) == ({Role.TESTER, Role.MANAGER}, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no address"], "is not an e-mail address"),
        (["known@example.test"], "has an account already"),
        (["new@example.test", "--trained-until", "2030-01-01"], "Give --trained-from"),
        (["new@example.test", "--trained-from", "2030-01-02", "--trained-until", "2030-01-01"], "before it"),
    ],
)
def test_the_command_line_says_what_it_cannot_do(arguments: list[str], words: str) -> None:
    make.user("known@example.test", Role.TESTER)
    with pytest.raises(CommandError, match=words):
        link_printed(*arguments)
    assert User.objects.count() == 1
