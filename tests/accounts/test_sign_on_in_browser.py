"""Sign-on in a real browser, against the real provider: the button, the sign-in there, and back."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts import invite, link_in
from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from emma_eval.accounts.session_store import Session
from results.models import Result
from tests import make
from tests.accounts.provider import PASSWORD
from tests.accounts.provider.road import Provider
from tests.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


@pytest.fixture
def site(provider: Provider, live_server: LiveServer, settings: Settings) -> Provider:
    """The provider sends back to the site of the browser."""
    provider.comes_back_to(live_server.url)
    settings.ORIGIN = live_server.url
    settings.SIGN_ON = provider.configured()
    return provider


def sign_in_there(page: Page, provider: Provider, name: str) -> None:
    page.get_by_role("button", name="Sign in with the provider").click()
    expect(page.get_by_role("heading", name="The provider", exact=True)).to_be_visible()
    assert page.url.startswith(provider.issuer.removesuffix("/o"))
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Let me in").click()


def faults_of(page: Page) -> list[str]:
    found = [violation["id"] for violation in Axe().run(page, options=WCAG).response["violations"]]
    too_wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return [*found, *(["scrolls sideways"] if too_wide > 0 else [])]


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_somebody_comes_in_and_lands_where_they_wanted_to_be(
    open_page: OpenPage, site: Provider, scripts: bool
) -> None:
    """In the content policy that every page has, forms stay on this site; the road to the provider must pass."""
    site.says("ann", name="Ann Archer")
    page = open_page(java_script_enabled=scripts)
    page.goto("/scripts/?q=news")
    sign_in_there(page, site, "ann")
    page.wait_for_url(re.compile(r"/scripts/\?q=news$"))
    expect(page.get_by_text("Ann Archer")).to_be_visible()
    assert User.objects.get().email == "ann@example.test"


def test_back_from_the_provider_is_the_page_with_the_button(open_page: OpenPage, site: Provider) -> None:
    page = open_page()
    page.goto("/account/login/")
    page.get_by_role("button", name="Sign in with the provider").click()
    expect(page.get_by_role("heading", name="The provider", exact=True)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Sign in to Emma Eval")).to_be_visible()


def test_a_form_that_was_interrupted_comes_back_whole_by_sign_on(
    open_page: OpenPage, site: Provider, tester: User
) -> None:
    """The whole road without scripts: type a result, lose the session, sign in elsewhere, find it as it was."""
    make.build("2026.48", is_current=True)
    make.script("bad-news-day", title="Bad news day")
    site.says("tess")
    page = open_page(tester, java_script_enabled=False)
    page.goto("/results/new/?script=bad-news-day")
    page.wait_for_url("**/drafts/**")
    page.locator("textarea[name=comment]").fill("She waited for me, and then she didn't.")
    page.locator('input[name="content"][value="4"]').check()
    Session.objects.all().delete()
    page.locator("#result-form button[type=submit]").last.click()
    sign_in_there(page, site, "tess")
    expect(page.get_by_text("Here is what you typed before you had to sign in.")).to_be_visible()
    expect(page.locator("textarea[name=comment]")).to_have_value("She waited for me, and then she didn't.")
    expect(page.locator('input[name="content"][value="4"]')).to_be_checked()
    assert Result.objects.count() == 0


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (360, False)])
def test_the_pages_on_the_way_can_be_read_by_everybody(
    open_page: OpenPage, site: Provider, settings: Settings, width: int, dark: bool
) -> None:
    site.says("stranger", groups=[])
    page = open_page(width=width, dark=dark)
    page.goto("/account/login/")
    assert faults_of(page) == []
    sign_in_there(page, site, "stranger")
    expect(page.get_by_role("heading", name="This site isn't open to you")).to_be_visible()
    assert urlsplit(page.url).path == "/account/sign-on/back/"
    assert faults_of(page) == []
    page.goto("/account/sign-on/back/?state=made-up&code=made-up")
    expect(page.get_by_role("heading", name="Please sign in once more")).to_be_visible()
    assert faults_of(page) == []
    settings.SIGN_ON = site.configured(issuer="http://127.0.0.1:9", only=True)
    page.goto("/account/login/")
    assert faults_of(page) == []
    page.get_by_role("button", name="Sign in with the provider").click()
    expect(page.get_by_role("heading", name="doesn't work at present")).to_be_visible()
    assert faults_of(page) == []


@pytest.mark.parametrize("width", [1280, 360])
def test_the_pages_of_links_can_be_read_by_everybody(
    open_page: OpenPage, site: Provider, settings: Settings, administrator: User, width: int
) -> None:
    settings.SIGN_ON = site.configured(only=True)
    invitation = invite.invite("ann@example.test", "", {Role.TESTER}, administrator)
    page = open_page(width=width)
    for path, heading in {
        f"/invitations/{invitation.token}/": "Welcome to Emma Eval",
        f"/account/link/{link_in.token_for(administrator)}/": "Sign in by a link",
        "/account/link/made-up/": "This link is over",
    }.items():
        page.goto(path)
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        assert faults_of(page) == []


def test_a_browser_that_was_signed_out_by_another_is_out(open_page: OpenPage, site: Provider) -> None:
    site.says("ann")
    here, there = open_page(), open_page(width=360, has_touch=True)
    for page in (here, there):
        page.goto("/account/login/")
        sign_in_there(page, site, "ann")
        page.wait_for_url(re.compile("/scripts/$"))
    here.goto("/account/sessions/")
    assert faults_of(here) == []
    expect(here.get_by_role("listitem").filter(has_text="this one")).to_have_count(1)
    here.get_by_role("button", name="Sign out everywhere but here").click()
    expect(here.get_by_text("You are signed in here alone.")).to_be_visible()
    there.reload()
    expect(there.get_by_role("heading", name="Sign in to Emma Eval")).to_be_visible()
