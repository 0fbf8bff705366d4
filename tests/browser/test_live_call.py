"""A whole call beside the live-call page: on a phone, by keys on a laptop, with two scripts, and without scripts."""

from __future__ import annotations

import re
import uuid

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from results.live_call.begin_call import add_script
from results.models import Call, Result
from scripts_catalog.models import Build, Site
from tests import make
from tests.browser.beside_a_call import begin, file_the_result, go_to, mark, moments_are, rest, standing
from tests.browser.test_every_page import faults_of
from tests.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 "
    "Mobile Safari/537.36"
)


def test_a_whole_call_on_a_phone(open_page: OpenPage, tess: User, call: Call, live_server: LiveServer) -> None:
    Site.objects.create(pk=1, call_link=f"{live_server.url}/healthz")
    page = open_page(tess, width=360, height=740, has_touch=True, is_mobile=True, user_agent=PHONE)
    go_to(page, call)
    expect(page.get_by_text("Find a quiet place.")).to_be_visible()
    with page.expect_popup() as emma:
        page.get_by_role("link", name="Call Emma").tap()
    assert emma.value.url.endswith("/healthz")
    assert emma.value.evaluate("window.opener") is None
    emma.value.close()
    rest(page)
    page.locator("[data-mark]").tap()
    page.locator("#words").fill("Cut me off")
    page.locator("[data-next]").tap()
    moments_are(page, "kept")

    page.context.set_offline(True)
    page.locator("[data-mark]").tap()
    standing(page, "Kept here, not sent yet: 1")
    page.locator("[data-next]").tap()
    standing(page, "Kept here, not sent yet: 3")  # the moment, the step, and the stretch after the last step
    moments_are(page, "kept here only", "kept")
    page.context.set_offline(False)
    standing(page, "All kept")
    moments_are(page, "kept", "kept")

    page.reload()
    expect(page.locator("[data-off-panel]")).to_be_visible()
    expect(page.locator("[data-moments]")).to_contain_text("Cut me off")
    page.locator("[data-mark]").tap()
    moments_are(page, "kept", "kept", "kept")
    page.get_by_role("button", name="End the call").tap()
    file_the_result(page)
    for words in ("Moments", "Cut me off"):
        expect(page.locator("main")).to_contain_text(words)
    result = Result.objects.get()
    call.refresh_from_db()
    assert call.started_at is not None
    assert (result.call_uuid, result.build, result.script_id) == (call.uuid, call.build, "bad-news-day")
    assert abs((result.called_at - call.started_at).total_seconds()) < 60
    assert call.moments.count() == 3
    assert call.device == "phone"
    assert call.ended_at_ms


def test_keys_on_a_laptop(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess)
    go_to(page, call)
    page.keyboard.press("m")
    expect(page.locator("[data-moments] li")).to_have_count(0)
    begin(page)
    page.keyboard.press("m")
    page.keyboard.press("m")
    moments_are(page, "kept", "kept")
    page.keyboard.press("w")
    page.keyboard.type("mmm, no new mark?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-moments] li").first).to_contain_text("mmm, no new mark?")
    page.keyboard.press("Enter")  # a second Enter presses nothing
    moments_are(page, "kept", "kept")
    page.keyboard.press("m")
    expect(page.locator("#words")).to_have_value("")
    moments_are(page, "kept", "kept", "kept")
    page.keyboard.press("n")
    expect(page.locator("[data-place]")).to_have_text("Step 2 of 2")
    page.keyboard.press("n")
    expect(page.locator("[data-off-panel]")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator("[data-off-panel]")).to_be_hidden()
    expect(page.locator("[data-place]")).to_have_text("Step 2 of 2")
    page.keyboard.press("?")
    legend = page.get_by_role("dialog", name="Keys")
    expect(legend).to_be_visible()
    page.keyboard.press("m")
    legend.get_by_text("Use single keys").click()
    legend.get_by_role("button", name="Close").click()
    page.keyboard.press("m")
    page.wait_for_timeout(300)
    assert call.moments.count() == 3
    run = call.runs.get()
    assert list(run.ticks) == ["1"]
    assert run.off_script_from_ms is None


