"""What a manager comes to ask, each answered on screen within three clicks from the front page, rightly."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.counts.work_out_agreement import work_out_agreement
from scripts_catalog.models import Build
from tests import make
from tests.browser.managers_world import BIGGEST, NEW, OLD, RUNS_ON_NEW, ManagersWorld, build_managers_world
from tests.conftest import OpenPage

from .test_every_page import SIZES, faults_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


class Manager:
    """Mona at her desk: everything she follows is a click, and she has three."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0
        page.goto("/")

    def click(self, *links: Locator) -> None:
        for link in links:
            self.clicks += 1
            assert self.clicks <= 3, "a manager has three clicks"
            link.click()

    def link(self, name: str, within: str = "Main") -> Locator:
        navigation = self.page.get_by_role("navigation", name=within, exact=True)
        return navigation.get_by_role("link", name=name, exact=True)

    def tab(self, name: str) -> Locator:
        return self.link(name, "Dashboard")


@pytest.fixture
def world(live_server: LiveServer) -> ManagersWorld:
    return build_managers_world()


@pytest.fixture
def mona(world: ManagersWorld, open_page: OpenPage) -> Manager:
    return Manager(open_page(world.manager))


def test_is_the_new_build_better_and_where(mona: Manager) -> None:
    mona.click(mona.link("Dashboard"), mona.page.get_by_role("link", name=f"Compare with {OLD}"))
    answer = mona.page.locator(".answer .said")
    expect(answer).to_contain_text(f"{NEW} is better than {OLD} in Content (+0.67")
    expect(answer).to_contain_text("“Bad news day”: Content, +1.00")


def test_what_is_the_biggest_problem_this_month_and_three_calls_of_it(mona: Manager, world: ManagersWorld) -> None:
    mona.click(mona.link("Dashboard"), mona.link("This month", "What is counted"))
    expect(mona.page.locator(".figures-head h2")).to_contain_text(re.compile("^Every build .*from 1 "))
    biggest = mona.page.locator("#by-biggest > li").first
    expect(biggest.locator("b")).to_have_text(BIGGEST)
    expect(biggest.locator("a.figures")).to_have_text("4 results")
    expect(biggest).to_contain_text("22 % of results, interval 9 % to 45 %")
    calls = biggest.locator(".calls a")
    expect(calls).to_have_count(3)
    assert [call.get_attribute("href") for call in calls.all()] == [f"/results/{each.pk}/" for each in world.examples]
    often = mona.page.locator("#by-count > li").first
    expect(often.locator("b")).to_have_text("Cut in while the user was still talking")
    mona.click(calls.first)
    expect(mona.page.get_by_role("link", name=re.compile("recordings.example.test"))).to_be_visible()


def test_who_ran_what_and_what_is_not_covered(mona: Manager) -> None:
    mona.click(mona.link("Dashboard"))
    expect(mona.page.locator(".figures-head")).to_contain_text("2 of the 4 scripts in use were run, 2 were not.")
    mona.click(mona.tab("Coverage"))
    said = mona.page.get_by_role("status").first
    expect(said).to_contain_text(f"2 of 4 scripts in use were run by 3 people, in {RUNS_ON_NEW} runs; 2 not at all.")
    main = mona.page.locator("main")
    for title in ("Noisy room", "Remember me"):
        expect(main.get_by_role("link", name=title)).to_be_visible()
    for name in ("Tess", "Theo", "Tina"):
        expect(main.get_by_text(name, exact=True).first).to_be_visible()


def test_do_our_testers_agree(world: ManagersWorld, open_page: OpenPage) -> None:
    testers = User.objects.filter(groups__name=Role.TESTER.value).order_by("pk")[:2]
    for content in (2, 3, 5):  # five units: under five there is no verdict
        script = make.script(f"seldom-{content}")
        for tester in testers:
            make.result(tester, script, Build.objects.get(name=NEW), ratings=4, content=content)
    assert work_out_agreement(datetime.now(UTC), np.random.default_rng(1))
    mona = Manager(open_page(world.manager))
    mona.click(mona.link("Dashboard"))
    agreed = mona.page.get_by_role("region", name="Do testers agree?").get_by_role("row", name="Content")
    expect(agreed).to_contain_text("1.00")
    expect(agreed).to_contain_text("can be relied on")
    mona.click(mona.tab("Agreement"))
    expect(mona.page.locator(".answer .said")).to_contain_text("They agree well enough to rely on Content (1.00)")


@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_both_dashboards_can_be_read_by_everybody(
    world: ManagersWorld, open_page: OpenPage, width: int, dark: bool
) -> None:
    page = open_page(world.manager, width=width, dark=dark)
    for path in ("/dashboard/", "/dashboard/?over=week&tags=reviewed", "/dashboard/scripts/bad-news-day/?build=any"):
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        assert faults_of(page) == [], path


def test_filters_swap_the_figures_and_stand_in_the_address(world: ManagersWorld, open_page: OpenPage) -> None:
    page = open_page(world.manager)
    page.goto("/dashboard/scripts/bad-news-day/")
    head = page.locator(".figures-head h2")
    expect(head).to_have_text(f"Build {NEW}, the current build · tags as filed")
    page.get_by_label("Build", exact=True).select_option(OLD)
    expect(head).to_have_text(f"Build {OLD} · tags as filed")
    page.get_by_label("Whose tags").select_option("reviewed")
    expect(head).to_have_text(f"Build {OLD} · tags as reviewed")
    page.get_by_role("link", name="By week").click()
    expect(page.get_by_role("heading", name="How did the ratings move from week to week?")).to_be_visible()
    expect(page).to_have_url(re.compile(rf"build={OLD}&tags=reviewed&over=week"))
    page.get_by_label("Build", exact=True).select_option("any")
    expect(page).to_have_url(re.compile(r"build=any&tags=reviewed&over=week"))
    page.go_back()
    expect(head).to_have_text(f"Build {OLD} · tags as reviewed")
    page.reload()
    expect(page.get_by_label("Build", exact=True)).to_have_value(OLD)
