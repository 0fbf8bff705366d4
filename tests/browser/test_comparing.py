"""Two questions of a manager, asked in a real browser: is this build better, and where; and do our testers agree?"""

from __future__ import annotations

import re
from datetime import UTC, datetime

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from emma_eval.accounts.models import User
from results.counts.work_out_agreement import work_out_agreement
from scripts_catalog.models import Build
from tests import make
from tests.conftest import OpenPage

from .test_every_page import SIZES, faults_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def filed() -> None:
    """2026.43 is a whole rating better in Content of one script; testers agree on Content, and not on the face."""
    testers = [make.user() for _ in range(4)]
    old, new = make.build("2026.42"), make.build("2026.43", is_current=True)
    good = make.script("bad-news-day", title="Bad news day")
    same = make.script("small-talk", title="Small talk", uses_camera=True)
    for place in range(12):
        tester, face = testers[place % 4], (1, 5, 2, 4)[place % 4]
        tags = ("too_long",) if place < 9 else ()
        for build, content, problems in ((old, 3, tags), (new, 4, tags[place % 12 :])):
            wobble = 1 if place == 11 else 0
            rated = {"content": content - wobble, "face_video": face}
            make.result(tester, good, build, ratings=3, problems=problems, **rated)
            make.result(tester, same, build, ratings=4, content=4 + wobble, face_video=6 - face)
    make.result(testers[0], make.script("only-old", title="Only old"), old)


def ask(page: Page, tab: str) -> None:
    """Two clicks from the front page."""
    page.goto("/")
    page.get_by_role("navigation").get_by_role("link", name="Dashboard").first.click()
    page.get_by_role("navigation", name="Dashboard").get_by_role("link", name=tab).click()


def test_is_the_new_build_better_and_where(open_page: OpenPage, filed: None, manager: User) -> None:
    page = open_page(manager)
    ask(page, "Compare builds")
    said = page.locator(".answer .said")
    expect(said).to_contain_text("2026.43 is better than 2026.42 in Content (+0.50, interval 0.33 to 0.67")
    expect(said).to_contain_text("It shows most surely in “Bad news day”: Content, +1.00, interval 0.76 to 1.24")
    expect(page.locator("#problem-too_long")).to_contain_text(re.compile(r"−\d+\.\d points against 2026\.42"))
    page.locator(".findings a", has_text="2026.43").first.click()
    expect(page.locator("h1")).to_have_text("Results")
    expect(page.locator("#rows tbody tr")).to_have_count(12)


def test_another_pair_is_swapped_in_and_stands_in_the_address(open_page: OpenPage, filed: None, manager: User) -> None:
    page = open_page(manager)
    page.goto("/dashboard/compare/")
    page.get_by_label("Build", exact=True).select_option("2026.42")
    expect(page.locator(".answer .said")).to_contain_text("2026.42 is worse than 2026.43 in Content (−0.50")
    assert page.url.endswith("/dashboard/compare/?build=2026.42")
    page.reload()
    expect(page.locator(".answer .said")).to_contain_text("2026.42 is worse")
    page.get_by_label("Compared with").select_option("2026.42")
    expect(page.locator("#filter-with-error")).to_have_text("Pick two different builds.")


def test_do_our_testers_agree(open_page: OpenPage, filed: None, manager: User) -> None:
    seldom = make.script("seldom", title="Seldom")  # the fifth unit: under five there is no verdict
    for tester, face in zip(
        User.objects.filter(results__isnull=False).distinct().order_by("pk"), (2, 3, 3, 2), strict=True
    ):
        make.result(tester, seldom, Build.objects.get(name="2026.43"), ratings=3, content=3, face_video=face)
    assert work_out_agreement(datetime.now(UTC), np.random.default_rng(1))
    page = open_page(manager)
    ask(page, "Agreement")
    said = page.locator(".answer .said")
    expect(said).to_contain_text("Conclusions from Content (0.74) are tentative.")
    expect(said).to_contain_text("They do not agree enough on Face & video (−0.26).")
    expect(page.locator(".apart li").first).to_contain_text(
        "Face & video of Bad news day: from 1 to 5, in 12 ratings of 4"
    )
    page.locator(".apart a", has_text="12").first.click()
    expect(page.locator("#rows tbody tr")).to_have_count(12)


@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_with_figures_both_can_be_read_by_everybody(
    open_page: OpenPage, filed: None, manager: User, width: int, dark: bool
) -> None:
    work_out_agreement(datetime.now(UTC), np.random.default_rng(1))
    page = open_page(manager, width=width, dark=dark)
    for path in ("/dashboard/compare/", "/dashboard/agreement/"):
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        assert faults_of(page) == [], path


def test_a_square_of_the_matrix_is_reached_by_the_keyboard_and_seen(
    open_page: OpenPage, filed: None, manager: User
) -> None:
    work_out_agreement(datetime.now(UTC), np.random.default_rng(1))
    page = open_page(manager)
    page.goto("/dashboard/agreement/")
    square = page.get_by_role("link", name="Face & video, 2026.43:", exact=False)
    page.keyboard.press("Tab")
    square.focus()
    assert square.evaluate("link => getComputedStyle(link.querySelector('rect')).strokeWidth") == "3px"
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Results")
