"""The page on which members make tokens, and administrators see everybody's."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import ApiToken, User
from emma_eval.accounts.programs.scopes import Scope
from emma_eval.accounts.programs.tokens import make_token
from tests import make

pytestmark = pytest.mark.django_db
SENT = {"name": "Nightly run", "scopes": ["results:read", "scripts:read"], "days": "30"}


def made(client: Client, **changes: Any) -> Any:
    return client.post("/programs/", {**SENT, **changes})


def errors(page: Any) -> list[str]:
    return [unescape(words) for words in re.findall(r'<li><a href="#id_\w+">(.*?)</a></li>', page.text)]


def test_a_token_is_shown_in_the_one_answer_that_makes_it(tester_client: Client, tester: User) -> None:
    page = made(tester_client)
    token = ApiToken.objects.get()
    sent = re.search(r"emma_[\w-]{43}", page.text)
    assert sent is not None
    assert Client().get("/api/v1/token/", headers={"Authorization": f"Bearer {sent[0]}"}).status_code == 200
    assert (token.owner, token.name, token.scopes) == (tester, "Nightly run", ["results:read", "scripts:read"])
    assert timedelta(days=29) < token.expires_at - timezone.now() < timedelta(days=30)
    assert "no-store" in page["Cache-Control"]
    again = tester_client.get("/programs/").text
    assert sent[0] not in again
    assert f"{token.begins_with}…" in again


def test_sent_a_second_time_it_makes_no_second_one(tester_client: Client) -> None:
    made(tester_client)
    page = made(tester_client)
    assert page.status_code == 422
    assert errors(page) == ["Name: You have a token of this name. Choose another, or revoke that one first."]
    assert ApiToken.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "  "}, "Name: Say what the token is for."),
        ({"name": "emma_" + "a" * 43}, "Name: This holds a token. A name is for everybody to read: choose another."),
        ({"name": "x" * 81}, "Name: Ensure this value has at most 80 characters (it has 81)."),
        ({"scopes": []}, "What it may do: Pick at least one thing that it may do."),
        ({"scopes": ["builds:write"]}, "What it may do: Pick from the list: builds:write is not on it."),
        ({"scopes": ["people:write"]}, "What it may do: Pick from the list: people:write is not on it."),
        ({"days": "366"}, "For how long: Pick one of the times from the list."),
        ({"days": ""}, "For how long: Say for how long."),
    ],
)
def test_what_is_wrong_is_said(tester_client: Client, changes: dict[str, Any], words: str) -> None:
    page = made(tester_client, **changes)
    assert page.status_code == 422
    assert errors(page) == [words]
    assert ApiToken.objects.count() == 0


def test_what_was_picked_stays_picked(tester_client: Client) -> None:
    page = made(tester_client, name="").text
    assert re.findall(r'value="([\w:]+)" checked', page) == ["scripts:read", "results:read"]
    assert '<option value="30" selected>' in page


def test_nobody_has_more_tokens_than_they_can_look_after(tester_client: Client, tester: User) -> None:
    for number in range(20):
        make_token(tester, f"Number {number}", [Scope.RESULTS_READ], days=1)
    page = made(tester_client)
    assert page.status_code == 422
    assert "You have 20 tokens. Revoke one that you don't need any more." in unescape(page.text)


def test_ninety_days_are_offered_first_and_a_year_is_the_longest(tester_client: Client) -> None:
    page = tester_client.get("/programs/").text
    assert '<option value="90" selected>' in page
    assert re.findall(r'<option value="(\d+)"', page)[-1] == "365"


def test_the_address_that_revokes_leads_to_the_page_when_it_is_opened(tester_client: Client, tester: User) -> None:
    token, _ = make_token(tester, "Nightly run", [Scope.RESULTS_READ], days=1)
    assert tester_client.get(f"/programs/{token.pk}/revoke/")["Location"] == "/programs/"
    assert ApiToken.objects.get().revoked_at is None


def test_its_owner_revokes_it(tester_client: Client, tester: User) -> None:
    token, sent = make_token(tester, "Nightly run", [Scope.RESULTS_READ], days=1)
    page = tester_client.post(f"/programs/{token.pk}/revoke/", follow=True).text
    assert "“Nightly run” is revoked: it opens nothing from now on." in page
    assert Client().get("/api/v1/token/", headers={"Authorization": f"Bearer {sent}"}).status_code == 401
    assert "was revoked already" in tester_client.post(f"/programs/{token.pk}/revoke/", follow=True).text


def test_a_token_of_another_is_not_there(tester_client: Client, eval_member: User) -> None:
    token, _ = make_token(eval_member, "Of the eval team", [Scope.RESULTS_READ], days=1)
    assert tester_client.post(f"/programs/{token.pk}/revoke/").status_code == 404
    assert ApiToken.objects.get().revoked_at is None
    assert "Of the eval team" not in tester_client.get("/programs/").text


def test_administrators_see_and_revoke_everybodys(administrator: User, tester: User) -> None:
    token, sent = make_token(tester, "Nightly run", [Scope.RESULTS_READ], days=1)
    client = make.client_of(administrator)
    page = client.get("/programs/").text
    assert all(words in page for words in ("Nightly run", tester.email, "never used", token.begins_with))
    assert sent not in page
    client.post(f"/programs/{token.pk}/revoke/")
    assert ApiToken.objects.get().revoked_at is not None


def test_a_manager_sees_none_of_others(manager_client: Client, tester: User) -> None:
    make_token(tester, "Nightly run", [Scope.RESULTS_READ], days=1)
    page = manager_client.get("/programs/").text
    assert tester.email not in page
    assert "Tokens of others" not in page


def test_a_long_list_of_others_goes_on(administrator: User, tester: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emma_eval.accounts.views.programs.A_PAGE", 2)
    for number in range(3):
        make_token(tester, f"Number {number}", [Scope.RESULTS_READ], days=1)
    client = make.client_of(administrator)
    first = client.get("/programs/").text
    assert ("Number 2" in first, "Number 0" in first) == (True, False)
    onwards = re.search(r'rel="next" href="(\?before=\d+)"', first)
    assert onwards is not None
    assert "Number 0" in client.get(f"/programs/{onwards[1]}").text


def test_an_administrator_without_the_second_step_makes_none_and_sees_none_of_others(
    administrator: User, tester: User, settings: Any
) -> None:
    """A token would be a way around it, that lasts."""
    settings.MFA_FOR_ADMINISTRATORS = True
    token, _ = make_token(tester, "Nightly run", [Scope.RESULTS_READ], days=1)
    client = make.client_of(administrator)
    page = client.get("/programs/").text
    assert "Set up the second one" in page
    assert "Nightly run" not in page
    assert made(client).status_code == 403
    assert client.post(f"/programs/{token.pk}/revoke/").status_code == 403
    assert ApiToken.objects.get().revoked_at is None
