"""Where somebody is signed in, and how it is ended."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.sessions.backends.base import UpdateError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from emma_eval.accounts import change_access, sessions
from emma_eval.accounts.browsers import browser_in_words
from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.session_store import BROWSER, SEEN, Session
from emma_eval.accounts.tasks import clear_away
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/17.5 Mobile/15E148 Safari/604.1"
)


def signed_in(user: User, browser: str = FIREFOX) -> Client:
    client = Client(headers={"User-Agent": browser})
    client.post("/account/login/", {"login": user.email, "password": make.PASSWORD})
    return client


def is_in(client: Client) -> bool:
    return client.get("/account/sessions/").status_code == 200


def rows(client: Client) -> list[Any]:
    return list(client.get("/account/sessions/").context["rows"])


def test_each_browser_is_named_and_this_one_is_marked(tester: User, eval_member: User) -> None:
    this, _, _ = signed_in(tester), signed_in(tester, SAFARI), signed_in(eval_member, "curl/8.0")
    Session.objects.filter(browser=SAFARI).update(seen_at=timezone.now() - timedelta(hours=3))
    assert [(row.browser, row.is_this) for row in rows(this)] == [
        ("Firefox on Linux", True),
        ("Mobile Safari on iOS", False),
    ]
    page = this.get("/account/sessions/").text
    assert "last used about 3\xa0hours ago" in page
    assert "used within the last ten minutes" not in page, "this one needs no such words"
    assert page.count("this one</span>") == 1


def test_no_page_tells_a_key_that_opens_a_session(tester: User) -> None:
    this, _ = signed_in(tester), signed_in(tester, SAFARI)
    page = this.get("/account/sessions/").text
    assert Session.objects.count() == 2
    assert [key for key in Session.objects.values_list("session_key", flat=True) if key in page] == []


def test_another_browser_is_signed_out(tester: User) -> None:
    this, other, third = signed_in(tester), signed_in(tester, SAFARI), signed_in(tester, "curl/8.0")
    name = next(row.name for row in rows(this) if "Safari" in row.browser)
    answer = this.post("/account/sessions/end/", {"session": name}, follow=True)
    assert "That browser is signed out." in answer.text
    assert (is_in(this), is_in(other), is_in(third)) == (True, False, True)
    assert "was signed out already" in this.post("/account/sessions/end/", {"session": name}, follow=True).text
    assert AuditEntry.objects.get().action == "ended a session"


def test_nobody_ends_the_session_of_somebody_else(tester: User, eval_member: User) -> None:
    this, other = signed_in(tester), signed_in(eval_member)
    name = rows(other)[0].name
    for said in (name, other.session.session_key, "", "made-up"):
        this.post("/account/sessions/end/", {"session": said})
    assert is_in(other)
    assert not AuditEntry.objects.exists()


def test_all_others_are_signed_out_at_once(tester: User) -> None:
    this, others = signed_in(tester), [signed_in(tester, SAFARI) for _ in range(2)]
    this.post("/account/sessions/end-others/")
    assert (is_in(this), [is_in(other) for other in others]) == (True, [False, False])
    assert AuditEntry.objects.get().details == {"person": tester.pk, "sessions": 2}


def test_an_administrator_signs_somebody_out_everywhere(tester: User, administrator: User) -> None:
    browsers = [signed_in(tester), signed_in(tester, SAFARI)]
    admin = signed_in(administrator)
    assert "In 2 browsers." in admin.get(f"/people/{tester.pk}/").text
    answer = admin.post(f"/people/{tester.pk}/sessions/end/", follow=True)
    assert "Nowhere at present." in answer.text
    assert [is_in(browser) for browser in browsers] == [False, False]
    assert is_in(admin)
    assert (AuditEntry.objects.get().actor, AuditEntry.objects.get().about) == (administrator, tester.pk)


def test_an_administrator_sees_the_browsers_of_a_person_and_signs_them_out_of_one(
    tester: User, administrator: User, manager: User
) -> None:
    firefox, safari = signed_in(tester), signed_in(tester, SAFARI)
    Session.objects.filter(browser=SAFARI).update(seen_at=timezone.now() - timedelta(hours=3))
    admin, path = signed_in(administrator), f"/people/{tester.pk}/"
    page = admin.get(path)
    assert [row.browser for row in page.context["browsers"]] == ["Firefox on Linux", "Mobile Safari on iOS"]
    assert "last used about 3\xa0hours ago" in page.text
    assert page.text.count("since ") == 2
    assert not any(client.session.session_key in page.text for client in (firefox, safari))
    assert "Firefox on Linux" not in signed_in(manager).get(path).text

    ended = {"session": page.context["browsers"][1].name}
    answer = admin.post(f"{path}sessions/end-one/", ended, follow=True)
    assert "signed out of that browser" in answer.text
    assert [is_in(client) for client in (firefox, safari, admin)] == [True, False, True]
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.about) == (administrator, "ended a session", tester.pk)
    assert "signed out already" in admin.post(f"{path}sessions/end-one/", ended, follow=True).text

    own = admin.get(f"/people/{administrator.pk}/").context["browsers"][0]
    admin.post(f"{path}sessions/end-one/", {"session": own.name})
    assert is_in(admin), "a browser is signed out on its own person's page only"
    assert AuditEntry.objects.count() == 1


def test_an_administrator_stays_signed_in_where_they_press_it(administrator: User) -> None:
    here, there = signed_in(administrator), signed_in(administrator, SAFARI)
    here.post(f"/people/{administrator.pk}/sessions/end/")
    assert (is_in(here), is_in(there)) == (True, False)


def test_a_new_password_signs_out_everywhere_else(tester: User) -> None:
    this, other = signed_in(tester), signed_in(tester, SAFARI)
    new = "an-even-longer-password"
    this.post("/account/password/change/", {"oldpassword": make.PASSWORD, "password1": new, "password2": new})
    assert (is_in(this), is_in(other)) == (True, False)
    assert [row.is_this for row in rows(this)] == [True], "none is left in the list either"


def test_deactivating_ends_every_session(tester: User) -> None:
    browsers = [signed_in(tester), signed_in(tester, SAFARI)]
    change_access.deactivate(tester, None)
    assert not Session.objects.filter(user=tester).exists()
    change_access.reactivate(tester, None)
    assert [is_in(browser) for browser in browsers] == [False, False]


def test_a_session_that_is_ended_while_it_answers_stays_ended(tester: User) -> None:
    """The request that was on its way writes the session afterwards; that must not bring it back."""
    this = signed_in(tester)
    session = this.session
    session["anything"] = 1
    Session.objects.all().delete()
    with pytest.raises(UpdateError):
        session.save()
    assert not is_in(this)


def test_a_session_that_ran_out_is_listed_no_more_and_cleared_away(tester: User) -> None:
    this, _ = signed_in(tester), signed_in(tester, SAFARI)
    Session.objects.filter(browser=SAFARI).update(expire_date=timezone.now() - timedelta(seconds=1))
    assert len(rows(this)) == 1
    clear_away()
    assert Session.objects.count() == 1


def test_signing_out_removes_the_session(tester: User) -> None:
    this = signed_in(tester)
    this.post("/account/logout/")
    assert not Session.objects.filter(user=tester).exists()


def test_when_it_was_last_seen_is_written_every_ten_minutes_and_not_in_between(tester: User) -> None:
    this = signed_in(tester)
    with CaptureQueriesContext(connection) as queries:
        this.get("/account/password/change/")
    assert [query["sql"] for query in queries if not query["sql"].startswith("SELECT")] == []
    session = this.session
    session[SEEN] -= sessions.REFRESHED_EVERY_S + 1
    session.save()
    this.get("/account/password/change/")
    seen_at = Session.objects.get().seen_at
    assert seen_at is not None
    assert time.time() - seen_at.timestamp() < 60


def test_an_anonymous_request_asks_the_database_nothing(client: Client, db: None) -> None:
    with CaptureQueriesContext(connection) as queries:
        client.get("/account/login/")
        client.get("/healthz")
    assert [query["sql"] for query in queries] == []


def test_what_a_browser_calls_itself_is_cut_and_becomes_no_markup(tester: User) -> None:
    this = signed_in(tester, "Firefox/1 <script>xq9()</script>" + "x" * 5000)
    assert len(this.session[BROWSER]) == 300
    assert "<script>xq9" not in this.get("/account/sessions/").text


@pytest.mark.parametrize(
    ("says", "words"),
    [
        (FIREFOX, "Firefox on Linux"),
        (SAFARI, "Mobile Safari on iOS"),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 "
            "Safari/537.36",
            "Chrome on Windows",
        ),
        ("curl/8.0", "curl"),
        ("", "A browser that doesn't say its name"),
    ],
)
def test_a_browser_is_named_in_words(says: str, words: str) -> None:
    assert browser_in_words(says) == words


def test_the_tables_of_all_browsers_are_not_read_before_they_are_needed() -> None:
    loaded = "import emma_eval.wsgi, sys; print([m for m in ('ua_parser', 'jwt') if m in sys.modules])"
    said = subprocess.run(
        [sys.executable, "-c", loaded], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )
    assert said.stdout == "[]\n"
