"""Every page there is, in a real browser: readable by everybody, on a phone and a desk, light and dark."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page as BrowserPage

from emma_eval.accounts.roles import Role
from tests.conftest import OpenPage
from tests.security.access import ACCESS, address
from tests.security.world import ANONYMOUS, NO_ROLE, World, build_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Whoever sees most of a page looks at it; pages for strangers are looked at as a stranger.
LOOKERS = (Role.TESTER.value, Role.EVAL_TEAM.value, Role.MANAGER.value, Role.EVAL_LEAD.value, Role.ADMINISTRATOR.value)
# Pages that send a signed-in person away.
FOR_STRANGERS = ("account_login", "account_signup", "account_reset_password", "accept_invitation")
# Of what axe finds right it need not tell: that takes longer than to find it.
WCAG = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
SIZES = [
    pytest.param(1280, False, id="desk, light"),
    pytest.param(1280, True, id="desk, dark"),
    pytest.param(360, False, id="phone, light"),
]


def looker_at(name: str) -> str:
    if name in FOR_STRANGERS:
        return ANONYMOUS
    return next((who for who in LOOKERS if who in ACCESS[name].who), NO_ROLE)


def faults_of(page: BrowserPage) -> list[str]:
    """What axe and the width of the page find wrong."""
    found = [
        f"{violation['id']}: {violation['nodes'][0]['html'][:160]}"
        for violation in Axe().run(page, options=WCAG).response["violations"]
    ]
    too_wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    if too_wide > 0:
        found.append(f"scrolls sideways by {too_wide} px")
    return found


def visit(page: BrowserPage, path: str) -> bool:
    """Go there; False where the address answers no page of its own (a download, a redirect, POST only)."""
    answer = page.request.get(path, max_redirects=0)
    if answer.status != 200 or not answer.headers["content-type"].startswith("text/html"):
        return False
    page.goto(path)
    return True


@pytest.fixture
def world() -> World:
    return build_world()


@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_every_page_can_be_read_by_everybody(open_page: OpenPage, world: World, width: int, dark: bool) -> None:
    browsers: dict[str, BrowserPage] = {}
    wrong: dict[str, list[str]] = {}
    seen = 0
    for name, page in ACCESS.items():
        who = looker_at(name)
        if who not in browsers:
            browsers[who] = open_page(world.people[who, False], width=width, dark=dark)
        if visit(browsers[who], address(name, page.args, world)):
            seen += 1
            if faults := faults_of(browsers[who]):
                wrong[f"{name} as {who}"] = faults
    assert wrong == {}
    assert seen >= 30


@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_the_pages_for_what_went_wrong_or_was_asked_can_be_read_too(
    open_page: OpenPage, world: World, width: int, dark: bool
) -> None:
    browser = open_page(world.user(Role.TESTER.value), width=width, dark=dark)
    wrong = {}
    nothing, upload = "/results/?q=nothing+says+this", f"/recordings/new/?call={world.call.uuid}"
    for path, status in {"/nothing/here/": 404, "/people/": 403, nothing: 200, upload: 200}.items():
        answer = browser.goto(path)
        assert answer is not None
        assert answer.status == status
        if faults := faults_of(browser):
            wrong[path] = faults
    assert wrong == {}
