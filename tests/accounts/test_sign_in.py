"""Signing in and out, and what limits trying passwords."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import LazySettings, global_settings
from django.contrib.auth.hashers import MD5PasswordHasher, make_password
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from emma_eval.accounts import change_access, sessions, throttle
from emma_eval.accounts.models import Attempt, User
from emma_eval.accounts.roles import Role
from tests import make

pytestmark = pytest.mark.django_db
LOGIN = "/account/login/"


def attempt(client: Client, email: str, password: str = make.PASSWORD, **extra: Any) -> Any:
    return client.post(LOGIN, {"login": email, "password": password}, **extra)


def without_tokens(page: str) -> str:
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page)


def test_a_tester_starts_on_the_scripts(client: Client, tester: User) -> None:
    answer = client.post(LOGIN, {"login": "TESS@example.test", "password": make.PASSWORD}, follow=True)
    assert answer.redirect_chain == [("/", 302), ("/scripts/", 302)]


@pytest.mark.parametrize(
    ("roles", "place"),
    [
        ((Role.EVAL_TEAM,), "/review/"),
        ((Role.EVAL_LEAD,), "/review/"),
        ((Role.MANAGER, Role.EVAL_TEAM), "/review/"),
        ((Role.MANAGER,), "/dashboard/"),
    ],
)
def test_reviewers_start_on_their_queue_and_managers_on_the_dashboard(
    client: Client, roles: tuple[Role, ...], place: str
) -> None:
    client.force_login(make.user(None, *roles))
    assert client.get("/")["Location"] == place


def test_an_administrator_starts_with_the_people(client: Client, administrator: User) -> None:
    client.force_login(administrator)
    assert client.get("/")["Location"] == "/people/"


def test_somebody_without_a_role_is_told_so(client: Client) -> None:
    client.force_login(make.user())
    answer = client.get("/")
    assert answer.status_code == 403
    assert "no role yet" in answer.text


def test_a_wrong_password_and_an_unknown_address_look_the_same(client: Client, tester: User) -> None:
    invited = make.user("invited@example.test", Role.TESTER)
    invited.set_unusable_password()
    invited.save()
    pages = [attempt(client, email, "wrong") for email in (tester.email, "nobody@example.test", invited.email)]
    assert {page.status_code for page in pages} == {422}
    texts = {without_tokens(page.text.replace(page.context["form"]["login"].value(), "")) for page in pages}
    assert len(texts) == 1
    assert "The e-mail address or the password is wrong." in texts.pop()


def test_a_wrong_password_and_an_unknown_address_take_the_same_work(
    client: Client, tester: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly all the time of an answer is the hash, so each answer must cost one."""
    invited = make.user("invited@example.test", Role.TESTER)
    User.objects.filter(pk=invited.pk).update(password=make_password(None))
    hashed: list[str] = []
    encode = MD5PasswordHasher.encode
    monkeypatch.setattr(
        MD5PasswordHasher, "encode", lambda self, *args, **more: (hashed.append("once"), encode(self, *args, **more))[1]
    )
    for email in (tester.email, "nobody@example.test", invited.email):
        hashed.clear()
        attempt(client, email, "wrong")
        assert hashed == ["once"], email


def test_with_the_hash_of_the_site_nobody_tells_an_account_by_the_time_that_an_answer_takes(
    client: Client, settings: LazySettings
) -> None:
    """By the processor's time: what a busy machine adds is left out."""
    settings.PASSWORD_HASHERS = global_settings.PASSWORD_HASHERS
    known, invited = make.user("known@example.test", Role.TESTER), make.user("invited@example.test", Role.TESTER)
    User.objects.filter(pk=invited.pk).update(password=make_password(None))
    addresses = (known.email, "nobody@example.test", invited.email)
    took: dict[str, list[float]] = {email: [] for email in addresses}
    for _ in range(6):
        for email in addresses:
            began = time.thread_time()
            attempt(client, email, "wrong")
            took[email].append(time.thread_time() - began)
    shortest = [min(each) for each in took.values()]
    assert min(shortest) > 0.1, "a hash is dear"
    assert max(shortest) < 1.5 * min(shortest), took


