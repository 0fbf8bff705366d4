"""Nothing that was marked is lost: offline, killed, signed out, in two tabs."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models import F
from playwright.sync_api import Browser, Dialog, Page, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from emma_eval.accounts.session_store import Session
from results.models import Call, Moment
from scripts_catalog.models import Script
from tests import make
from tests.browser.beside_a_call import begin, go_to, mark, moments_are, standing
from tests.browser.copies import copies
from tests.browser.lasting import home, kill
from tests.conftest import OpenPage, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def kept_here(page: Page) -> int:
    """How many moments the page calls kept, on the site or in this browser, while it is looked at."""
    count: int = page.evaluate(
        """() => [...document.querySelectorAll("[data-moments] [data-standing]")]
                 .filter((each) => each.textContent.startsWith("kept")).length"""
    )
    return count


@pytest.mark.parametrize("is_offline", [False, True], ids=["online", "offline"])
def test_a_browser_killed_right_after_marks_loses_none(
    chromium: Browser, tmp_path: Path, tess: User, call: Call, live_server: LiveServer, is_offline: bool
) -> None:
    """What the page calls kept outlives the browser, at whatever instant it is killed."""
    promised = 0
    for wait_ms in (0, 30, 150, None):
        context = home(chromium, tmp_path, tess, live_server)
        page = context.new_page()
        go_to(page, call)
        if not page.locator("[data-mark]").is_visible():
            begin(page)
        standing(page, "All kept")
        found = page.locator("[data-moments] li").count()
        assert found >= promised
        if wait_ms is None:
            break
        context.set_offline(is_offline)
        for _ in range(3):
            page.keyboard.press("m")
        page.wait_for_timeout(wait_ms)
        promised = kept_here(page)
        kill(tmp_path)
        assert promised >= (found + 3 if wait_ms == 150 else found)
    assert call.moments.count() == found >= 3
    times = [moment.at_ms for moment in call.moments.all()]
    assert times == sorted(times)
    context.close()


def test_a_call_begun_offline_in_a_browser_that_is_killed(
    chromium: Browser, tmp_path: Path, tess: User, call: Call, live_server: LiveServer
) -> None:
    context = home(chromium, tmp_path, tess, live_server)
    page = context.new_page()
    go_to(page, call)
    context.set_offline(True)
    begin(page)
    page.wait_for_timeout(1_100)
    mark(page, "Before the end")
    page.keyboard.press("n")
    page.wait_for_timeout(300)
    kill(tmp_path)
    assert Call.objects.get().started_at is None
    context = home(chromium, tmp_path, tess, live_server)
    page = context.new_page()
    go_to(page, call)
    expect(page.locator("[data-uncertain]")).to_be_visible()
    expect(page.locator("[data-moments]")).to_contain_text("Before the end")
    standing(page, "All kept")
    moment = call.moments.get()
    assert moment.at_ms >= 1_000
    call.refresh_from_db()
    assert call.started_at is not None
    assert call.start_is_uncertain
    page.reload()
    expect(page.locator("[data-uncertain]")).to_be_visible()
    assert call.started_at <= moment.received_at - timedelta(milliseconds=moment.at_ms)
    assert list(call.runs.get().ticks) == ["1"]
    context.close()


def test_a_beginning_that_another_page_tells_is_uncertain_for_good(
    chromium: Browser, tmp_path: Path, tess: User, call: Call, live_server: LiveServer
) -> None:
    context = home(chromium, tmp_path, tess, live_server)
    page = context.new_page()
    go_to(page, call)
    context.set_offline(True)
    begin(page)
    mark(page)
    moments_are(page, "kept here only")
    kill(tmp_path)
    context = home(chromium, tmp_path, tess, live_server)
    page = context.new_page()
    with page.expect_response(re.compile("/tell/$")):
        page.goto("/scripts/")
    call.refresh_from_db()
    assert call.start_is_uncertain
    for _ in range(2):
        go_to(page, call)
        expect(page.get_by_text("may have begun earlier than its clock says")).to_be_visible()
    context.close()


def test_a_beginning_that_its_own_page_tells_late_is_certain(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess)
    go_to(page, call)
    page.context.set_offline(True)
    begin(page)
    page.wait_for_timeout(500)
    page.context.set_offline(False)
    standing(page, "All kept")
    call.refresh_from_db()
    assert not call.start_is_uncertain
    expect(page.locator("[data-uncertain]")).to_be_hidden()


def test_what_was_left_is_sent_from_whatever_page_is_opened_next(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    standing(page, "All kept")
    page.context.set_offline(True)
    mark(page, "Left behind")
    moments_are(page, "kept here only")
    standing(page, "Kept here, not sent yet: 1")
    page.close()
    page = page.context.new_page()
    page.context.set_offline(False)
    page.route(re.compile("/tell/$"), lambda route: route.abort())
    page.goto("/todo/")
    row = page.locator("[data-left-call]")
    expect(row).to_contain_text("One moment not sent yet")
    expect(row.get_by_role("link")).to_have_attribute("href", call.get_absolute_url())
    page.unroute_all()
    with page.expect_response(re.compile("/tell/$")):
        page.goto("/scripts/")
    page.goto("/todo/")
    expect(row).to_have_count(0)
    assert call.moments.get().words == "Left behind"
    assert copies(page) == []


def test_a_reload_in_the_very_instant_of_a_mark(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    standing(page, "All kept")
    page.route(re.compile("/tell/$"), lambda route: route.abort())
    page.evaluate("() => { document.querySelector('[data-mark]').click(); location.reload(); }")
    expect(page.locator("[data-mark]")).to_be_visible()
    page.wait_for_load_state("load")
    moments_are(page, "kept here only")
    page.unroute_all()
    moments_are(page, "kept")
    assert call.moments.count() == 1


def test_two_tabs_are_one_call(open_page: OpenPage, tess: User, call: Call) -> None:
    first = open_page(tess)
    go_to(first, call)
    second = first.context.new_page()
    go_to(second, call)
    first.bring_to_front()
    begin(first)
    expect(second.locator("[data-mark]")).to_be_visible()
    mark(first, "From the first")
    expect(second.locator("[data-moments]")).to_contain_text("From the first")
    first.context.set_offline(True)
    second.bring_to_front()
    mark(second, "From the second, offline")
    expect(first.locator("[data-moments]")).to_contain_text("From the second, offline")
    first.keyboard.press("n")
    expect(second.locator("[data-place]")).to_have_text("Step 2 of 2")
    first.context.set_offline(False)
    moments_are(first, "kept", "kept")
    moments_are(second, "kept", "kept")
    assert [moment.words for moment in call.moments.all()] == ["From the first", "From the second, offline"]
    second.get_by_role("button", name="End the call").click()
    expect(first.get_by_role("heading", name=re.compile("The call ended at"))).to_be_visible()


def test_a_call_begun_offline_in_one_of_two_tabs(open_page: OpenPage, tess: User, call: Call) -> None:
    first = open_page(tess)
    go_to(first, call)
    second = first.context.new_page()
    go_to(second, call)
    first.context.set_offline(True)
    first.bring_to_front()
    begin(first)
    second.bring_to_front()
    mark(second)
    moments_are(second, "kept here only")
    first.close()
    second.context.set_offline(False)
    moments_are(second, "kept")
    call.refresh_from_db()
    assert call.started_at is not None


def test_an_hour_offline_loses_nothing(open_page: OpenPage, tess: User, call: Call) -> None:
    """The hour is made: Playwright's clock moves the page's timers and its monotonic clock, and the site's is moved."""
    page = open_page(tess)
    page.clock.install()
    go_to(page, call)
    begin(page)
    mark(page)
    moments_are(page, "kept")
    page.context.set_offline(True)
    for _ in range(6):
        page.clock.fast_forward(600_000)
        mark(page)
    page.keyboard.press("n")
    standing(page, "Kept here, not sent yet: 7")
    Call.objects.update(started_at=F("started_at") - timedelta(hours=1))
    page.context.set_offline(False)
    moments_are(page, *["kept"] * 7)
    assert [round(moment.at_ms / 600_000) for moment in call.moments.all()] == list(range(7))
    assert round(call.runs.get().ticks["1"] / 600_000) == 6


