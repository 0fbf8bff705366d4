"""Correcting in a real browser: what is typed and not saved stays in that browser, and nothing is saved by itself."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from emma_eval.accounts.session_store import Session
from results.filing.correct_result import correct_result, filing_of
from results.models import Result
from tests import make
from tests.browser.copies import copies
from tests.conftest import OpenPage, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FILED = re.compile(r"/results/\d+/$")
KEPT = "Not saved yet: kept in this browser"


@pytest.fixture
def result(tess: User) -> Result:
    script = make.script("bad-news-day", title="Bad news day")
    return make.result(tess, script, make.build("2026.10"), comment="As filed.", problems=("cut_in",))


def state(page: Page, words: str) -> None:
    expect(page.locator("[data-state]")).to_have_text(words)


def edit(page: Page, result: Result) -> None:
    page.goto(f"/results/{result.pk}/edit/")


def test_what_was_typed_comes_back_until_it_is_saved(open_page: OpenPage, tess: User, result: Result) -> None:
    page = open_page(tess)
    edit(page, result)
    state(page, "")
    page.locator("#id_comment").fill("Corrected.")
    page.locator("#content-1").click()
    state(page, KEPT)
    page.goto("/todo/")
    row = page.locator("[data-local-copies] li")
    expect(row).to_contain_text("Corrected.")
    row.get_by_role("link", name="Correction of “Bad news day”").click()
    expect(page.locator("#id_comment")).to_have_value("Corrected.")
    expect(page.locator("#content-1")).to_be_checked()
    expect(page.locator("[data-restored]")).to_be_visible()
    state(page, KEPT)
    result.refresh_from_db()
    assert result.comment == "As filed."
    page.get_by_role("button", name="Save the correction").click()
    page.wait_for_url(FILED)
    result.refresh_from_db()
    assert (result.comment, result.content) == ("Corrected.", 1)
    edit(page, result)
    state(page, "")
    expect(page.locator("[data-restored]")).to_be_hidden()
    assert copies(page) == []


def test_what_is_filed_can_be_had_back(open_page: OpenPage, tess: User, result: Result) -> None:
    page = open_page(tess)
    edit(page, result)
    page.locator("#id_comment").fill("A mistake.")
    state(page, KEPT)
    page.get_by_role("link", name="Leave it as it is").click()
    edit(page, result)
    expect(page.locator("#id_comment")).to_have_value("A mistake.")
    page.get_by_role("button", name="Show what is filed instead").click()
    expect(page.locator("#id_comment")).to_have_value("As filed.")
    expect(page.locator("[data-restored]")).to_be_hidden()
    assert copies(page) == []


def test_what_is_typed_back_needs_no_copy(open_page: OpenPage, tess: User, result: Result) -> None:
    page = open_page(tess)
    edit(page, result)
    page.locator("#id_comment").fill("Something else.")
    state(page, KEPT)
    page.locator("#id_comment").fill("As filed.")
    state(page, "")
    assert copies(page) == []


def test_a_refused_correction_is_kept_too(open_page: OpenPage, tess: User, result: Result) -> None:
    page = open_page(tess)
    edit(page, result)
    page.locator("#id_recording_link").fill("call 12")
    page.get_by_role("button", name="Save the correction").click()
    expect(page.locator(".error-summary")).to_contain_text("This is not a link")
    state(page, KEPT)
    edit(page, result)
    expect(page.locator("#id_recording_link")).to_have_value("call 12")


def test_a_result_that_was_corrected_meanwhile_is_not_written_over(
    open_page: OpenPage, tess: User, result: Result
) -> None:
    page = open_page(tess)
    edit(page, result)
    page.locator("#id_comment").fill("From the laptop.")
    state(page, KEPT)
    page.goto("/todo/")
    said = filing_of(result)
    correct_result(tess, result, type(said)(**{**said.__dict__, "comment": "From the phone."}), based_on=1)
    edit(page, result)
    expect(page.locator("#id_comment")).to_have_value("From the laptop.")
    page.get_by_role("button", name="Save the correction").click()
    expect(page.locator(".error-summary")).to_contain_text("another tab changed this to “From the phone.”")
    result.refresh_from_db()
    assert result.comment == "From the phone."
    expect(page.locator("#id_comment")).to_have_value("From the laptop.")


def test_signing_out_clears_corrections(open_page: OpenPage, tess: User, result: Result) -> None:
    page = open_page(tess)
    edit(page, result)
    page.locator("#id_comment").fill("Nobody else's business.")
    state(page, KEPT)
    assert copies(page) == [f"{tess.pk}:correction:{result.pk}"]
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(re.compile("/account/"))
    assert copies(page) == []


def test_a_session_that_ended_loses_no_correction(
    open_page: OpenPage, tess: User, result: Result, live_server: LiveServer
) -> None:
    page = open_page(tess)
    edit(page, result)
    page.locator("#id_comment").fill("Typed before the end.")
    state(page, KEPT)
    Session.objects.all().delete()
    page.get_by_role("button", name="Save the correction").click()
    page.wait_for_url(re.compile("/account/login/"))
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    sign_in(page.context, tess, live_server.url)
    edit(page, result)
    expect(page.locator("#id_comment")).to_have_value("Typed before the end.")


def test_offline_it_says_so_and_stays(open_page: OpenPage, tess: User, result: Result) -> None:
    page = open_page(tess)
    edit(page, result)
    page.context.set_offline(True)
    page.locator("#id_comment").fill("In the tunnel.")
    page.get_by_role("button", name="Save the correction").click()
    expect(page.locator("[data-state]")).to_contain_text("offline")
    page.context.set_offline(False)
    page.get_by_role("button", name="Save the correction").click()
    page.wait_for_url(FILED)
    result.refresh_from_db()
    assert result.comment == "In the tunnel."
