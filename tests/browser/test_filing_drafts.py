"""Drafts in a real browser: offline, killed, signed out, in two tabs. Nothing is lost and nothing overwritten."""

from __future__ import annotations

import re
import time
from pathlib import Path
from random import Random

import pytest
from django.conf import settings
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from emma_eval.accounts.session_store import Session
from results.models import Draft, Result
from scripts_catalog.models import Build, Script
from tests import make
from tests.browser.copies import copies
from tests.browser.lasting import home, kill
from tests.conftest import OpenPage, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FORM = "/results/new/?script=bad-news-day"
FILED = re.compile(r"/results/\d+/$")


@pytest.fixture(autouse=True)
def script(live_server: LiveServer) -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture(autouse=True)
def build(live_server: LiveServer) -> Build:
    return make.build("2026.10", is_current=True)


def state(page: Page, words: str) -> None:
    expect(page.locator("[data-state]")).to_contain_text(words, timeout=15_000)


def type_comment(page: Page, words: str) -> None:
    page.locator("#id_comment").press("End")
    page.keyboard.type(words)


def finish(page: Page) -> None:
    for key in ("listening_timing", "content", "voice_audio", "face_video", "emotional_fit"):
        page.locator(f"#{key}-3").click()
    page.locator("#met_emma_before-no").click()
    page.get_by_role("button", name="File the result").click()


def test_the_browser_makes_the_uuid_and_the_draft_is_saved_within_two_seconds(open_page: OpenPage, tess: User) -> None:
    page = open_page(tess)
    with page.expect_response(FORM) as answer:
        page.goto(FORM)
    assert page.url.split("/drafts/")[1][:36] not in answer.value.text()
    with page.expect_response(lambda response: response.request.method == "PUT", timeout=2_000):
        type_comment(page, "Half a")
    state(page, "Saved ")
    draft = Draft.objects.get()
    assert str(draft.uuid) in page.url
    assert draft.fields["comment"] == "Half a"
    page.reload()
    expect(page.locator("#id_comment")).to_have_value("Half a")


def test_an_untouched_form_saves_nothing(open_page: OpenPage, tess: User) -> None:
    page = open_page(tess)
    page.goto(FORM)
    page.context.set_offline(True)
    page.context.set_offline(False)
    page.wait_for_timeout(1_200)
    assert not Draft.objects.exists()


def test_offline_in_the_middle(open_page: OpenPage, tess: User) -> None:
    page = open_page(tess)
    page.goto(FORM)
    type_comment(page, "Online. ")
    state(page, "Saved ")
    page.context.set_offline(True)
    type_comment(page, "Offline. ")
    state(page, "Not saved: offline — kept in this browser")
    finish(page)
    state(page, "offline")
    assert Draft.objects.get().fields["comment"] == "Online. "
    page.context.set_offline(False)
    state(page, "Saved ")
    assert Draft.objects.get().fields["comment"] == "Online. Offline. "
    page.get_by_role("button", name="File the result").click()
    page.wait_for_url(FILED)
    assert Result.objects.get().comment == "Online. Offline."


def close_offline(page: Page) -> None:
    """Close the browser, and let nothing out on its way: a context that closes is online again for a moment."""
    page.evaluate("() => { window.fetch = () => new Promise(() => {}); }")
    page.context.close()


def test_a_closed_browser_brings_back_what_only_it_had(
    chromium: Browser, tmp_path: Path, tess: User, live_server: LiveServer
) -> None:
    context = home(chromium, tmp_path, tess, live_server)
    page = context.new_page()
    page.goto(FORM)
    address = page.url
    page.keyboard.press("2")
    state(page, "Saved ")
    context.set_offline(True)
    type_comment(page, "Never sent.")
    page.locator(".tag-group").get_by_role("button", name="Repeated itself").click()
    state(page, "Not saved: offline")
    close_offline(page)
    assert "comment" not in Draft.objects.get().fields
    context = home(chromium, tmp_path, tess, live_server)
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#id_comment")).to_have_value("Never sent.")
    expect(page.locator("#listening_timing-2")).to_be_checked()
    expect(page.locator("[data-picked] li")).to_have_text([re.compile("Repeated itself")])
    state(page, "Saved ")
    assert Draft.objects.get().fields["comment"] == "Never sent."
    context.close()