def test_a_wrong_password_loses_nothing_but_itself(client: Client, tester: User) -> None:
    answer = attempt(client, tester.email, "wrong")
    assert f'value="{tester.email}"' in answer.text
    assert "wrong</p>" not in answer.text.replace("password is wrong.", "")
    assert 'type="password"' in answer.text
    assert 'value="wrong"' not in answer.text


@pytest.mark.parametrize(
    ("next_page", "leads_to"),
    [
        ("/scripts/?q=a", "/scripts/?q=a"),
        ("http://emma.test:8100/scripts/", "http://emma.test:8100/scripts/"),
        ("https://elsewhere.example/", "/"),
        ("//elsewhere.example/", "/"),
        ("/\\elsewhere.example/", "/"),
        ("http://localhost/x", "/"),
        ("http://127.0.0.1:9/x", "/"),
        ("//testserver/x", "/"),
        ("http://emma.test/x", "/"),
        ("https://emma.test:8100/x", "/"),
        ("http://emma.test:8100@elsewhere.example/", "/"),
        ("javascript:alert(1)", "/"),
    ],
)
def test_the_next_page_must_be_ours(
    client: Client, tester: User, settings: Settings, next_page: str, leads_to: str
) -> None:
    """Of the hosts that the site answers to, health checks' among them, only its own address."""
    settings.ORIGIN, settings.ALLOWED_HOSTS = (
        "http://emma.test:8100",
        ["emma.test", "127.0.0.1", "localhost", "testserver"],
    )
    address = f"{LOGIN}?{urlencode({'next': next_page})}"
    answer = client.post(address, {"login": tester.email, "password": make.PASSWORD})
    assert answer["Location"] == leads_to


def test_ten_wrong_passwords_close_an_account_for_a_while(client: Client, tester: User) -> None:
    statuses = [attempt(client, tester.email, "wrong", REMOTE_ADDR=f"198.51.100.{n}").status_code for n in range(11)]
    assert statuses == [422] * 10 + [429]
    refused = attempt(client, tester.email, REMOTE_ADDR="198.51.100.99")
    assert refused.status_code == 429, "the right password must not open it either"
    in_ten_minutes = timezone.localtime(Attempt.objects.earliest("at").at + timedelta(minutes=10))
    assert f"{in_ten_minutes:%H:%M}</time>" in refused.text
    assert 540 < int(refused["Retry-After"]) <= 600


def test_it_says_the_same_for_an_address_without_an_account(client: Client, tester: User) -> None:
    for address in (tester.email, "nobody@example.test"):
        for n in range(10):
            attempt(client, address, "wrong", REMOTE_ADDR=f"198.51.100.{n}")
    known, unknown = (attempt(client, address, "wrong") for address in (tester.email, "nobody@example.test"))
    assert (known.status_code, unknown.status_code) == (429, 429)
    assert re.sub(r"\d+", "", without_tokens(known.text)) == re.sub(r"\d+", "", without_tokens(unknown.text))


def test_it_opens_again_ten_minutes_after_the_first_wrong_one(client: Client, tester: User) -> None:
    for n in range(10):
        attempt(client, tester.email, "wrong", REMOTE_ADDR=f"198.51.100.{n}")
    first = Attempt.objects.earliest("at")
    Attempt.objects.filter(pk=first.pk).update(at=first.at - timedelta(minutes=10))
    cache.clear()  # allauth counts besides us, there; its time can't be moved
    assert attempt(client, tester.email).status_code == 302


def test_good_sign_ins_are_not_counted(client: Client, tester: User) -> None:
    for _ in range(12):
        assert attempt(client, tester.email).status_code == 302
        client.logout()
    assert Attempt.objects.count() == 0


def test_a_deactivated_account_says_so_to_its_owner_alone(client: Client, tester: User) -> None:
    change_access.deactivate(tester, None)
    assert attempt(client, tester.email)["Location"] == "/account/inactive/"
    assert attempt(client, tester.email, "wrong").status_code == 422
    assert "deactivated it" in client.get("/account/inactive/").text


