"""A request without a sign-in: a page is sent to sign in, a script is told so, a fragment replaces nothing."""

from __future__ import annotations

import pytest
from django.test import Client

from emma_eval.accounts.models import User
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.accounts.form_page")]


def test_a_page_comes_back_after_signing_in(client: Client, tester: User) -> None:
    answer = client.get("/scripts/?q=news&area=everyday")
    assert answer["Location"] == "/account/login/?next=%2Fscripts%2F%3Fq%3Dnews%26area%3Deveryday"
    signed_in = client.post(answer["Location"], {"login": tester.email, "password": make.PASSWORD})
    assert signed_in["Location"] == "/scripts/?q=news&area=everyday"


@pytest.mark.parametrize(
    "headers",
    [
        {"Accept": "application/json"},
        {"Content-Type": "application/json"},
        {"Sec-Fetch-Dest": "empty"},
    ],
    ids=lambda headers: next(iter(headers)),
)
def test_a_script_is_told(client: Client, headers: dict[str, str]) -> None:
    answer = client.put(
        "/form/",
        data="{}",
        content_type=headers.pop("Content-Type", "text/plain"),
        headers={"Referer": "http://testserver/scripts/?q=a b#top", **headers},
    )
    assert answer.status_code == 401
    assert answer.json() == {"error": "signed_out", "sign_in": "/account/login/?next=%2Fscripts%2F%3Fq%3Da+b"}


def test_a_fragment_is_put_above_the_page_and_replaces_nothing(client: Client) -> None:
    answer = client.post("/form/", {"comment": "hm"}, headers={"HX-Request": "true"})
    assert answer.status_code == 401
    assert (answer["HX-Retarget"], answer["HX-Reswap"]) == ("#main", "afterbegin")
    assert "<html" not in answer.text
    assert "Nothing on this page is lost" in answer.text


def test_a_boosted_link_is_a_page(client: Client) -> None:
    assert client.get("/scripts/", headers={"HX-Request": "true", "HX-Boosted": "true"}).status_code == 302


def test_a_button_on_a_page_leads_back_to_that_page(client: Client) -> None:
    headers = {"Referer": "http://testserver/scripts/"}
    answer = client.post("/drafts-of-a-test/7/", headers=headers)
    assert answer["Location"] == "/account/login/?next=%2Fscripts%2F"


@pytest.mark.parametrize(
    "referer", ["https://elsewhere.example/scripts/", "", "javascript:alert(1)", "http://[", "http://[::1"]
)
def test_no_other_site_can_say_where_to_go(client: Client, referer: str) -> None:
    answer = client.post("/drafts-of-a-test/7/", headers={"Referer": referer} if referer else {})
    assert answer["Location"] == "/account/login/?next=%2F"


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"Accept": "application/json"}, '"stale_page"'),
        ({"HX-Request": "true"}, "Reload the page"),
    ],
)
def test_a_stale_token_is_told_to_a_script_too(tester: User, headers: dict[str, str], words: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(tester)
    answer = client.post("/form/", headers=headers)
    assert answer.status_code == 403
    assert words in answer.text
    assert "<html" not in answer.text