def test_a_killed_browser_loses_at_most_two_seconds(
    chromium: Browser, tmp_path: Path, tess: User, live_server: LiveServer
) -> None:
    context = home(chromium, tmp_path, tess, live_server)
    page = context.new_page()
    page.goto(FORM)
    address = page.url
    type_comment(page, "Typed two seconds before the end.")
    page.wait_for_timeout(2_000)
    kill(tmp_path)
    second = home(chromium, tmp_path / "another", tess, live_server)
    page = second.new_page()
    page.goto(address)
    expect(page.locator("#id_comment")).to_have_value("Typed two seconds before the end.")
    second.close()


def test_offline_a_killed_browser_loses_at_most_two_seconds_whenever_it_is_killed(
    chromium: Browser, tmp_path: Path, tess: User, live_server: LiveServer
) -> None:
    rng, times = Random(20), 5
    context = home(chromium, tmp_path, tess, live_server)
    for _ in range(times):
        page = context.new_page()
        page.goto(FORM)
        address = page.url
        context.set_offline(True)
        page.locator("#id_comment").focus()
        typed = type_until(page, time.monotonic() + rng.uniform(2.2, 3.6))
        kill(tmp_path)
        killed_at = time.monotonic()
        context = home(chromium, tmp_path, tess, live_server)  # which is at work again for the next time
        page = context.new_page()
        page.goto(address)
        last = max(word for word, at in typed.items() if at <= killed_at - 2)
        expect(page.locator("#id_comment")).to_have_value(re.compile(f"^1 2 .*{last} "))
    context.close()
    assert Draft.objects.count() <= times


def type_until(page: Page, end: float) -> dict[int, float]:
    """Type 1, 2, 3, ... as fast as it goes; when each was typed."""
    typed: dict[int, float] = {}
    while time.monotonic() < end:
        word = len(typed) + 1
        page.keyboard.type(f"{word} ")
        typed[word] = time.monotonic()
    return typed


def test_two_tabs_are_put_together_by_choice(open_page: OpenPage, tess: User) -> None:
    first = open_page(tess)
    first.goto(FORM)
    type_comment(first, "Start. ")
    first.locator("#content-2").click()
    state(first, "Saved ")
    second = first.context.new_page()
    second.goto(first.url)
    expect(second.locator("#id_comment")).to_have_value("Start. ")
    type_comment(first, "First tab.")
    state(first, "Saved ")
    expect(first.locator("[data-state]")).to_contain_text("Saved")
    first.wait_for_function("() => document.querySelector('[name=version]').value >= 2")
    type_comment(second, "Second tab.")
    second.locator("#content-4").click()
    choices = second.locator("[data-choices]")
    expect(choices).to_contain_text("Start. First tab.")
    expect(choices).to_contain_text("Start. Second tab.")
    state(second, "another tab changed this draft")
    assert Draft.objects.get().fields["comment"] == "Start. First tab."
    choices.get_by_role("group", name="Content").get_by_text("Here").click()
    choices.get_by_role("group", name="Comment").get_by_text("The other tab").click()
    second.get_by_role("button", name="Go on with these").click()
    expect(second.locator(".notices")).to_contain_text("Put together")
    expect(second.locator("#id_comment")).to_have_value("Start. First tab.")
    expect(second.locator("#content-4")).to_be_checked()
    second.reload()
    expect(second.locator("#id_comment")).to_have_value("Start. First tab.")
    second.wait_for_timeout(1_000)
    expect(second.locator("[data-choices]")).to_have_count(0)
    type_comment(first, " And more.")
    expect(first.locator("[data-choices]")).to_be_visible()
    assert Draft.objects.get().fields["content"] == "4"


def test_what_a_tab_kept_and_the_site_got_from_another_is_put_together(
    chromium: Browser, tmp_path: Path, open_page: OpenPage, tess: User, live_server: LiveServer
) -> None:
    context = home(chromium, tmp_path, tess, live_server)
    page = context.new_page()
    page.goto(FORM)
    address = page.url
    type_comment(page, "Common. ")
    state(page, "Saved ")
    context.set_offline(True)
    type_comment(page, "Kept on the laptop.")
    state(page, "Not saved")
    close_offline(page)
    phone = open_page(tess, width=360)
    phone.goto(address)
    type_comment(phone, "Typed on the phone.")
    state(phone, "Saved ")
    phone.wait_for_function("() => document.querySelector('[name=version]').value >= 2")
    context = home(chromium, tmp_path, tess, live_server)
    page = context.new_page()
    page.goto(address)
    expect(page.locator("[data-choices]")).to_contain_text("Kept on the laptop.")
    expect(page.locator("[data-choices]")).to_contain_text("Typed on the phone.")
    assert Draft.objects.get().fields["comment"] == "Common. Typed on the phone."
    context.close()


