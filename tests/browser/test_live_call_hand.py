"""The hand on the call page: hurried, mistaken, in two places; it changes what it means to and nothing else."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from emma_eval.accounts.models import User
from results.models import Call
from scripts_catalog.models import Script
from tests import make
from tests.browser.beside_a_call import begin, go_to, mark, moments_are, new_call, rest, standing
from tests.browser.copies import copies
from tests.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(open_page: OpenPage, tess: User, call: Call) -> Page:
    """On a call that has begun."""
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    return page


def mend(page: Page, words: str) -> None:
    """In the list, the newest moment's."""
    page.locator("[data-mend]").first.click()
    field = page.locator("[data-mending]:visible")
    field.fill(words)
    field.press("Enter")
    moments_are(page, *["kept"] * page.locator("[data-moments] li").count())


def all_is_told(page: Page) -> None:
    for _ in range(50):
        if not copies(page):
            return
        page.wait_for_timeout(100)
    pytest.fail("Something is kept in the browser alone.")


def is_in_sight(page: Page, element: Locator) -> bool:
    """Above the dock and not scrolled away."""
    box, dock = element.bounding_box(), page.locator(".dock").bounding_box()
    assert box is not None
    assert dock is not None
    return box["y"] >= 0 and box["y"] + box["height"] <= dock["y"]


# --- words ------------------------------------------------------------------------------------------


def test_the_newest_words_hold_wherever_they_were_typed(page: Page, call: Call) -> None:
    mark(page, "first words")
    mend(page, "corrected words")
    expect(page.locator("#words")).to_have_value("corrected words")
    page.locator("[data-mark]").click()
    moments_are(page, "kept", "kept")
    assert [moment.words for moment in call.moments.all()] == ["corrected words", ""]
    mend(page, "added in the list")
    page.reload()
    moments_are(page, "kept", "kept")
    page.wait_for_timeout(300)
    assert [moment.words for moment in call.moments.all()] == ["corrected words", "added in the list"]


def test_another_tab_does_not_write_over_newer_words(page: Page, call: Call) -> None:
    mark(page, "first words")
    page.locator("#words").focus()
    other = page.context.new_page()
    go_to(other, call)
    mend(other, "from the other tab")
    page.bring_to_front()
    expect(page.locator("#words")).to_have_value("from the other tab")
    page.locator("[data-mark]").click()
    moments_are(page, "kept", "kept")
    page.locator("[data-mend]").last.click()
    other.bring_to_front()
    other.locator("[data-mend]").last.click()
    other.locator("[data-mending]:visible").fill("once more")
    other.keyboard.press("Enter")
    page.bring_to_front()
    expect(page.locator("[data-mending]:visible")).to_have_value("once more")
    page.keyboard.press("Escape")
    page.reload()
    moments_are(page, "kept", "kept")
    page.wait_for_timeout(300)
    assert [moment.words for moment in call.moments.all()] == ["once more", ""]


def test_typing_goes_on_for_its_moment_while_another_tab_marks(page: Page, call: Call) -> None:
    mark(page)
    page.locator("#words").press_sequentially("half a ")
    other = page.context.new_page()
    go_to(other, call)
    mark(other)
    page.bring_to_front()
    expect(page.locator("[data-moments] li")).to_have_count(2)
    page.locator("#words").press_sequentially("thought")
    page.keyboard.press("Enter")
    moments_are(page, "kept", "kept")
    assert [moment.words for moment in call.moments.all()] == ["half a thought", ""]
    expect(page.locator("#words")).to_have_value("")


def test_the_words_of_the_newest_moment_can_be_reached_after_a_reload_and_in_another_tab(
    page: Page, call: Call
) -> None:
    mark(page, "so far")
    moments_are(page, "kept")
    page.reload()
    other = page.context.new_page()
    go_to(other, call)
    for each, words in ((page, "after a reload"), (other, "in another tab")):
        each.bring_to_front()
        expect(each.locator("#words")).to_be_enabled()
        each.keyboard.press("w")
        expect(each.locator("#words")).to_be_focused()
        each.locator("#words").fill(words)
        each.keyboard.press("Enter")
        moments_are(each, "kept")
        assert call.moments.get().words == words


# --- what is under the finger -----------------------------------------------------------------------