def test_a_sign_in_gets_a_new_session_key(client: Client, tester: User) -> None:
    client.get(LOGIN)
    client.session["anything"] = 1
    before = client.session.session_key
    attempt(client, tester.email)
    assert client.session.session_key != before


def test_signing_out_takes_a_button(client: Client, tester: User) -> None:
    client.force_login(tester)
    assert "Sign out?" in client.get("/account/logout/").text
    assert client.get("/scripts/").status_code == 200
    client.post("/account/logout/")
    assert client.get("/scripts/").status_code == 302


def test_nobody_signs_up(client: Client) -> None:
    for answer in (client.get("/account/signup/"), client.post("/account/signup/", {"email": "new@example.test"})):
        assert "Accounts are by invitation" in answer.text
    assert User.objects.count() == 0


@pytest.mark.parametrize(
    "path",
    ["email/", "confirm-email/", "login/code/", "login/code/confirm/", "3rdparty/", "2fa/", "reauthenticate/code/"],
)
def test_no_page_of_allauth_is_open_that_has_no_place_here(tester_client: Client, path: str) -> None:
    assert tester_client.get(f"/account/{path}").status_code == 404


def signed_in(client: Client, user: User) -> Client:
    attempt(client, user.email)
    return client


def move_back(client: Client, key: str, seconds: float) -> None:
    session = client.session
    session[key] -= seconds
    session.save()


def test_a_sign_in_ends_after_seven_days_of_work(client: Client, tester: User) -> None:
    signed_in(client, tester)
    move_back(client, sessions.BEGAN, sessions.LONGEST_S - 60)
    assert client.get("/scripts/").status_code == 200
    move_back(client, sessions.BEGAN, 120)
    assert client.get("/scripts/").status_code == 302


def test_a_sign_in_lasts_twelve_hours_after_the_last_request(client: Client, tester: User) -> None:
    signed_in(client, tester)
    assert client.session.get_expiry_age() == 12 * 3600
    move_back(client, sessions.SEEN, sessions.REFRESHED_EVERY_S + 1)
    client.get("/scripts/")
    assert time.time() - client.session[sessions.SEEN] < 60
    assert client.cookies["session"]["max-age"] == 12 * 3600


def test_a_session_is_not_written_at_each_request(client: Client, tester: User) -> None:
    signed_in(client, tester).get("/scripts/")
    with CaptureQueriesContext(connection) as queries:
        client.get("/account/password/change/")
    assert [query["sql"] for query in queries if not query["sql"].startswith("SELECT")] == []


def test_a_limit_says_when_the_next_try_is_free() -> None:
    limit = throttle.Limit("of a test", 10, timedelta(minutes=10))
    for _ in range(10):
        throttle.spend(limit, "Somebody")
    for _ in range(3):
        with pytest.raises(throttle.TooManyError) as refused:
            throttle.spend(limit, "somebody")
        assert refused.value.retry_at == Attempt.objects.earliest("at").at + limit.within
    assert Attempt.objects.count() == 10
    throttle.spend(limit, "somebody else")


def test_tries_that_no_limit_looks_at_are_cleared_away() -> None:
    throttle.spend(throttle.SIGN_IN, "somebody")
    Attempt.objects.update(at=timezone.now() - timedelta(days=2))
    throttle.spend(throttle.SIGN_IN, "somebody")
    throttle.clear_away()
    assert Attempt.objects.count() == 1


def test_thirty_wrong_passwords_a_minute_close_an_address_for_every_process(client: Client, tester: User) -> None:
    """Counted in the database: what one process keeps in its memory is emptied between the tries."""
    for n in range(30):
        cache.clear()
        assert attempt(client, f"nobody-{n}@example.test", "wrong").status_code == 422
    cache.clear()
    refused = attempt(client, tester.email)
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= 60
    assert attempt(client, tester.email, REMOTE_ADDR="198.51.100.7").status_code == 302
