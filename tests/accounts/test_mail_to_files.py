"""A site without a mail server promises no mail, and says what to do instead."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from emma_eval.accounts.invite import invited_account
from emma_eval.accounts.models import Invitation, User
from emma_eval.accounts.post import sends_mail
from tests import make

pytestmark = pytest.mark.django_db
FIELDS = {"email": "new@example.test", "roles": ["tester"]}
PROMISES = ("on its way", "by mail", "was mailed", "sent it", "Send the invitation", "Mail me", "Look into your mail")


@pytest.fixture
def _files(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"


def said(client: Client, *paths: str) -> str:
    return "\n".join(client.get(path).text for path in paths)


def test_with_a_mail_server_it_is_mailed(administrator: User) -> None:
    page = make.client_of(administrator).post("/people/invite/", FIELDS, follow=True).text
    assert "An invitation is on its way to new@example.test." in page
    assert "sends no mail" not in page
    assert "Look into your mail" in Client().get("/account/password/reset/done/").text


@pytest.mark.usefixtures("_files")
def test_an_administrator_gets_the_link_to_hand_over(administrator: User) -> None:
    client = make.client_of(administrator)
    assert "you see a link next, and hand it over yourself" in client.get("/people/invite/").text
    page = client.post("/people/invite/", FIELDS, follow=True).text
    assert "Hand over the link below: this site sends no mail." in page
    assert Invitation.objects.get().token in page
    assert "To hand one over" not in page, "the link is there already"
    again = client.get(f"/people/{User.objects.get(email='new@example.test').pk}/").text
    assert "To hand one over, make a new one" in again
    assert not any(words in page + again + said(client, "/people/invite/") for words in PROMISES)


@pytest.mark.usefixtures("_files")
def test_a_manager_is_told_to_ask_an_administrator(manager_client: Client) -> None:
    assert "ask an administrator for the link" in manager_client.get("/people/invite/").text
    page = manager_client.post("/people/invite/", {"email": "new@example.test"}, follow=True).text
    assert "has no link yet: this site sends no mail" in page
    assert "Ask an administrator to press “Make a new link” on this page" in page
    assert Invitation.objects.get().token not in page
    assert not any(words in page + said(manager_client, "/people/invite/") for words in PROMISES)


@pytest.mark.usefixtures("_files")
def test_a_manager_has_no_button_for_a_link_that_nobody_would_see(manager_client: Client) -> None:
    user = invited_account("from-a-sheet@example.test")
    page = manager_client.get(f"/people/{user.pk}/").text
    assert "Ask an administrator to press “Make an invitation” on this page" in page
    assert f"/people/{user.pk}/invite/" not in page
    manager_client.post("/people/invite/", {"email": "new@example.test"})
    invited = User.objects.get(email="new@example.test")
    page = manager_client.get(f"/people/{invited.pk}/").text
    assert f'action="/people/{invited.pk}/invite/"' not in page
    assert "Take it back" in page


@pytest.mark.usefixtures("_files")
def test_what_the_manager_s_page_names_is_what_the_administrator_s_page_has(
    manager_client: Client, administrator: User
) -> None:
    manager_client.post("/people/invite/", {"email": "new@example.test"})
    user = User.objects.get(email="new@example.test")
    client = make.client_of(administrator)
    assert ">Make a new link</button>" in client.get(f"/people/{user.pk}/").text
    page = client.post(f"/people/{user.pk}/invite/", follow=True).text
    assert Invitation.objects.latest("pk").token in page


@pytest.mark.usefixtures("_files")
def test_a_new_password_is_not_promised_by_mail_either(client: Client, tester: User) -> None:
    pages = said(client, "/account/password/reset/", "/account/password/reset/done/", "/account/signup/")
    assert pages.count("sends no mail") == 2
    assert not any(words in pages for words in PROMISES)
    known = client.post("/account/password/reset/", {"email": tester.email}, follow=True).text
    unknown = client.post("/account/password/reset/", {"email": "nobody@example.test"}, follow=True).text
    assert known == unknown


def test_the_default_is_files(settings: Any) -> None:
    assert sends_mail()
    settings.EMAIL_BACKEND = settings.MAIL["EMAIL_BACKEND"]
    assert sends_mail() == bool(settings.MAIL.get("EMAIL_HOST"))