def test_the_end_is_kept_too_and_nobody_is_led_away_from_what_is_unsent(
    open_page: OpenPage, tess: User, call: Call
) -> None:
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    standing(page, "All kept")
    page.context.set_offline(True)
    mark(page)
    page.get_by_role("button", name="End the call").click()
    expect(page.locator("[data-ended-unsent]")).to_be_visible()
    standing(page, "Kept here, not sent yet: 2")
    assert page.url.endswith(call.get_absolute_url())
    page.context.set_offline(False)
    expect(page.locator("[data-ended-unsent]")).to_be_hidden()
    assert page.url.endswith(call.get_absolute_url())
    call.refresh_from_db()
    assert call.ended_at_ms is not None
    assert call.moments.count() == 1


def test_signed_out_in_the_middle(open_page: OpenPage, tess: User, call: Call, live_server: LiveServer) -> None:
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    standing(page, "All kept")
    Session.objects.all().delete()
    mark(page, "Signed out")
    standing(page, "Signed out.")
    standing(page, "Kept here, not sent yet: 1")
    link = page.get_by_role("link", name="Sign in in another tab")
    expect(link).to_have_attribute("target", "_blank")
    with page.expect_popup() as other:
        link.click()
    other.value.get_by_label("E-mail").fill(tess.email)
    other.value.locator('input[type="password"]').fill(make.PASSWORD)
    other.value.keyboard.press("Enter")
    other.value.wait_for_url(re.compile("/calls/"))
    other.value.close()
    page.evaluate("dispatchEvent(new Event('focus'))")
    standing(page, "All kept")
    expect(page.get_by_role("link", name="Sign in in another tab")).to_have_count(0)
    assert call.moments.get().words == "Signed out"


