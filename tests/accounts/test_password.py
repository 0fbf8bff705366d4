"""Changing a password, and setting a new one by mail."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

import emma_eval.accounts.tasks  # noqa: F401  (registers the handlers, as the worker does)
from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from emma_eval.outbox.deliver import deliver
from emma_eval.outbox.models import Row
from tests import make

pytestmark = pytest.mark.django_db
NEW = "another-long-password"


def deliver_all() -> None:
    for row in Row.objects.filter(done_at=None, set_aside_at=None):
        deliver(row.pk)


def ask_for_a_link(client: Client, email: str) -> Any:
    return client.post("/account/password/reset/", {"email": email})


def link_in_the_mail() -> str:
    deliver_all()
    found = re.search(r"https?://[^/]+(/account/password/\S+)", str(mail.outbox[-1].body))
    assert found
    return found[1]


def test_a_password_is_changed_and_written_down(tester_client: Client, tester: User) -> None:
    fields = {"oldpassword": make.PASSWORD, "password1": NEW, "password2": NEW}
    answer = tester_client.post("/account/password/change/", fields)
    assert answer.status_code == 302
    tester.refresh_from_db()
    assert tester.check_password(NEW)
    assert tester_client.get("/scripts/").status_code == 200, "this browser stays signed in"
    assert AuditEntry.objects.get().action == "changed a password"


def test_every_other_browser_is_signed_out(tester_client: Client, tester: User) -> None:
    other = make.client_of(tester)
    tester_client.post("/account/password/change/", {"oldpassword": make.PASSWORD, "password1": NEW, "password2": NEW})
    assert other.get("/scripts/").status_code == 302


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"oldpassword": "wrong"}, "This is not your present password."),
        ({"oldpassword": ""}, "Enter your present password."),
        ({"password1": "short", "password2": "short"}, "at least 10 characters"),
        ({"password1": "1234567890", "password2": "1234567890"}, "too common"),
        ({"password1": "tess@example.test", "password2": "tess@example.test"}, "too similar"),
        ({"password2": "something-else-entirely"}, "the same password each time"),
    ],
)
def test_a_bad_new_password_is_said_so_beside_its_field(
    tester_client: Client, fields: dict[str, str], words: str
) -> None:
    sent = {"oldpassword": make.PASSWORD, "password1": NEW, "password2": NEW, **fields}
    answer = tester_client.post("/account/password/change/", sent)
    assert answer.status_code == 422
    assert answer.text.count(words) == 2, "in the summary and beside the field"
    assert 'aria-invalid="true"' in answer.text


def test_a_link_by_mail_sets_a_new_password(client: Client, tester: User) -> None:
    ask_for_a_link(client, "Tess@Example.test")
    form = client.get(link_in_the_mail(), follow=True)
    assert form.request["PATH_INFO"].endswith("-set-password/"), "the token leaves the address"
    answer = client.post(form.request["PATH_INFO"], {"password1": NEW, "password2": NEW})
    assert answer["Location"] == "/account/password/reset/key/done/"
    tester.refresh_from_db()
    assert tester.check_password(NEW)
    assert AuditEntry.objects.get().action == "set a new password by a link"


def test_a_link_works_once(client: Client, tester: User) -> None:
    ask_for_a_link(client, tester.email)
    link = link_in_the_mail()
    form = client.get(link, follow=True)
    client.post(form.request["PATH_INFO"], {"password1": NEW, "password2": NEW})
    assert "This link is used up" in Client().get(link, follow=True).text


def test_a_new_password_by_mail_opens_an_account_that_was_closed_by_tries(client: Client, tester: User) -> None:
    for n in range(11):
        client.post("/account/login/", {"login": tester.email, "password": "wrong"}, REMOTE_ADDR=f"198.51.100.{n}")
    ask_for_a_link(client, tester.email)
    form = client.get(link_in_the_mail(), follow=True)
    client.post(form.request["PATH_INFO"], {"password1": NEW, "password2": NEW})
    assert client.post("/account/login/", {"login": tester.email, "password": NEW}).status_code == 302


def test_nobody_learns_whether_an_address_has_an_account(client: Client, tester: User) -> None:
    known, unknown = ask_for_a_link(client, tester.email), ask_for_a_link(client, "nobody@example.test")
    assert (known.status_code, known["Location"]) == (unknown.status_code, unknown["Location"])
    deliver_all()
    assert [message.to for message in mail.outbox] == [[tester.email]]


def test_an_unknown_address_costs_what_a_known_one_costs(client: Client, tester: User) -> None:
    """The same look-ups and the same writes: the time of an answer tells nothing."""

    def statements(email: str) -> list[str]:
        with CaptureQueriesContext(connection) as done:
            ask_for_a_link(client, email)
        return [re.sub(r"'[^']*'|\d+", "?", query["sql"].split(" VALUES ")[0]) for query in done.captured_queries]

    statements("first@example.test")
    known, unknown = statements(tester.email), statements("nobody@example.test")
    assert known == unknown
    assert any("outbox" in statement for statement in unknown)
    deliver_all()
    assert not Row.objects.exclude(set_aside_at=None).exists()


def test_the_token_is_made_when_the_mail_is_written_and_stored_nowhere(client: Client, tester: User) -> None:
    ask_for_a_link(client, tester.email)
    assert Row.objects.get().payload == {"user_id": tester.pk}


@pytest.mark.parametrize("kind", ["invited", "deactivated"])
def test_only_accounts_in_use_get_a_link(client: Client, kind: str) -> None:
    user = make.user("someone@example.test", Role.TESTER, is_active=kind != "deactivated")
    if kind == "invited":
        user.set_unusable_password()
        user.save()
    assert ask_for_a_link(client, user.email)["Location"] == "/account/password/reset/done/"
    deliver_all()
    assert mail.outbox == []


def test_an_account_deactivated_meanwhile_gets_no_mail(client: Client, tester: User) -> None:
    ask_for_a_link(client, tester.email)
    User.objects.update(is_active=False)
    deliver_all()
    assert mail.outbox == []
    assert Row.objects.get().last_error == "the account is not in use"


def test_asking_again_and_again_is_stopped(client: Client, tester: User) -> None:
    statuses = [ask_for_a_link(client, tester.email).status_code for _ in range(6)]
    assert statuses == [302] * 5 + [429]