def test_a_second_tap_is_not_meant_for_what_came_under_the_finger(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess, width=360, height=740, has_touch=True, is_mobile=True)
    go_to(page, call)
    box = page.get_by_role("button", name="Begin").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.touchscreen.tap(x, y)
    page.touchscreen.tap(x, y)
    expect(page.locator("[data-mark]")).to_be_visible()
    mark_box = page.locator("[data-mark]").bounding_box()
    assert mark_box is not None
    page.evaluate("document.querySelector('[data-mark]').click()")
    page.wait_for_timeout(450)
    expect(page.locator("[data-moments] li")).to_have_count(0)
    page.touchscreen.tap(mark_box["x"] + mark_box["width"] / 2, mark_box["y"] + 20)
    moments_are(page, "kept")
    assert call.moments.count() == 1


def test_a_second_enter_after_the_words_marks_nothing(page: Page, call: Call) -> None:
    page.keyboard.press("m")
    page.keyboard.press("w")
    page.keyboard.type("abc")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.wait_for_timeout(200)
    moments_are(page, "kept")
    page.keyboard.press("m")
    moments_are(page, "kept", "kept")


def test_the_list_of_builds_does_not_swallow_the_keys(page: Page) -> None:
    page.get_by_label("Build").focus()
    page.keyboard.press("m")
    moments_are(page, "kept")


def test_a_step_touched_by_mistake_gives_its_time_and_the_stretch_back(page: Page, call: Call) -> None:
    page.keyboard.press("n")
    page.keyboard.press("n")
    all_is_told(page)
    before = call.runs.get()
    assert before.off_script_from_ms is not None
    page.wait_for_timeout(1_000)
    step = page.get_by_role("button", name="Step 1: Say hello.")
    step.click()
    expect(page.locator("[data-off-panel]")).to_be_hidden()
    step.click()
    expect(page.locator("[data-off-panel]")).to_be_visible()
    all_is_told(page)
    after = call.runs.get()
    assert (after.ticks, after.off_script_from_ms) == (before.ticks, before.off_script_from_ms)


def test_a_step_that_is_done_only_later_has_its_later_time(open_page: OpenPage, tess: User, call: Call) -> None:
    """Playwright's clock moves the page's timers and its monotonic clock on."""
    page = open_page(tess)
    page.clock.install()
    go_to(page, call)
    begin(page)
    page.keyboard.press("n")
    page.keyboard.press("u")
    page.context.set_offline(True)
    page.clock.fast_forward(40_000)
    page.keyboard.press("n")
    expect(page.locator("[data-step='1'] [data-at]")).to_have_text(re.compile(r"0:4\d"))


# --- taken off, and put back ------------------------------------------------------------------------


def test_a_moment_is_taken_off_and_put_back(page: Page, call: Call) -> None:
    mark(page, "By mistake")
    mark(page, "Meant")
    moments_are(page, "kept", "kept")
    row = page.locator("[data-moments] li", has_text="By mistake")
    row.get_by_role("button", name="Take off").click()
    moments_are(page, "kept", "taken off")
    assert [moment.is_withdrawn for moment in call.moments.all()] == [True, False]
    expect(page.locator("[data-count]")).to_have_text("1")
    page.reload()
    moments_are(page, "kept", "taken off")
    row.get_by_role("button", name="Put back").click()
    moments_are(page, "kept", "kept")
    page.context.set_offline(True)
    row.get_by_role("button", name="Take off").click()
    moments_are(page, "kept", "kept here only")
    page.context.set_offline(False)
    moments_are(page, "kept", "taken off")
    assert [moment.words for moment in call.moments.all()] == ["By mistake", "Meant"]
    expect(page.locator("#words")).to_have_value("Meant")
    page.locator("[data-moments] li", has_text="Meant").get_by_role("button", name="Take off").click()
    expect(page.locator("#words")).to_be_disabled()


def test_a_script_that_was_put_on_by_mistake_comes_off(page: Page, call: Call) -> None:
    make.script("noisy-room", title="Noisy room")
    page.reload()
    page.get_by_text("Run another script on this call").click()
    page.get_by_role("button", name="Add", exact=True).click()
    switch = page.get_by_role("group", name="Scripts of this call")
    expect(switch.get_by_role("button")).to_have_count(2)
    page.get_by_role("button", name="Take this script off the call").click()
    expect(switch).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).to_have_text("Bad news day")
    assert call.runs.count() == 1
    page.get_by_text("Run another script on this call").click()
    page.get_by_role("button", name="Add", exact=True).click()
    expect(switch.get_by_role("button")).to_have_count(2)
    page.keyboard.press("n")
    expect(page.get_by_role("button", name="Take this script off the call")).to_be_hidden()


# --- where it is ended ------------------------------------------------------------------------------