def test_signed_out_in_the_middle(open_page: OpenPage, tess: User, live_server: LiveServer) -> None:
    page = open_page(tess)
    page.goto(FORM)
    type_comment(page, "Signed in. ")
    state(page, "Saved ")
    Session.objects.all().delete()
    type_comment(page, "Signed out. ")
    state(page, "Not saved: signed out — kept in this browser")
    sign_in(page.context, tess, live_server.url)
    page.context.add_cookies([{"name": settings.CSRF_COOKIE_NAME, "value": "a" * 32, "url": live_server.url}])
    page.evaluate("dispatchEvent(new Event('focus'))")
    state(page, "Saved ")
    assert Draft.objects.get().fields["comment"] == "Signed in. Signed out. "
    finish(page)
    page.wait_for_url(FILED)


def test_without_any_cookie_the_sign_in_is_offered(open_page: OpenPage, tess: User, live_server: LiveServer) -> None:
    page = open_page(tess)
    page.goto(FORM)
    type_comment(page, "With cookies. ")
    state(page, "Saved ")
    page.context.clear_cookies()
    type_comment(page, "Without. ")
    state(page, "Not saved: signed out — kept in this browser")
    link = page.locator("[data-state] a")
    expect(link).to_have_attribute("href", re.compile("/account/login/.*drafts"))
    sign_in(page.context, tess, live_server.url)
    page.evaluate("dispatchEvent(new Event('focus'))")
    state(page, "Saved ")
    assert Draft.objects.get().fields["comment"] == "With cookies. Without. "


def test_without_the_token_alone_it_gets_a_fresh_one(open_page: OpenPage, tess: User) -> None:
    page = open_page(tess)
    page.goto(FORM)
    page.context.clear_cookies(name=settings.CSRF_COOKIE_NAME)
    type_comment(page, "No token.")
    state(page, "Saved ")


def test_filing_after_the_session_is_over_leads_through_the_sign_in_and_back(open_page: OpenPage, tess: User) -> None:
    page = open_page(tess)
    page.goto(FORM)
    type_comment(page, "Long and dear.")
    state(page, "Saved ")
    Session.objects.all().delete()
    finish(page)
    page.wait_for_url(re.compile("/account/login/"))
    page.get_by_label("E-mail").fill(tess.email)
    page.locator('input[type="password"]').fill(make.PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/drafts/"))
    expect(page.locator("#id_comment")).to_have_value("Long and dear.")
    expect(page.locator("#content-3")).to_be_checked()
    page.get_by_role("button", name="File the result").click()
    page.wait_for_url(FILED)
    assert Result.objects.get().comment == "Long and dear."


def test_signing_out_clears_the_copies(open_page: OpenPage, tess: User) -> None:
    page = open_page(tess)
    page.goto(FORM)
    type_comment(page, "Nobody else's business.")
    state(page, "Saved ")
    assert len(copies(page)) == 1
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(re.compile("/account/"))
    assert copies(page) == []


def test_a_draft_that_never_reached_the_site_is_on_the_to_do_page(open_page: OpenPage, tess: User) -> None:
    page = open_page(tess)
    page.goto(FORM)
    page.context.set_offline(True)
    type_comment(page, "Only here.")
    state(page, "Not saved: offline")
    other = page.context.new_page()
    page.close()
    other.context.set_offline(False)
    other.goto("/todo/")
    other.locator("[data-local-copies]").get_by_role("link", name="Bad news day").click()
    expect(other.locator("#id_comment")).to_have_value("Only here.")
    state(other, "Saved ")


def test_a_comment_of_a_million_letters_is_refused_in_words_and_kept(open_page: OpenPage, tess: User) -> None:
    page = open_page(tess)
    page.goto(FORM)
    page.locator("#id_comment").fill("x" * 1_000_000)
    state(page, "Not saved: This is too long to be saved. Shorten the comment")
    expect(page.locator("[data-comment-left]")).to_have_text("980,000 characters too many")
    finish(page)
    expect(page.locator(".error-summary")).to_contain_text("take out 980,000")
    assert len(page.locator("#id_comment").input_value()) == 1_000_000
