"""Requests that no page can make anything of: 400, with a page, and never an error of ours."""

from __future__ import annotations

import uuid

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from emma_eval.accounts.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
NOT_UNDERSTOOD = "The site did not understand this request"


@pytest.fixture(params=["signed in", "signed out"])
def any_client(request: pytest.FixtureRequest) -> Client:
    if request.param == "signed in":
        client: Client = request.getfixturevalue("tester_client")
    else:
        client = request.getfixturevalue("client")
    client.raise_request_exception = False
    return client


@pytest.mark.parametrize(
    "address",
    ["/results/?q=%00", "/results/?q=a%00b", "/scripts/a%00b/", "/invitations/%00/", "/?next=%00", "/scripts/?%00=1"],
)
def test_a_null_character_in_an_address(any_client: Client, address: str) -> None:
    answer = any_client.get(address)
    assert (answer.status_code, NOT_UNDERSTOOD in answer.text) == (400, True)
    assert "Content-Security-Policy" in answer.headers


@pytest.mark.parametrize("address", ["/results/?q=%2500", "/results/?q=100%25", "/results/?q=%E4%B8%80"])
def test_what_only_looks_like_one_is_let_through(tester_client: Client, address: str) -> None:
    assert tester_client.get(address).status_code == 200


@pytest.mark.parametrize("address", ["/account/login/", "/account/logout/", "/account/password/reset/"])
@pytest.mark.parametrize("checks_token", [True, False])
def test_a_form_in_letters_that_no_form_of_ours_is_sent_in(
    any_client: Client, address: str, checks_token: bool
) -> None:
    any_client.handler.enforce_csrf_checks = checks_token
    any_client.cookies[settings.CSRF_COOKIE_NAME] = "t" * 32
    kind = "application/x-www-form-urlencoded; charset=utf-16"
    answer = any_client.generic("POST", address, "a=b".encode("utf-16"), content_type=kind)
    assert (answer.status_code, NOT_UNDERSTOOD in answer.text) == (400, True)


def test_the_page_says_nothing_of_who_is_signed_in(tester_client: Client) -> None:
    assert "tess@example.test" not in tester_client.get("/results/?q=%00").text


def test_a_long_form_that_would_be_kept_for_later(tester: User) -> None:
    """What a sign-in interrupts is read once more, to be kept: that can't be read either."""
    client = Client(raise_request_exception=False)
    kind = "application/x-www-form-urlencoded; charset=utf-16"
    for signed_in in (False, True):
        if signed_in:
            client.force_login(tester)
            client.handler.enforce_csrf_checks = True
        answer = client.generic("POST", reverse("draft_file", args=[uuid.uuid4()]), b"a=b", content_type=kind)
        assert (answer.status_code, NOT_UNDERSTOOD in answer.text) == (400, True)
