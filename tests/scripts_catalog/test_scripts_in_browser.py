"""The Scripts tab and the script page in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from emma_eval.accounts.models import User
from scripts_catalog.models import Script, Site
from scripts_catalog.publish_version import publish_version
from tests import make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenPage = Callable[..., Page]


@pytest.fixture
def catalogue(transactional_db: None) -> Script:
    Site.objects.create(pk=1, call_link="https://emma.test/")
    make.build("2026.48", is_current=True)
    make.script("show-an-object", area="camera", title="Show an object", uses_camera=True)
    return make.script("bad-news-day", area="feelings", title="Bad news day", steps=["Say it slowly."] * 12)


def test_typing_narrows_the_list_and_the_address(open_page: OpenPage, tester: User, catalogue: Script) -> None:
    page = open_page(tester)
    page.goto("/scripts/")
    page.get_by_label("Search title, summary, steps").fill("object")
    expect(page.get_by_role("heading", name="Bad news day")).to_have_count(0)
    expect(page.get_by_role("status")).to_have_text("1 script found")
    expect(page).to_have_url(re.compile(r"/scripts/\?q=object$"))
    page.reload()
    expect(page.get_by_role("heading", name="Show an object")).to_be_visible()
    expect(page.get_by_role("heading", name="Bad news day")).to_have_count(0)


def test_the_tab_works_without_scripts(open_page: OpenPage, tester: User, catalogue: Script) -> None:
    page = open_page(tester, java_script_enabled=False)
    page.goto("/scripts/")
    page.get_by_label("Area").select_option("camera")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="Show an object")).to_be_visible()
    expect(page.get_by_role("heading", name="Bad news day")).to_have_count(0)


def test_on_a_phone_the_buttons_stay_in_reach_and_cover_nothing_focused(
    open_page: OpenPage, tester: User, catalogue: Script
) -> None:
    page = open_page(tester, width=360, height=640, has_touch=True)
    page.goto("/scripts/bad-news-day/")
    expect(page.get_by_role("link", name="Add a result")).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    bar = page.locator(".call-bar").bounding_box()
    assert bar
    for link in page.locator(".script-words a").all():
        link.focus()
        box = link.bounding_box()
        assert box
        assert box["y"] + box["height"] <= bar["y"]


PAGES = [
    "/scripts/",
    "/scripts/?q=nothing",
    "/scripts/bad-news-day/",
    "/scripts/bad-news-day/changes/",
    "/scripts/bad-news-day/versions/1/",
    "/scripts/bad-news-day/edit/",
    "/scripts/new/",
    "/scripts/import/",
    "/builds/",
    "/builds/new/",
    "/guide/",
]


@pytest.mark.parametrize(("width", "dark"), [(360, False), (1280, True)])
def test_axe_finds_nothing(
    open_page: OpenPage, trained_eval_member: User, catalogue: Script, width: int, dark: bool
) -> None:
    assert catalogue.latest
    catalogue.latest.title = "Worse news day"
    publish_version(
        catalogue, catalogue.latest.wording, by=trained_eval_member, started_from=catalogue.latest.pk, note="Title."
    )
    page = open_page(trained_eval_member, width=width, dark=dark)
    axe, found = Axe(), {}
    for path in PAGES:
        page.goto(path)
        result = axe.run(page)
        if result.violations_count:
            found[path] = result.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    assert found == {}