def test_a_call_that_was_ended_elsewhere_says_so(page: Page, call: Call) -> None:
    other = page.context.new_page()
    go_to(other, call)
    other.context.set_offline(True)  # so that the other page stays
    other.get_by_role("button", name="End the call").click()
    expect(page.locator("[data-ended-elsewhere]")).to_be_visible()
    expect(page.locator("[data-says]")).to_have_text("The call was ended on another page or device.")
    expect(other.locator("[data-ended-elsewhere]")).to_be_hidden()


def test_without_a_network_nobody_is_sent_to_the_form(page: Page) -> None:
    standing(page, "All kept")
    page.context.set_offline(True)
    page.get_by_role("button", name="End the call").click()
    expect(page.locator("[data-ended-unsent]")).to_contain_text("You are offline. The form opens once")
    rest(page)
    link = page.get_by_role("link", name="File: Bad news day")
    expect(link).to_have_attribute("aria-disabled", "true")
    link.click(force=True)
    page.wait_for_timeout(300)
    assert "/calls/" in page.url
    page.context.set_offline(False)
    expect(page.locator("[data-ended-unsent]")).to_be_hidden()
    link.click()
    page.wait_for_url(re.compile("/drafts/|/results/new/"))


# --- in sight ---------------------------------------------------------------------------------------


def test_the_current_step_is_in_sight_at_the_start_and_after_a_script_is_added(open_page: OpenPage, tess: User) -> None:
    steps = [f"Step {number}: " + "talk on. " * 12 for number in range(1, 10)]
    call = new_call(tess, make.script("long", title="Long", steps=steps))
    make.script("another", title="Another", steps=steps)
    page = open_page(tess, width=360, height=740, has_touch=True, is_mobile=True)
    go_to(page, call)
    begin(page)
    for number in range(1, 8):
        page.locator("[data-next]").tap()
        expect(page.locator("[data-place]")).to_have_text(f"Step {number + 1} of 9")
    for _ in range(12):
        page.locator("[data-mark]").tap()
    expect(page.locator("[data-dock-count]")).to_have_text("12 moments")
    standing(page, "All kept")
    page.close()
    page = page.context.new_page()
    go_to(page, call)
    current = page.locator("[data-run]:visible .is-now")
    expect(current).to_contain_text("Step 8")
    assert is_in_sight(page, current)
    page.get_by_text("Run another script on this call").tap()
    page.get_by_role("button", name="Add", exact=True).tap()
    expect(current).to_contain_text("Step 1")
    page.wait_for_timeout(300)
    assert is_in_sight(page, current)


@pytest.mark.parametrize("state", ["offline", "signed out", "closed"])
def test_whatever_the_dock_has_to_say_moves_nothing(page: Page, call: Call, state: str) -> None:
    page.keyboard.press("m")
    moments_are(page, "kept")
    sizes = ((1280, 800), (360, 740), (740, 360))
    before = {}
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        before[width] = page.locator("[data-mark]").bounding_box()
    if state == "offline":
        page.context.set_offline(True)
    elif state == "signed out":
        page.context.clear_cookies()
    else:
        Script.objects.update(area="safety")
    page.keyboard.press("m")
    page.keyboard.press("m")
    standing(page, "Kept here")
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        assert page.locator("[data-mark]").bounding_box() == before[width]
        assert page.locator("#words").is_visible()


def test_text_of_twice_the_size_fits_320_pixels(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess, width=320, height=640)
    go_to(page, call)
    begin(page)
    mark(page, "Laughed")
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert page.evaluate("document.querySelector('.dock').scrollWidth") <= 320
    for button in (page.locator("[data-mark]"), page.locator("[data-next]")):
        box = button.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 320


def test_the_stretch_is_seen_in_forced_colours(open_page: OpenPage, tess: User, call: Call) -> None:
    """The bar's filled part has a colour of the system's own, unlike its ground."""
    page = open_page(tess, forced_colors="active")
    go_to(page, call)
    begin(page)
    page.get_by_role("button", name="Go off-script now").click()
    bar = page.locator("[data-stretch]")
    bar.evaluate("bar => { bar.value = 60; Object.defineProperty(bar, 'value', { set() {} }); }")
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    assert box is not None
    within = {"y": round(box["y"]) + 2, "width": 10, "height": round(box["height"]) - 4}
    filled, empty = (
        page.screenshot(clip={"x": round(box["x"] + box["width"] * part), **within}) for part in (0.25, 0.75)
    )
    assert filled != empty