def test_a_held_key_marks_once(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    page.locator("body").focus()
    for _ in range(5):
        page.keyboard.down("m")
    page.keyboard.up("m")
    page.locator("[data-mark]").focus()
    for _ in range(5):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    moments_are(page, "kept", "kept")


def test_words_are_mended_in_the_list_and_can_be_emptied(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    mark(page, "Lauhged")
    moments_are(page, "kept")
    page.get_by_role("button", name=re.compile("Change the words")).click()
    page.locator("[data-mending]").fill("Laughed")
    page.locator("[data-mending]").press("Enter")
    expect(page.locator("[data-said]")).to_have_text("Laughed")
    moments_are(page, "kept")
    assert call.moments.get().words == "Laughed"
    page.locator("[data-mend]").click()
    page.locator("[data-mending]").fill("")
    page.locator("[data-mending]").press("Enter")
    expect(page.get_by_role("button", name=re.compile("Add words"))).to_be_focused()
    moments_are(page, "kept")
    assert call.moments.get().words == ""


def test_the_stretch_counts_down_to_one_minute_and_then_to_two(open_page: OpenPage, tess: User, call: Call) -> None:
    """Two minutes of waiting are made by Playwright's clock, which moves the page's timers and its monotonic clock."""
    page = open_page(tess)
    page.clock.install()
    go_to(page, call)
    begin(page)
    page.get_by_role("button", name="Go off-script now").click()
    expect(page.locator("[data-left-words]")).to_have_text("Keep talking: a minute at least.")
    page.clock.fast_forward(61_000)
    expect(page.locator("[data-left-words]")).to_have_text("Enough. Until 2:00 is better.")
    expect(page.locator("[data-left]")).to_have_text(re.compile(r"0:5\d"))
    expect(page.locator("[data-place]")).to_have_text(re.compile(r"Off-script: 1:0\d of 2:00"))
    page.clock.fast_forward(60_000)
    expect(page.locator("[data-left-words]")).to_have_text("Done. End the call when you like.")
    expect(page.locator("[data-place]")).to_have_text("Off-script: done")
    page.get_by_role("button", name="Back to the steps").click()
    expect(page.locator("[data-place]")).to_have_text("Step 1 of 2")


def test_two_scripts_of_one_call_are_two_results(open_page: OpenPage, tess: User, call: Call, build: Build) -> None:
    make.script("noisy-room", title="Noisy room")
    make.script("dim-light", title="Dim light")
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    page.keyboard.press("n")
    other = page.context.new_page()
    go_to(other, call)
    page.bring_to_front()
    page.get_by_text("Run another script on this call").click()
    page.get_by_label("Script", exact=True).select_option(label="Noisy room")
    page.get_by_role("button", name="Add", exact=True).click()
    switch = page.get_by_role("group", name="Scripts of this call")
    expect(switch.get_by_role("button", name="Noisy room")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[data-place]")).to_have_text("Step 1 of 2")
    expect(page.get_by_role("button", name="Add", exact=True)).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).to_have_text("Noisy room")
    page.keyboard.press("n")
    switch.get_by_role("button", name="Bad news day").click()
    expect(page.locator("[data-place]")).to_have_text("Step 2 of 2")
    expect(other.get_by_role("group", name="Scripts of this call").get_by_role("button")).to_have_count(2)
    mark(page, "Both scripts share it")
    moments_are(page, "kept")
    page.get_by_role("button", name="End the call").click()
    expect(page.get_by_role("heading", name=re.compile("The call ended at"))).to_be_focused()
    expect(page.get_by_role("heading", level=1)).to_have_text("Call")
    expect(page.locator(".ended .primary")).to_have_text(re.compile("File:"))
    rest(page)
    page.get_by_role("link", name="File: Bad news day").click()
    file_the_result(page)
    page.goto(call.get_absolute_url())
    expect(page.get_by_text("✓ Filed")).to_be_visible()
    expect(page.locator("p.call-build")).to_have_css("display", "block")  # one sentence, not three columns
    page.get_by_role("link", name="File: Noisy room").click()
    file_the_result(page)
    results = Result.objects.filter(call_uuid=call.uuid)
    assert {result.script_id for result in results} == {"bad-news-day", "noisy-room"}
    expect(page.locator("main")).to_contain_text("Both scripts share it")
    page.goto(call.get_absolute_url())
    expect(page.locator(".ended .primary")).to_have_text("On to the scripts")
    assert {result.build for result in results} == {build}
    assert len({result.called_at for result in results}) == 1


def test_an_answer_that_was_long_on_its_way_takes_nothing_back(open_page: OpenPage, tess: User, call: Call) -> None:
    """The other tab is told, before the call ends here, how the call stands; it hears of it only afterwards."""
    add_script(call, make.script("noisy-room", title="Noisy room"))
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    other = page.context.new_page()
    go_to(other, call)
    expect(other.locator("[data-mark]")).to_be_visible()
    on_their_way: list[tuple[Route, APIResponse]] = []

    def hold(route: Route) -> None:
        on_their_way.append((route, route.fetch()))

    other.route("**/tell/", hold, times=1)
    mark(other)
    while not on_their_way:
        other.wait_for_timeout(50)
    page.bring_to_front()
    page.get_by_role("button", name="End the call").click()
    expect(page.get_by_role("link", name="File: Bad news day")).to_be_visible()
    expect(other.get_by_text("It was ended on another page")).to_be_visible()
    for route, answer in on_their_way:
        route.fulfill(response=answer)
    moments_are(other, "kept")
    for tab in (other, page):
        tab.wait_for_timeout(300)  # what it does with the answer, it has done by then
        expect(tab.locator("[data-mark]")).to_be_hidden(timeout=1)
        expect(tab.get_by_role("link", name="File: Bad news day")).to_be_visible(timeout=1)


def test_a_call_that_was_ended_too_early_goes_on(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    page.get_by_role("button", name="End the call").click()
    page.wait_for_url(re.compile("/results/new/|/drafts/"))
    go_to(page, call)
    page.get_by_role("button", name="The call goes on").click()
    rest(page)
    mark(page)
    moments_are(page, "kept")
    call.refresh_from_db()
    assert call.ended_at_ms is None


def test_the_build_can_be_changed_and_its_link_with_it(
    open_page: OpenPage, tess: User, call: Call, live_server: LiveServer
) -> None:
    make.build("2026.9", call_link=f"{live_server.url}/readyz")
    page = open_page(tess)
    go_to(page, call)
    expect(page.get_by_text("No link that opens Emma is set.")).to_be_visible()
    page.get_by_label("Build").select_option(label="2026.9")
    expect(page.get_by_role("link", name="Call Emma")).to_have_attribute("href", re.compile("/readyz$"))
    call.refresh_from_db()
    assert str(call.build) == "2026.9"
    page.reload()
    expect(page.get_by_label("Build").locator("option:checked")).to_have_text("2026.9")


def fill_up(call: Call, up_to: int) -> None:
    for number in range(call.moments.count() + 1, up_to + 1):
        call.moments.create(uuid=uuid.uuid4(), number=number, at_ms=number)


def test_the_201st_moment_is_refused_politely(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    mark(page)
    moments_are(page, "kept")
    fill_up(call, 198)
    page.reload()
    expect(page.locator("[data-moments] li")).to_have_count(198)
    page.context.set_offline(True)
    mark(page)
    mark(page)
    expect(page.locator("[data-mark]")).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("m")
    standing(page, "Kept here, not sent yet: 2")
    expect(page.locator("[data-says]")).to_have_text("Not kept: this call holds 200 moments, and no more.")
    expect(page.locator("[data-moments] li")).to_have_count(200)
    page.context.set_offline(False)
    standing(page, "200 moments: this call holds no more")
    expect(page.locator("[data-moments] .is-here")).to_have_count(0)
    assert call.moments.count() == 200


def test_of_two_devices_the_one_that_comes_late_is_told_what_was_not_kept(
    open_page: OpenPage, tess: User, call: Call
) -> None:
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    standing(page, "All kept")
    page.context.set_offline(True)
    mark(page, "Too late")
    moments_are(page, "kept here only")
    fill_up(call, 200)
    page.context.set_offline(False)
    row = page.locator("[data-moments] li", has_text="Too late")
    expect(row).to_contain_text("not kept: A call keeps 200 moments", timeout=15_000)
    page.reload()
    expect(row).to_contain_text("not kept: A call keeps 200 moments")
    row.get_by_role("button", name="Take off the list").click()
    expect(row).to_have_count(0)
    page.reload()
    expect(page.locator("[data-moments] li")).to_have_count(200)


def test_nothing_scrolls_sideways_and_every_target_is_large_enough(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess, width=320, height=640, has_touch=True, is_mobile=True)
    go_to(page, call)
    assert not is_too_wide(page)
    begin(page)
    mark(page, "A" * 200)
    moments_are(page, "kept")
    assert not is_too_wide(page)
    page.locator("[data-next]").tap()
    page.locator("[data-next]").tap()
    assert not is_too_wide(page)
    box = page.locator("[data-mark]").bounding_box()
    assert box is not None
    assert box["height"] >= 60
    assert box["width"] >= 150
    assert box["y"] + box["height"] <= 640


def is_too_wide(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


def test_nothing_shifts_under_the_thumb(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess, width=360, height=740)
    go_to(page, call)
    begin(page)
    before = page.locator("[data-mark]").bounding_box()
    mark(page)
    page.context.set_offline(True)
    mark(page)
    standing(page, "Kept here")
    assert page.locator("[data-mark]").bounding_box() == before
    page.locator("[data-next]").click()
    page.locator("[data-next]").click()
    expect(page.locator("[data-off-panel]")).to_be_visible()
    assert page.locator("[data-mark]").bounding_box() == before


@pytest.mark.parametrize(("width", "dark"), [(360, False), (1280, True)], ids=["phone, light", "desk, dark"])
def test_every_state_can_be_read_by_everybody(
    open_page: OpenPage, tess: User, call: Call, width: int, dark: bool
) -> None:
    page = open_page(tess, width=width, dark=dark)
    go_to(page, call)
    wrong = {"before": faults_of(page)}
    begin(page)
    mark(page, "Laughed")
    moments_are(page, "kept")
    wrong["during"] = faults_of(page)
    page.context.set_offline(True)
    mark(page)
    standing(page, "Kept here")
    wrong["offline"] = faults_of(page)
    page.keyboard.press("n")
    page.keyboard.press("n")
    expect(page.locator("[data-off-panel]")).to_be_visible()
    wrong["off-script"] = faults_of(page)
    page.get_by_role("button", name="End the call").click()
    expect(page.locator("[data-ended-unsent]")).to_be_visible()
    wrong["ended"] = faults_of(page)
    assert [faults for faults in wrong.items() if faults[1]] == []


def test_the_screen_stays_on_during_the_call_alone(open_page: OpenPage, tess: User, call: Call) -> None:
    """There is no screen here that could go dark: what the page asks of the browser is listened to instead."""
    page = open_page(tess)
    page.add_init_script("""
      window.asked = [];
      const lock = { addEventListener() {}, release: async () => window.asked.push("release") };
      const request = async (what) => (window.asked.push(what), lock);
      Object.defineProperty(navigator, "wakeLock", { value: { request } });
    """)
    go_to(page, call)
    assert page.evaluate("window.asked") == []
    begin(page)
    page.wait_for_function("() => window.asked.join() === 'screen'")
    page.context.set_offline(True)
    page.get_by_role("button", name="End the call").click()
    page.wait_for_function("() => window.asked.join() === 'screen,release'")


def test_a_whole_call_without_scripts(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess, java_script_enabled=False)
    page.goto(call.get_absolute_url())
    page.get_by_role("button", name="Begin the call").click()
    page.get_by_label("A few words").fill("By form")
    page.get_by_role("button", name="Mark moment").click()
    expect(page.get_by_label(re.compile("Words for the moment"))).to_have_value("By form")
    page.get_by_label(re.compile("Words for the moment")).fill("By plain form")
    page.get_by_role("button", name="Keep").click()
    expect(page.get_by_label(re.compile("Words for the moment"))).to_have_value("By plain form")
    page.get_by_role("button", name="Step 1").click()
    expect(page.get_by_role("button", name="Step 1")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Step 1").click()
    expect(page.get_by_role("button", name="Step 1")).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="Go off-script now").click()
    expect(page.get_by_text("a minute at least")).to_be_visible()
    page.get_by_role("button", name="Back to the steps").click()
    page.get_by_role("button", name="Go off-script now").click()
    page.get_by_role("button", name="Take off").click()
    page.get_by_role("button", name="Put back").click()
    page.get_by_role("button", name="Take off").click()
    page.get_by_role("button", name="End the call").click()
    expect(page.locator(".is-now")).to_have_count(0)
    expect(page.get_by_role("button", name="Back to the steps")).to_be_hidden()
    page.get_by_role("link", name="File: Bad news day").click()
    expect(page.locator("#listening_timing-3")).to_be_visible()
    assert (call.moments.get().words, call.moments.get().is_withdrawn) == ("By plain form", True)
    assert call.runs.get().ticks == {}
    call.refresh_from_db()
    assert call.ended_at_ms is not None