def test_what_one_person_marked_is_never_told_as_another(
    open_page: OpenPage, tess: User, call: Call, live_server: LiveServer
) -> None:
    theo = make.user("theo@example.test", Role.TESTER, name="Theo")
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    standing(page, "All kept")
    page.context.set_offline(True)
    mark(page, "Tess's own")
    moments_are(page, "kept here only")
    sign_in(page.context, theo, live_server.url)
    page.context.set_offline(False)
    standing(page, "Not open to whoever is signed in now")
    other = page.context.new_page()
    other.goto("/todo/")
    other.wait_for_timeout(500)
    expect(other.locator("[data-left-call]")).to_have_count(0)
    assert not Moment.objects.exists()
    other.close()
    sign_in(page.context, tess, live_server.url)
    page.evaluate("dispatchEvent(new Event('focus'))")
    standing(page, "All kept")
    assert Moment.objects.get().call == call


def test_signing_out_takes_nothing_of_others(
    open_page: OpenPage, tess: User, call: Call, live_server: LiveServer
) -> None:
    theo = make.user("theo@example.test", Role.TESTER, name="Theo")
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    standing(page, "All kept")
    page.context.set_offline(True)
    mark(page, "Tess's own")
    moments_are(page, "kept here only")
    page.close()
    page = page.context.new_page()
    page.context.set_offline(False)
    sign_in(page.context, theo, live_server.url)
    page.goto("/scripts/")
    page.evaluate("window.localCopies.keep(window.localCopies.keyOf('draft', 'x'), {})")
    assert len(copies(page)) == 2
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(re.compile("/account/"))
    assert [key.split(":")[1] for key in copies(page)] == ["call"]
    sign_in(page.context, tess, live_server.url)
    go_to(page, call)
    expect(page.locator("[data-moments]")).to_contain_text("Tess's own")
    moments_are(page, "kept")


def test_a_script_that_became_safety_meanwhile_is_told_with_who_can_help(
    open_page: OpenPage, tess: User, call: Call
) -> None:
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    standing(page, "All kept")
    Script.objects.update(area="safety")
    mark(page, "Still mine")
    standing(page, "Not open to whoever is signed in now. Kept here: 1")
    expect(page.locator("[data-closed]")).to_contain_text("the eval team can help")
    moments_are(page, "kept here only")
    page.close()
    page = page.context.new_page()
    page.goto("/todo/")
    row = page.locator("[data-left-call]")
    expect(row).to_contain_text("The eval team can help.")
    expect(row).not_to_contain_text("as soon as the site can be reached")
    expect(row.get_by_role("link")).to_have_count(0)
    Script.objects.update(area="everyday")
    with page.expect_response(re.compile("/tell/$")):
        page.goto("/scripts/")
    page.wait_for_timeout(300)
    assert call.moments.get().words == "Still mine"


def test_without_the_token_it_gets_a_fresh_one(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    standing(page, "All kept")
    page.context.clear_cookies(name="csrf")
    mark(page)
    moments_are(page, "kept")


def test_signing_out_sends_what_is_left_or_asks(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    standing(page, "All kept")
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", answer)
    page.route(re.compile("/tell/$"), lambda route: route.abort())
    mark(page)
    moments_are(page, "kept here only")
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_timeout(500)
    assert asked
    assert asked[0].startswith("One moment not sent yet.")
    assert len(copies(page)) == 1
    page.unroute_all()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(re.compile("/account/"))
    assert copies(page) == []
    assert call.moments.count() == 1


def test_a_browser_without_memory_says_so_and_asks_before_it_is_left(
    open_page: OpenPage, tess: User, call: Call
) -> None:
    """A browser that refuses its memory, as some do in private windows, is made by taking it away."""
    page = open_page(tess)
    page.add_init_script(
        "Object.defineProperty(window, 'indexedDB', { value: { open() { throw new Error('no'); } } });"
    )
    go_to(page, call)
    begin(page)
    mark(page)
    moments_are(page, "kept")
    page.context.set_offline(True)
    mark(page)
    standing(page, "Not sent, and this browser can't keep a copy: 1")
    moments_are(page, "not kept yet", "kept")
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", answer)
    page.close(run_before_unload=True)
    page.wait_for_timeout(500)
    assert asked == ["beforeunload"]
    page.context.set_offline(False)
    moments_are(page, "kept", "kept")
