"""What a phone folds of a dashboard is there everywhere else; and what a side of paper holds."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.roles import Role
from tests import make
from tests.browser.managers_world import OLD, ManagersWorld, build_managers_world
from tests.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SHOW_SCRIPTS = re.compile("^Show 2 scripts$")
GAP = """(figure) => { const letter = document.createRange(); letter.selectNodeContents(figure.firstChild);
    const digit = document.createRange(); digit.selectNodeContents(figure.querySelector("a"));
    return digit.getBoundingClientRect().left - letter.getBoundingClientRect().right; }"""


@pytest.fixture
def world(live_server: LiveServer) -> ManagersWorld:
    return build_managers_world()


def sides_of(page: Page) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))


def means(page: Page) -> tuple[bool, bool]:
    """Whether the means by script can be seen, and what would unfold them."""
    return page.locator(".by-script tbody").is_visible(), page.get_by_text(SHOW_SCRIPTS).is_visible()


def test_a_phone_folds_the_means_and_leaves_unfolded_what_was_unfolded(
    open_page: OpenPage, world: ManagersWorld
) -> None:
    page = open_page(world.manager, width=360, has_touch=True, is_mobile=True)
    page.goto("/dashboard/")
    assert means(page) == (False, True)
    page.get_by_text(SHOW_SCRIPTS).tap()
    assert means(page) == (True, True)
    page.locator("#filter-build").select_option(OLD)
    expect(page.locator(".figures-head h2")).to_contain_text(f"Build {OLD}")
    assert means(page) == (True, True)


def test_wider_pages_and_paper_fold_nothing(open_page: OpenPage, world: ManagersWorld) -> None:
    page = open_page(world.manager)
    page.goto("/dashboard/")
    assert means(page) == (True, False)
    page.set_viewport_size({"width": 360, "height": 800})
    assert means(page) == (False, True)
    page.emulate_media(media="print")
    assert means(page) == (True, False)


def test_an_address_without_scripts_unfolds_what_it_sorts(open_page: OpenPage, world: ManagersWorld) -> None:
    page = open_page(world.manager, width=360, java_script_enabled=False)
    page.goto("/dashboard/?sort=content")
    assert means(page) == (True, True)


def test_a_script_with_few_ratings_prints_on_one_side_and_says_that_n_is_too_small(
    open_page: OpenPage, world: ManagersWorld
) -> None:
    script = make.script("hello-again", title="Hello again")
    make.result(make.user(None, Role.TESTER), script, make.build("2026.44"), problems=("too_long",))
    make.counts()
    page = open_page(world.manager)
    page.goto("/dashboard/scripts/hello-again/?build=2026.44")
    expect(page.get_by_text("n is too small for a trend: no build has 5 ratings of a dimension yet.")).to_be_visible()
    expect(page.locator(".small-multiples")).to_be_hidden()
    page.get_by_text("How many there are").last.click()
    expect(page.locator(".small-multiples")).to_be_visible()
    assert sides_of(page) == 1


def test_a_script_with_much_to_say_prints_on_two_sides_and_a_comparison_too(
    open_page: OpenPage, world: ManagersWorld
) -> None:
    page = open_page(world.manager)
    for path in ("/dashboard/scripts/bad-news-day/?build=any", "/dashboard/compare/"):
        page.goto(path)
        assert sides_of(page) <= 2, path


def test_a_figure_stands_beside_its_n(open_page: OpenPage, world: ManagersWorld) -> None:
    page = open_page(world.manager)
    page.goto("/dashboard/compare/")
    gaps = page.locator(".by-dimension .n:has(a)").evaluate_all(f"(all) => all.map({GAP})")
    assert len(gaps) >= 6
    assert max(gaps) < 4, gaps
