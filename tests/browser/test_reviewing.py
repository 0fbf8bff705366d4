"""Reviewing in a real browser: a few keys a result, on a phone, without scripts, and what is typed is kept."""

from __future__ import annotations

import re

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import QueuedFor, Result, Review
from results.review.file_review import Judged, file_review
from results.review.gold import set_gold
from results.review.hold_result import begin_review
from scripts_catalog.models import Build, Script
from tests import make
from tests.browser.test_every_page import SIZES, faults_of
from tests.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rae(live_server: LiveServer) -> User:
    return make.user("rae@example.test", Role.EVAL_TEAM, name="Rae")


@pytest.fixture
def three(tess: User, script: Script, build: Build) -> list[Result]:
    """Three results that wait, the first one with a recording."""
    link = "https://recordings.example.test/1"
    about = {"queued_for": QueuedFor.VERY_LOW, "problems": ("too_long", "cut_in"), "comment": "She cut me off."}
    return [make.result(tess, script, build, recording_link=link, **about) for _ in range(3)]


@pytest.fixture(autouse=True)
def _oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn from one: what these tests look at is the page of the first."""
    monkeypatch.setattr("results.review.take_next.DRAWN_FROM", 1)


def start(page: Page) -> None:
    page.goto("/review/")
    page.get_by_role("button", name="Next result").press("Enter")
    expect(page.locator("[data-compared]")).to_have_text("The same as the tester’s.")


def go_on(page: Page, press: str, *, until: str) -> None:
    """Press, and wait for another page than this one."""
    before = page.url
    page.keyboard.press(press)
    page.wait_for_url(lambda url: url != before and re.search(until, url) is not None)


def tags_of(review: Review) -> list[str]:
    return list(review.problems.values_list("tag", flat=True))


def test_a_result_is_confirmed_and_the_next_one_there_in_two_presses(
    open_page: OpenPage, rae: User, three: list[Result]
) -> None:
    page = open_page(rae)
    start(page)
    page.keyboard.press("a")
    go_on(page, "Control+Enter", until=r"/review/\d+/")
    page.keyboard.press("a")
    go_on(page, "Control+Enter", until=r"/review/\d+/")
    assert [review.confirms for review in Review.objects.filed()] == [True, True]


def test_tags_are_added_moved_and_taken_out_by_keys_alone(open_page: OpenPage, rae: User, three: list[Result]) -> None:
    page = open_page(rae)
    start(page)
    page.keyboard.press("t")
    page.keyboard.type("flat")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Delete")
    expect(page.locator("[data-compared]")).to_have_text("Against the tester’s: 1 added, 1 taken out.")
    expect(page.locator("#judged-changed")).to_be_checked()
    page.keyboard.press("r")
    page.keyboard.type("It is the voice.")
    go_on(page, "Control+Enter", until=r"/review/\d+/")
    review = Review.objects.filed().get()
    assert (tags_of(review), review.reason) == (["flat_delivery", "cut_in"], "It is the voice.")


def test_enter_never_takes_out_what_is_picked_and_leads_to_it(
    open_page: OpenPage, rae: User, three: list[Result]
) -> None:
    page = open_page(rae)
    start(page)
    page.keyboard.press("t")
    page.keyboard.type("cut in")
    expect(page.locator("[data-search-hint]")).to_contain_text("is already picked, place 2: Enter leads there.")
    page.keyboard.press("Enter")
    expect(page.locator("[data-compared]")).to_have_text("The same as the tester’s.")
    expect(page.locator('[data-item="cut_in"]')).to_be_focused()
    for says in ("[data-says]", "[data-search-hint]"):
        expect(page.locator(says)).to_contain_text("is already picked, place 2.")
    expect(page.locator("[data-tag-search]")).to_have_value("")


def test_a_list_that_ends_empty_is_asked_about_before_it_is_filed(
    open_page: OpenPage, rae: User, three: list[Result]
) -> None:
    page = open_page(rae)
    start(page)
    none = page.get_by_label("There was no problem")
    expect(none).to_be_hidden()
    page.keyboard.press("e")
    for _ in range(2):
        page.keyboard.press("Delete")
    page.keyboard.press("r")
    page.keyboard.type("Nothing of it was wrong.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-error-summary]")).to_contain_text("Your list is empty")
    none.check()
    go_on(page, "Control+Enter", until=r"/review/\d+/")
    assert tags_of(Review.objects.filed().get()) == []


def test_a_comment_is_sent_beside_the_review_and_files_nothing(
    open_page: OpenPage, rae: User, three: list[Result]
) -> None:
    page = open_page(rae)
    start(page)
    page.keyboard.press("a")
    page.locator(".thread textarea").fill("Which build was it?")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".said-list")).to_contain_text("Which build was it?")
    expect(page.locator("#judged-right")).to_be_checked()
    assert not Review.objects.filed().exists()


def test_the_testers_tags_come_back_with_a_key_and_so_do_ones_own(
    open_page: OpenPage, rae: User, three: list[Result]
) -> None:
    page = open_page(rae)
    start(page)
    page.keyboard.press("e")
    page.keyboard.press("Delete")
    page.keyboard.press("a")
    expect(page.locator("[data-compared]")).to_have_text("The same as the tester’s.")
    expect(page.locator("#judged-right")).to_be_checked()
    page.keyboard.press("e")
    expect(page.locator("[data-compared]")).to_have_text("Against the tester’s: 1 taken out.")


def test_without_a_word_nothing_is_filed_and_the_page_leads_to_it(
    open_page: OpenPage, rae: User, three: list[Result]
) -> None:
    page = open_page(rae)
    start(page)
    page.keyboard.press("e")
    page.keyboard.press("Delete")
    page.keyboard.press("Control+Enter")
    summary = page.locator("[data-error-summary]")
    expect(summary).to_be_focused()
    summary.get_by_role("link").press("Enter")
    expect(page.locator("#id_reason")).to_be_focused()
    expect(page.locator("[data-item]")).to_have_count(1)


def test_every_key_stands_in_the_list_and_has_its_control(open_page: OpenPage, rae: User, three: list[Result]) -> None:
    page = open_page(rae)
    start(page)
    page.keyboard.press("?")
    keys = page.locator("dialog[open]")
    expect(keys).to_contain_text("the tags are right, as filed")
    page.keyboard.press("Escape")
    for name in ("Keys ?", "File and next", "Leave for later"):
        expect(page.get_by_role("button", name=name)).to_be_visible()
    for label in ("The tags are right", "I change them"):
        expect(page.get_by_label(label)).to_be_attached()
    assert page.get_by_role("link", name="Recording on recordings.example.test").is_visible()
    go_on(page, "x", until=r"/review/$")
    expect(page.get_by_text("is put back")).to_be_visible()


def test_what_is_typed_is_kept_within_two_seconds(open_page: OpenPage, rae: User, three: list[Result]) -> None:
    page = open_page(rae)
    start(page)
    page.keyboard.press("r")
    page.keyboard.type("Half a thought")
    expect(page.locator("[data-state]")).to_contain_text("Saved, yours until", timeout=4000)
    page.reload()
    expect(page.locator("#id_reason")).to_have_value("Half a thought")
    assert Review.objects.get().draft["fields"]["reason"] == "Half a thought"


def test_what_is_typed_is_kept_after_a_new_sign_in_in_another_tab(
    open_page: OpenPage, rae: User, three: list[Result]
) -> None:
    page = open_page(rae)
    start(page)
    csrf = next(cookie for cookie in page.context.cookies() if cookie["name"].endswith("csrf"))
    page.context.add_cookies([{**csrf, "value": csrf["value"][::-1]}])  # as a new sign-in changes it
    page.keyboard.press("r")
    page.keyboard.type("Half a thought")
    expect(page.locator("[data-state]")).to_contain_text("Saved, yours until", timeout=4000)


def test_a_correction_while_one_works_is_told_on_the_page(open_page: OpenPage, rae: User, three: list[Result]) -> None:
    page = open_page(rae)
    start(page)
    Result.objects.update(version=2)
    page.keyboard.press("r")
    page.keyboard.type("So")
    notice = page.locator("[data-corrected]")
    expect(notice).to_be_visible(timeout=4000)
    notice.get_by_role("link").click()
    expect(page.get_by_text("What you typed is still here")).to_be_visible()
    expect(page.locator("#id_reason")).to_have_value("So")


def test_on_a_phone_by_touch(open_page: OpenPage, rae: User, three: list[Result]) -> None:
    page = open_page(rae, width=360, has_touch=True)
    page.goto("/review/")
    page.get_by_role("button", name="Next result").tap()
    page.locator(".judged-choice", has_text="The tags are right").tap()
    before = page.url
    page.get_by_role("button", name="File and next").tap()
    page.wait_for_url(lambda url: url != before)
    assert Review.objects.filed().get().confirms


def test_what_is_found_on_a_phone_stands_above_the_bar_and_a_finger_picks_it(
    open_page: OpenPage, rae: User, three: list[Result]
) -> None:
    page = open_page(rae, width=360, height=640, has_touch=True)
    page.goto("/review/")
    page.get_by_role("button", name="Next result").tap()
    assert page.locator(".key-cap:visible").count() == 0
    page.locator("[data-tag-search]").tap()
    page.keyboard.type("flat")
    chip = page.locator('.tag-groups [data-tag="flat_delivery"]')
    bar_top = page.locator(".file-bar").bounding_box()["y"]
    for found in (page.locator("[data-search-hint]"), chip):
        box = found.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= bar_top
    chip.tap()
    expect(page.locator("[data-tag-search]")).to_have_value("")
    expect(chip).to_have_attribute("aria-pressed", "true")
    expect(chip).to_be_in_viewport()


def test_without_javascript_places_are_numbers(open_page: OpenPage, rae: User, three: list[Result]) -> None:
    page = open_page(rae, java_script_enabled=False)
    page.goto("/review/")
    page.get_by_role("button", name="Next result").click()
    page.get_by_label("Too long or rambling").fill("")
    page.get_by_label("Cut in while the user was still talking").fill("1")
    page.locator("#judged-changed").check(force=True)
    page.get_by_label("Why they differ").fill("It was short.")
    page.get_by_role("button", name="File and next").click()
    review = Review.objects.filed().get()
    assert tags_of(review) == ["cut_in"]


@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_axe_finds_nothing(open_page: OpenPage, rae: User, three: list[Result], width: int, dark: bool) -> None:
    page = open_page(rae, width=width, dark=dark)
    start(page)
    assert faults_of(page) == []
    page.keyboard.press("e")
    page.keyboard.press("Delete")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-error-summary]")).to_be_visible()
    assert faults_of(page) == []


def test_how_far_reviewers_agree_can_be_read_on_a_phone(open_page: OpenPage, rae: User, three: list[Result]) -> None:
    """Every figure stands under its words; nothing hides at the side."""
    lea, now = make.user("lea@example.test", Role.EVAL_LEAD, name="Lea"), timezone.now()
    set_gold(lea, three[0].pk, ("too_long", "cut_in"), "Known.")
    begin_review(rae, three[0], now)
    file_review(rae, three[0].pk, Judged(("too_long",), "Heard it."), based_on=1, now=now)
    page = open_page(lea, width=360, has_touch=True, is_mobile=True)
    page.goto("/review/agreement/")
    table = page.locator(".table-wrap:has(.reviewers)")
    assert table.evaluate("(each) => each.scrollWidth - each.clientWidth") <= 0
    overlap = page.locator("td[data-label='Known answers: overlap']")
    expect(overlap).to_have_text(re.compile("n too small.*1 result", re.DOTALL))
    assert faults_of(page) == []
