"""The Results tab in a real browser: filters under the hand, the back button, sorting by keyboard, a phone."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import Change, Problem, ProblemOrder, Result
from tests import make
from tests.browser.test_every_page import faults_of
from tests.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def tess(live_server: LiveServer) -> User:
    return make.user("tess@example.test", Role.TESTER, Role.MANAGER, name="Tess")


@pytest.fixture
def filed(tess: User) -> Result:
    """120 results of two scripts; the newest has everything that a row and a page can show."""
    now = timezone.now()
    scripts = [make.script("bad-news-day", title="Bad news day"), make.script("show", title="Show", uses_camera=True)]
    build = make.build("2026.10")
    for number in range(119):
        make.result(
            tess,
            scripts[number % 2],
            build,
            ratings=number % 5 + 1,
            problems=("too_long", "cut_in") if number % 3 else (),
            called_at=now - timedelta(days=number + 1),
            comment="The face froze." if number % 10 == 0 else "Fine.",
        )
    full = make.result(
        tess,
        scripts[0],
        build,
        called_at=now,
        camera_used=True,
        problems=(),
        problem_order=ProblemOrder.GROUPS,
        comment="היא\nwaited " * 30,
        met_emma_before=True,
        sheet_digest="d" * 64,
        sheet_worst_moment="the pause",
        recording_link="https://recordings.example.test/" + "a" * 200,
    )
    for place, tag in enumerate(("too_long", "cut_in", "too_fast", "weird_gaze"), 1):
        Problem.objects.create(result=full, tag=tag, position=place, rank=None)
    fields = {"content": [3, 4], "comment": ["a", "b"], "problems": [["too_long"], ["cut_in"]]}
    Change.objects.create(result=full, by=tess, version=2, fields=fields)
    make.result(tess, scripts[1], build, call_uuid=full.call_uuid, called_at=now - timedelta(days=900))
    make.counts()
    return full


def found(page: Page, words: str) -> None:
    expect(page.locator("#found")).to_have_text(words)


def test_a_filter_narrows_at_once_and_stands_in_the_address(filed: Result, tess: User, open_page: OpenPage) -> None:
    page = open_page(tess)
    page.goto("/results/")
    found(page, "121 results")
    page.get_by_label("Script").select_option(label="Bad news day")
    found(page, "61 results")
    expect(page).to_have_url(re.compile(r"/results/\?script=bad-news-day$"))
    page.get_by_label("Search").press_sequentially("froze", delay=20)
    found(page, "12 results")
    expect(page.get_by_label("Search")).to_be_focused()
    expect(page).to_have_url(re.compile(r"script=bad-news-day&q=froze|q=froze&script=bad-news-day"))
    page.get_by_role("link", name="Take away: “froze”").click()
    found(page, "61 results")
    expect(page.get_by_label("Search")).to_have_value("")


def test_the_back_button_brings_back_the_filters_and_their_rows(filed: Result, tess: User, open_page: OpenPage) -> None:
    page = open_page(tess)
    page.goto("/results/")
    page.get_by_label("Script").select_option(label="Show")
    found(page, "60 results")
    page.locator("#next").click()
    expect(page.locator("table.results tbody tr")).to_have_count(10)
    page.locator("table.results tbody a").first.click()
    expect(page.get_by_role("heading", level=1, name="Show")).to_be_visible()
    page.go_back()
    expect(page.locator("table.results tbody tr")).to_have_count(10)
    page.go_back()
    expect(page.locator("table.results tbody tr")).to_have_count(50)
    expect(page.get_by_label("Script")).to_have_value("show")
    page.go_back()
    found(page, "121 results")
    expect(page.get_by_label("Script")).to_have_value("")


def test_a_head_sorts_by_the_keyboard_and_keeps_the_focus(filed: Result, tess: User, open_page: OpenPage) -> None:
    page = open_page(tess)
    page.goto("/results/")
    head = page.locator("th.head-content")
    page.locator("#sort-content").focus()
    page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(page.locator("#sort-content")).to_be_focused()
    expect(page.locator("td.rated").nth(1)).to_have_text("1")
    page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(page.locator("td.rated").nth(1)).to_have_text("5")
    page.get_by_label("Script").select_option(label="Show")
    found(page, "60 results")
    expect(head).to_have_attribute("aria-sort", "descending")


def test_a_bad_range_is_told_beside_its_field_and_mended(filed: Result, tess: User, open_page: OpenPage) -> None:
    page = open_page(tess)
    page.goto("/results/")
    page.get_by_text("More filters").click()
    page.get_by_label("Lowest").select_option("4")
    expect(page.locator("#filter-dimension-error")).to_have_text("Pick the dimension that this range is about.")
    page.get_by_label("Dimension").select_option(label="Content")
    expect(page.locator("#filter-dimension-error")).to_have_text("")
    page.get_by_label("Highest").select_option("2")
    expect(page.locator("#filter-low-error")).to_have_text("The lowest rating is above the highest.")
    page.get_by_label("Lowest").select_option("2")
    expect(page.locator("#filter-low-error")).to_have_text("")
    expect(page.get_by_role("link", name="Take away: Content: 2")).to_be_visible()


def test_it_works_without_javascript(filed: Result, tess: User, open_page: OpenPage) -> None:
    page = open_page(tess, java_script_enabled=False)
    page.goto("/results/")
    page.get_by_label("Script").select_option(label="Show")
    page.get_by_role("button", name="Show").click()
    found(page, "60 results")
    expect(page).to_have_url(re.compile(r"/results/\?script=show$"))
    page.locator("#sort-vision").click()
    expect(page.locator("th.head-vision")).to_have_attribute("aria-sort", "ascending")
    page.locator("#next").click()
    expect(page.locator("table.results tbody tr")).to_have_count(10)
    page.locator("#previous").click()
    expect(page.locator("table.results tbody tr")).to_have_count(50)


def test_on_a_phone_each_row_is_a_card_and_nothing_runs_over_the_edge(
    filed: Result, tess: User, open_page: OpenPage
) -> None:
    page = open_page(tess, width=360, has_touch=True)
    for address in ("/results/", f"/results/{filed.pk}/", "/dashboard/"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, address
    page.goto("/results/")
    card = page.locator("table.results tbody tr").first
    box = card.bounding_box()
    assert box
    assert box["width"] > 300
    first, last = card.locator("td.rated .rating").first, card.locator("td.rated .rating").last
    boxes = first.bounding_box(), last.bounding_box()
    assert boxes[0]
    assert boxes[1]
    assert boxes[0]["y"] == pytest.approx(boxes[1]["y"], abs=1)
    page.locator("#sort-content").tap()
    expect(page.locator("th.head-content")).to_have_attribute("aria-sort", "ascending")


@pytest.mark.parametrize("address", ["/results/", "/dashboard/"])
def test_on_a_phone_every_way_to_sort_is_in_sight(filed: Result, tess: User, open_page: OpenPage, address: str) -> None:
    page = open_page(tess, width=360, has_touch=True)
    page.goto(f"{address}?sort=vision&direction=asc")
    heads = page.locator(".sorts thead a")
    expect(heads.last).to_have_text("Vision")
    boxes = [head.bounding_box() for head in heads.all()]
    assert len(boxes) >= 8
    for box in boxes:
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        assert box["height"] >= 44


def test_on_a_phone_the_means_of_a_script_are_in_sight(filed: Result, tess: User, open_page: OpenPage) -> None:
    page = open_page(tess, width=360, has_touch=True)
    page.goto("/dashboard/")
    card = page.locator(".by-script tbody tr").first
    means = card.locator("td.mean")
    expect(means).to_have_count(6)
    for mean in means.all():
        box = mean.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
    assert means.first.evaluate("cell => getComputedStyle(cell, '::before').content") == '"Listening & timing"'


def test_at_a_desk_rows_are_low(filed: Result, tess: User, open_page: OpenPage) -> None:
    """A long comment, many problems and some badges included."""
    page = open_page(tess, width=1280)
    page.goto("/results/")
    heights = [box["height"] for row in page.locator("table.results tbody tr").all() if (box := row.bounding_box())]
    assert len(heights) == 50
    assert max(heights) <= 92
    comment = page.locator("td.comment .clamp").first
    assert comment.evaluate("text => text.scrollHeight > text.clientHeight"), "it is cut, not short"


def test_filters_of_a_line_stand_on_it(filed: Result, tess: User, open_page: OpenPage) -> None:
    page = open_page(tess, width=1280)
    page.goto("/results/")
    page.get_by_text("More filters").click()
    for line in (("q", "script", "build", "tester"), ("area", "tags", "problem", "dimension", "low", "high")):
        boxes = [page.locator(f"#filter-{name}").bounding_box() for name in line]
        tops = {round(box["y"]) for box in boxes if box}
        assert len(tops) == 1, line


def test_one_press_finds_the_lowest_mean(filed: Result, tess: User, open_page: OpenPage) -> None:
    page = open_page(tess)
    page.goto("/dashboard/")
    page.locator("#sort-vision").click()
    expect(page.locator("th.head-vision")).to_have_attribute("aria-sort", "ascending")
    expect(page).to_have_url(re.compile(r"sort=vision&direction=asc"))
    expect(page.locator("#sort-vision")).to_be_focused()
    expect(page.locator(".by-script tbody th").first).to_have_text("Show")
    page.get_by_label("Area").select_option(label="Everyday talk")
    expect(page).to_have_url(re.compile(r"sort=vision"))
    expect(page.locator("th.head-vision")).to_have_attribute("aria-sort", "ascending")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing(filed: Result, tess: User, open_page: OpenPage, width: int, dark: bool) -> None:
    page = open_page(tess, width=width, dark=dark)
    for address in (
        "/results/",
        "/results/?dimension=content&low=4&high=2&problem=too_long&script=nope&after=x",
        "/results/?q=nothing-like-this",
        f"/results/{filed.pk}/",
        "/dashboard/",
        "/dashboard/?build=nope",
        "/dashboard/?build=any&sort=vision",
    ):
        page.goto(address)
        assert faults_of(page) == [], address
