"""Signing in, an invitation and an interrupted form in a real browser."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from emma_eval.accounts import invite
from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from emma_eval.accounts.session_store import Session
from results.models import Result
from tests import make
from tests.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def faults_of(page: Page) -> list[str]:
    return [violation["id"] for violation in Axe().run(page, options=WCAG).response["violations"]]


def sign_in_by_keyboard(page: Page, user: User) -> None:
    page.get_by_label("E-mail address").focus()
    page.keyboard.type(user.email)
    page.keyboard.press("Tab")
    page.keyboard.type(make.PASSWORD)
    page.keyboard.press("Enter")


def test_somebody_signs_in_by_keyboard_and_comes_to_the_page_they_asked_for(open_page: OpenPage, tester: User) -> None:
    page = open_page()
    page.goto("/scripts/?q=news")
    sign_in_by_keyboard(page, tester)
    expect(page).to_have_url(re.compile(r"/scripts/\?q=news$"))


def test_an_error_takes_the_focus_and_leads_to_its_field(open_page: OpenPage, administrator: User) -> None:
    page = open_page(administrator)
    page.goto("/people/invite/")
    page.get_by_label("E-mail address").fill("nonsense")
    page.get_by_role("button", name="Send the invitation").click()
    expect(page.get_by_role("alert")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_label("E-mail address")).to_be_focused()
    assert faults_of(page) == []


def test_a_wrong_password_and_too_many_can_be_read_by_everybody(open_page: OpenPage, tester: User) -> None:
    page = open_page(width=360)
    page.goto("/account/login/")
    for _ in range(11):
        page.get_by_label("E-mail address").fill(tester.email)
        page.get_by_label("Password").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        if page.get_by_role("heading", name="Too many tries").count():
            break
        assert faults_of(page) == []
        expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_role("heading", name="Too many tries")).to_be_visible()
    assert faults_of(page) == []


def test_an_invitation_is_accepted_on_a_phone(open_page: OpenPage, administrator: User) -> None:
    made = invite.invite("new@example.test", "", {Role.TESTER}, administrator)
    page = open_page(width=360, has_touch=True)
    page.goto(f"/invitations/{made.token}/")
    page.get_by_label("Your name").fill("Newton")
    page.get_by_label("Password", exact=True).fill(make.PASSWORD)
    page.get_by_label("Password, once more").fill(make.PASSWORD)
    page.get_by_role("button", name="Start").tap()
    expect(page).to_have_url(re.compile(r"/scripts/$"))


@pytest.mark.parametrize("interruption", ["the session ended", "somebody signed out and in again in another tab"])
def test_a_form_without_scripts_survives_an_interruption(open_page: OpenPage, tester: User, interruption: str) -> None:
    """The whole road: type a result, be interrupted, send it, sign in, find it as it was, send it again."""
    make.build("2026.48", is_current=True)
    make.script("bad-news-day", title="Bad news day")
    page = open_page(tester, java_script_enabled=False)
    page.goto("/results/new/?script=bad-news-day")
    page.wait_for_url("**/drafts/**")
    page.locator("textarea[name=comment]").fill("She waited for me, and then she didn't.")
    page.locator('input[name="content"][value="4"]').check()
    if interruption == "the session ended":
        Session.objects.all().delete()
    else:
        other = page.context.new_page()
        other.goto("/account/logout/")
        other.get_by_role("button", name="Sign out").last.click()
        other.get_by_label("E-mail address").fill(tester.email)
        other.get_by_label("Password").fill(make.PASSWORD)
        other.get_by_role("button", name="Sign in").click()
        other.close()
    page.locator("#result-form button[type=submit]").last.click()
    if interruption == "the session ended":
        page.get_by_label("E-mail address").fill(tester.email)
        page.get_by_label("Password").fill(make.PASSWORD)
        page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Here is what you typed before you had to sign in.")).to_be_visible()
    expect(page.locator("textarea[name=comment]")).to_have_value("She waited for me, and then she didn't.")
    expect(page.locator('input[name="content"][value="4"]')).to_be_checked()
    assert Result.objects.count() == 0
