"""A round in a real browser: planned by a manager, seen by a tester on a phone, who starts a call from it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import Call, Result, Round, SavedView
from scripts_catalog.models import Build
from tests import make
from tests.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def max_(live_server: LiveServer) -> User:
    return make.user("max@example.test", Role.MANAGER, name="Max")


@pytest.fixture
def tess(live_server: LiveServer) -> User:
    return make.user("tess@example.test", Role.TESTER, name="Tess")


@pytest.fixture
def build(live_server: LiveServer) -> Build:
    for slug in ("bad-news-day", "noisy-room", "small-talk"):
        make.script(slug)
    make.script("remember-me", area="memory")
    make.script("quiet-talk", area="safety")
    make.build("2026.44", is_current=True)
    return make.build("2026.43")


def test_a_round_is_planned_seen_and_run(
    open_page: OpenPage, max_: User, tess: User, build: Build, live_server: LiveServer
) -> None:
    plan(open_page(max_), name="Before the release")
    page = open_page(tess, width=360, has_touch=True)
    page.goto("/scripts/")
    expect(page.get_by_text("Wanted today:")).to_be_visible()
    page.get_by_role("link", name="Everything that is wanted").click()
    expect(page.get_by_role("heading", name=re.compile("Before the release"))).to_be_in_viewport()
    rows = page.locator(".todo-round .todo-row")
    expect(rows).to_have_count(3)
    button = rows.first.get_by_role("button", name="Start a call")
    box = button.bounding_box()
    assert box is not None
    assert box["height"] >= 44, "for a thumb"
    title = rows.first.locator("h4").inner_text()
    button.click()
    page.wait_for_url(re.compile("/calls/"))
    expect(page.get_by_role("heading", name=title).first).to_be_visible()
    call = Call.objects.get()
    assert call.build == build, "the build of the round, not the current one"


def plan(page: Page, name: str) -> None:
    page.goto("/rounds/")
    page.get_by_role("link", name="Plan a round").click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Build").select_option(label="2026.43")
    page.get_by_label("Runs of each").fill("3")
    page.get_by_role("button", name="All 3 of Everyday talk").click()
    expect(page.get_by_label("Bad news day")).to_have_value("3")
    expect(page.get_by_label("Name")).to_have_value(name)
    assert not Round.objects.exists(), "a press of that button saves nothing"
    page.get_by_label("Noisy room").fill("1")
    page.get_by_label("Name").press("Enter")
    expect(page.get_by_text("0 of 7 wanted runs, 7 missing")).to_be_visible()
    assert page.get_by_text("Quiet talk").count() == 0


def test_who_ran_what_and_what_is_not_covered_is_two_clicks_away(
    open_page: OpenPage, max_: User, tess: User, build: Build
) -> None:
    other = make.user("theo@example.test", Role.TESTER, name="Theo")
    script = make.script("third-talk")
    for tester, runs in ((tess, 3), (other, 2)):
        for _ in range(runs):
            make.result(tester, script, build)
    make.result(tess, make.script("hidden", area="safety"), build)
    page = open_page(max_)
    page.goto("/dashboard/")
    page.get_by_role("link", name="Coverage", exact=True).click()
    page.get_by_label("Build").select_option(label="2026.43")
    expect(page.get_by_role("status").filter(has_text="not at all")).to_contain_text(
        "1 of 5 scripts in use was run by 2 people, in 5 runs; 4 not at all."
    )
    expect(page).to_have_url(re.compile(r"build=2026\.43"))
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Tess"))
    expect(row).to_contain_text("Third talk 3")
    row.get_by_role("link", name="3").first.click()
    expect(page.locator("#found")).to_have_text("3 results")
    assert Result.objects.count() == 6


def test_a_view_is_saved_as_its_filters_stand_and_opens_so(open_page: OpenPage, tess: User, build: Build) -> None:
    script = make.script("third-talk")
    for rating in (1, 4, 4):
        make.result(tess, script, build, ratings=rating, met_emma_before=rating == 1)
    page = open_page(tess)
    page.goto("/results/")
    page.get_by_text("More filters").click()
    page.get_by_label("Talked to Emma before").select_option("yes")
    expect(page.locator("#found")).to_have_text("1 result")
    page.get_by_role("link", name="Save this view").click()
    page.get_by_label("Name").fill("Returning")
    page.get_by_role("button", name="Save the view").click()
    page.get_by_role("link", name="Returning", exact=True).click()
    expect(page.locator("#found")).to_have_text("1 result")
    expect(page).to_have_url(re.compile(r"/results/\?returning=yes$"))
    assert SavedView.objects.get().query == "returning=yes"


def test_it_works_without_scripts(open_page: OpenPage, max_: User, tess: User, build: Build) -> None:
    plan(open_page(max_, java_script_enabled=False), name="Plain")
    page = open_page(tess, java_script_enabled=False)
    page.goto("/scripts/")
    page.get_by_role("link", name="What should I run today?").click()
    page.get_by_role("button", name="Start a call").first.click()
    page.wait_for_url(re.compile("/calls/"))
    boss = open_page(max_, java_script_enabled=False)
    boss.goto("/dashboard/coverage/")
    boss.get_by_label("Build").select_option(label="2026.43")
    boss.get_by_role("button", name="Show").click()
    expect(boss.get_by_role("heading", name="Build 2026.43")).to_be_visible()
