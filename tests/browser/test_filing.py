"""The road from a script to a filed result in a real browser: by mouse, by keys, on a phone, without JavaScript."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from results.models import Draft, Result
from scripts_catalog.models import Build, Script
from tests import make
from tests.browser.copies import copies
from tests.browser.test_every_page import SIZES, faults_of
from tests.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FORM = "/results/new/?script=show-an-object"
FILED = re.compile(r"/results/\d+/$")


@pytest.fixture
def script(live_server: LiveServer) -> Script:
    return make.script("show-an-object", title="Show an object", uses_camera=True, main_dimension="vision")


@pytest.fixture
def build(live_server: LiveServer) -> Build:
    return make.build("2026.10", is_current=True)


def problems_of(result: Result) -> list[str]:
    return list(result.problems.values_list("tag", flat=True))


def ratings_of(result: Result) -> list[int | None]:
    return [
        result.listening_timing,
        result.content,
        result.voice_audio,
        result.face_video,
        result.emotional_fit,
        result.vision,
    ]


def chip(page: Page, label: str) -> None:
    page.locator(".tag-group").get_by_role("button", name=label).click()


# --- whole roads ---------------------------------------------------------------------------------


def test_by_mouse(open_page: OpenPage, tess: User, script: Script, build: Build) -> None:
    page = open_page(tess)
    page.goto("/results/new/")
    page.get_by_role("link", name="Show an object").click()
    for name, value in (("listening_timing", 4), ("content", 2), ("voice_audio", 5), ("face_video", 3)):
        page.locator(f"#{name}-{value}").click()
    page.locator("#emotional_fit-1").click()
    page.locator("#vision-4").click()
    chip(page, "Cut in while the user")
    chip(page, "Too long or rambling")
    page.locator('[data-dimension="emotional_fit"]').get_by_role("button", name="Missed the caller's feelings").click()
    picked = page.locator("[data-picked] li")
    expect(picked).to_have_count(3)
    expect(page.locator('.chip[data-tag="missed_feelings"][aria-pressed="true"]')).to_have_count(2)
    picked.nth(2).get_by_role("button", name="Move up").click()
    expect(page.locator("[data-says]")).to_have_text("Missed the caller's feelings: now 2 of 3")
    picked.nth(0).get_by_role("button", name="Remove").click()
    expect(picked.locator(".picked-label")).to_have_text(["Missed the caller's feelings", "Too long or rambling"])
    expect(picked.nth(0)).to_contain_text("biggest")
    page.locator("#id_comment").fill("She talked and talked.")
    page.locator("#met_emma_before-no").click()
    expect(page.locator("[data-state]")).to_contain_text("Saved")
    page.get_by_role("button", name="File the result").click()
    page.wait_for_url(FILED)
    result = Result.objects.get()
    assert ratings_of(result) == [4, 2, 5, 3, 1, 4]
    assert problems_of(result) == ["missed_feelings", "too_long"]
    assert not Draft.objects.exists()
    assert copies(page) == []
    expect(page.locator(".notice")).to_contain_text("on your to-do page")


def test_by_keys_alone_in_at_most_twenty_five(open_page: OpenPage, tess: User, script: Script, build: Build) -> None:
    page = open_page(tess)
    page.goto(FORM)
    pressed = 0

    def press(*keys: str) -> None:
        nonlocal pressed
        for key in keys:
            page.keyboard.press(key)
            pressed += 1

    press("4", "2", "5", "3", "1", "4")
    press("t", "c", "u", "t", "Enter")
    press("r", "a", "m", "Enter")
    press("Escape", "Alt+ArrowUp", "c")
    page.keyboard.type("She cut in: 5 times, n and t?")
    press("Tab", "n")
    press("Control+Enter")
    page.wait_for_url(FILED)
    assert pressed <= 25
    result = Result.objects.get()
    assert ratings_of(result) == [4, 2, 5, 3, 1, 4]
    assert problems_of(result) == ["too_long", "cut_in"]
    assert result.comment == "She cut in: 5 times, n and t?"
    assert result.met_emma_before is False


def test_keys_move_between_dimensions_and_n_is_not_applicable(
    open_page: OpenPage, tess: User, script: Script, build: Build
) -> None:
    page = open_page(tess)
    page.goto(FORM)
    page.keyboard.press("5")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("3")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("1")
    expect(page.locator("#listening_timing-5")).to_be_checked()
    expect(page.locator("#voice_audio-3")).to_be_checked()
    expect(page.locator("#content-1")).to_be_checked()
    page.keyboard.press("n")
    expect(page.locator("#vision-na")).to_be_checked()
    expect(page.locator("#camera_used-no")).to_be_checked()
    expect(page.locator("#id_camera_note")).to_be_visible()
    page.locator("#vision-2").click()
    expect(page.locator("#camera_used-yes")).to_be_checked()
    expect(page.locator("#id_camera_note")).to_be_hidden()


def test_single_keys_can_be_switched_off(open_page: OpenPage, tess: User, script: Script, build: Build) -> None:
    page = open_page(tess)
    page.goto(FORM)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.get_by_label("Use single keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("4")
    expect(page.locator(".rate input:checked")).to_have_count(0)
    page.reload()
    page.keyboard.press("4")
    expect(page.locator(".rate input:checked")).to_have_count(0)


def test_on_a_phone_by_touch(open_page: OpenPage, tess: User, script: Script, build: Build) -> None:
    page = open_page(tess, width=360, height=740, has_touch=True, is_mobile=True)
    page.goto(FORM)
    for name in ("listening_timing", "content", "voice_audio", "face_video", "emotional_fit", "vision"):
        page.locator(f"#{name}-3").tap()
    for label in ("Long silence before", "Repeated itself"):
        page.locator(".tag-group").get_by_role("button", name=label).tap()
    expect(page.locator('.tag-group .chip[data-tag="repeated_itself"] .chip-place')).to_have_text("2")
    page.locator("#listening_timing-3").scroll_into_view_if_needed()
    page.get_by_role("link", name="Order (2)").tap()
    expect(page.locator("#picked-title")).to_be_in_viewport()
    page.locator("[data-picked] li").nth(1).get_by_role("button", name="Move up").tap()
    page.locator("#met_emma_before-yes").tap()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    small = page.evaluate(
        """[...document.querySelectorAll('.target, .answer, .chip, .picked-buttons button, .file-bar .button')]
        .filter(each => each.checkVisibility()).map(each => each.getBoundingClientRect())
        .filter(({width, height}) => width < 44 || height < 44).length"""
    )
    assert small == 0
    page.get_by_role("button", name="File the result").tap()
    page.wait_for_url(FILED)
    result = Result.objects.get()
    assert ratings_of(result) == [3] * 6
    assert problems_of(result) == ["repeated_itself", "long_silence"]


def test_without_javascript_places_are_numbers(open_page: OpenPage, tess: User, script: Script, build: Build) -> None:
    page = open_page(tess, java_script_enabled=False)
    page.goto(FORM)
    page.wait_for_url(re.compile(r"/drafts/[0-9a-f-]{36}/"))
    address = page.url
    for name in ("listening_timing", "content", "voice_audio", "face_video", "emotional_fit", "vision"):
        page.locator(f"#{name}-2").check(force=True)
    page.get_by_label("Too fast / no pauses").fill("1")
    page.get_by_label("Cut in while the user was still talking").fill("1")
    page.locator("#met_emma_before-no").check(force=True)
    page.get_by_role("button", name="File the result").click()
    expect(page.locator(".error-summary")).to_contain_text("both have place 1")
    page.get_by_label("Cut in while the user was still talking").fill("2")
    page.get_by_role("button", name="File the result").click()
    page.wait_for_url(FILED)
    assert problems_of(Result.objects.get()) == ["too_fast", "cut_in"]
    page.goto(address)
    expect(page.get_by_role("heading", name="Already filed")).to_be_visible()


def test_problems_are_dragged(open_page: OpenPage, tess: User, script: Script, build: Build) -> None:
    page = open_page(tess)
    page.goto(FORM)
    for label in ("Cut in while", "Long silence", "Repeated itself"):
        chip(page, label)
    handles = page.locator("[data-picked] .handle")
    handles.nth(2).scroll_into_view_if_needed()
    start, end = handles.nth(2).bounding_box(), handles.nth(0).bounding_box()
    assert start is not None
    assert end is not None
    page.mouse.move(start["x"] + 5, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(start["x"] + 5, start["y"] - 20, steps=5)
    page.mouse.move(end["x"] + 5, end["y"] - 8, steps=10)
    page.mouse.up()
    expect(page.locator("[data-picked] li").nth(0)).to_contain_text("Repeated itself")
    assert page.locator("#id_place-repeated_itself").input_value() == "1"
    assert page.locator("#id_place-long_silence").input_value() == "3"


def test_a_call_that_never_started(open_page: OpenPage, tess: User, script: Script, build: Build) -> None:
    page = open_page(tess)
    page.goto(FORM)
    page.keyboard.press("3")
    page.get_by_label("The call never started").check()
    expect(page.locator(".ratings")).to_be_hidden()
    expect(page.locator("[data-picked] li")).to_have_text([re.compile("Stuck start")])
    aside = page.locator("[data-no-call]")
    expect(aside).to_contain_text("The rating you gave is put aside and is not filed.")
    expect(page.get_by_text("a few words on what you saw or heard help")).to_be_visible()
    page.get_by_label("The call never started").uncheck()
    expect(page.locator("#listening_timing-3")).to_be_checked()
    expect(page.locator("[data-picked] li")).to_have_count(0)
    expect(aside).to_be_hidden()
    page.get_by_label("The call never started").check()
    expect(aside).to_be_visible()
    page.locator("#met_emma_before-no").click()
    page.get_by_role("button", name="File the result").click()
    page.wait_for_url(FILED)
    result = Result.objects.get()
    assert result.never_started
    assert ratings_of(result) == [None] * 6


@pytest.mark.parametrize("width", [360, 1280])
def test_the_order_of_the_keyboard_is_the_order_on_the_page(
    open_page: OpenPage, tess: User, script: Script, build: Build, width: int
) -> None:
    page = open_page(tess, width=width)
    page.goto(FORM)
    chip(page, "Cut in while")
    places = page.evaluate(
        """['#tag-search', '.tag-group .chip', '[data-picked] li', '#id_comment'].map(each => {
          const all = [...document.querySelectorAll('a, button, input, textarea, li[tabindex]')];
          const found = document.querySelector(each);
          const { top, left } = found.getBoundingClientRect();
          return [all.indexOf(found), top + scrollY, left];
        })"""
    )
    assert [each[0] for each in places] == sorted(each[0] for each in places)
    search, first_chip, picked, comment = places
    assert search[1] < first_chip[1] < comment[1]
    assert first_chip[1] < picked[1] or first_chip[2] < picked[2]


def test_a_wrong_link_on_the_to_do_page_gets_our_words(
    open_page: OpenPage, tess: User, script: Script, build: Build
) -> None:
    make.result(tess, script, build)
    page = open_page(tess)
    page.goto("/todo/")
    field = page.get_by_role("textbox", name="Recording link")
    field.fill("call 12")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("This is not a link that others can open")
    expect(field).to_have_value("call 12")


def test_back_and_reload_after_filing_add_nothing(
    open_page: OpenPage, tess: User, script: Script, build: Build
) -> None:
    page = open_page(tess)
    page.goto(FORM)
    for key in "333333":
        page.keyboard.press(key)
    page.locator("#met_emma_before-no").click()
    page.keyboard.press("Control+Enter")
    page.wait_for_url(FILED)
    page.go_back()
    expect(page.get_by_role("heading", name="Already filed")).to_be_visible()
    page.reload()
    expect(page.get_by_role("link", name="Open the result")).to_be_visible()
    assert Result.objects.count() == 1


def test_errors_lead_to_their_fields(open_page: OpenPage, tess: User, script: Script, build: Build) -> None:
    page = open_page(tess)
    page.goto(FORM)
    page.locator("#id_comment").fill("Kept.")
    page.get_by_role("button", name="File the result").click()
    expect(page.locator(".error-summary")).to_be_focused()
    expect(page.locator(".error-summary li")).to_have_count(7)
    page.get_by_role("link", name="Rate Content from 1 to 5.").click()
    expect(page.locator("#content-1")).to_be_focused()
    expect(page.locator("#id_comment")).to_have_value("Kept.")
    expect(page.locator("[data-state]")).to_contain_text("Saved")
    page.reload()
    expect(page.locator("#id_comment")).to_have_value("Kept.")


# --- for everyone's eyes and ears -----------------------------------------------------------------


def violations(page: Page) -> list[str]:
    page.wait_for_timeout(200)
    return faults_of(page)


@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_axe_finds_nothing(
    open_page: OpenPage, tess: User, script: Script, build: Build, width: int, dark: bool
) -> None:
    page = open_page(tess, width=width, dark=dark)
    page.goto("/results/new/")
    assert violations(page) == []
    page.goto(FORM)
    assert violations(page) == []
    for key in "1234":
        page.keyboard.press(key)
    chip(page, "Other content problem")
    chip(page, "Repeated itself")
    page.keyboard.press("n")
    assert violations(page) == []
    page.get_by_role("button", name="File the result").click()
    expect(page.locator(".error-summary")).to_be_visible()
    assert violations(page) == []
    if width > 400:
        page.get_by_role("button", name="Keys").click()
        assert violations(page) == []
    page.goto("/todo/")
    assert violations(page) == []
