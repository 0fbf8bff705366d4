"""What was typed into a form survives an expired session and a rotated CSRF token, and is never carried out."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from emma_eval.accounts import resume
from emma_eval.accounts.models import User
from emma_eval.accounts.session_store import Session
from tests import make
from tests.accounts import form_page

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.accounts.form_page")]
FORM = "/form/?script=bad-news-day"


@pytest.fixture(autouse=True)
def sent() -> list[dict[str, str]]:
    form_page.SENT.clear()
    return form_page.SENT


def sign_in(client: Client, user: User, at: str) -> Any:
    return client.post(at, {"login": user.email, "password": make.PASSWORD})


def typed_by(user: User, **fields: Any) -> dict[str, Any]:
    return {"typed_by": str(user.pk), "comment": "She cut in twice.", "csrfmiddlewaretoken": "old", **fields}


def test_an_expired_session_loses_no_field(client: Client, tester: User, sent: list[dict[str, str]]) -> None:
    answer = client.post(FORM, typed_by(tester, problem=["cut_in", "too_long"], empty=""))
    assert (answer.status_code, answer["Location"]) == (302, "/account/login/?next=%2Fform%2F%3Fscript%3Dbad-news-day")
    assert sign_in(client, tester, answer["Location"])["Location"] == FORM
    back = client.get(FORM)
    assert back.json() == {"comment": ["She cut in twice."], "problem": ["cut_in", "too_long"], "empty": [""]}
    assert sent == []


def test_the_fields_come_back_once(client: Client, tester: User) -> None:
    client.post(FORM, typed_by(tester))
    sign_in(client, tester, "/account/login/")
    assert client.get(FORM).json()
    assert client.get(FORM).json() == {}


def test_nobody_else_gets_the_fields(client: Client, tester: User, trained_tester: User) -> None:
    client.post(FORM, typed_by(tester))
    sign_in(client, trained_tester, "/account/login/")
    assert client.get(FORM).json() == {}


def test_the_fields_come_back_at_the_same_address_only(client: Client, tester: User) -> None:
    client.post(FORM, typed_by(tester))
    sign_in(client, tester, "/account/login/")
    assert client.get("/form/?script=another").json() == {}
    assert client.get(FORM).json()


def test_the_fields_come_back_within_two_hours(client: Client, tester: User, monkeypatch: pytest.MonkeyPatch) -> None:
    client.post(FORM, typed_by(tester))
    sign_in(client, tester, "/account/login/")
    monkeypatch.setattr(resume, "LASTS_S", -1)
    assert client.get(FORM).json() == {}


def test_a_form_that_stands_at_another_address_gets_them(client: Client, tester: User) -> None:
    answer = client.post("/drafts-of-a-test/7/send/", typed_by(tester))
    assert answer["Location"] == "/account/login/?next=%2Fdrafts-of-a-test%2F7%2F"
    sign_in(client, tester, answer["Location"])
    assert client.get("/drafts-of-a-test/7/").json() == {"comment": "She cut in twice."}


@pytest.mark.parametrize(
    "fields",
    [
        {"typed_by": ""},
        {"typed_by": "tess@example.test"},
        {"comment": "x" * (resume.MOST_CHARACTERS + 1)},
        {f"{number}{'y' * 700}": "z" for number in range(300)},
    ],
    ids=["nobody", "no number", "long value", "long names"],
)
def test_what_cannot_be_kept_is_said_so_and_not_kept(client: Client, tester: User, fields: dict[str, str]) -> None:
    answer = client.post(FORM, typed_by(tester, **fields))
    assert answer.status_code == 401
    assert "your browser still holds what you typed" in answer.text
    assert Session.objects.count() == 0


def test_what_another_site_posts_is_not_kept(client: Client, tester: User) -> None:
    for origin in ("https://elsewhere.example", "null", "http://["):
        assert client.post(FORM, typed_by(tester), headers={"Origin": origin}).status_code == 401
    assert client.post(FORM, typed_by(tester), headers={"Origin": "http://testserver"}).status_code == 302


def test_a_flood_is_not_kept(client: Client, tester: User) -> None:
    answers = [client.post(FORM, typed_by(tester)).status_code for _ in range(21)]
    assert answers == [302] * 20 + [401]


def test_a_token_from_before_the_sign_in_loses_no_field_and_sends_nothing(
    tester: User, sent: list[dict[str, str]]
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(tester)
    answer = client.post(FORM, typed_by(tester))
    assert (answer.status_code, answer["Location"]) == (302, FORM)
    assert client.get(FORM).json() == {"comment": ["She cut in twice."]}
    assert sent == []


def test_a_token_of_somebody_else_who_was_signed_in_gives_nothing_away(tester: User, trained_tester: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(trained_tester)
    client.post(FORM, typed_by(tester))
    assert client.get(FORM).json() == {}


def test_a_page_that_keeps_nothing_says_that_nothing_was_done(tester: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(tester)
    answer = client.post("/drafts-of-a-test/7/", typed_by(tester))
    assert answer.status_code == 403
    assert "after this page was opened" in answer.text
