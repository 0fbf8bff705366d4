"""The call clock is the browser's monotonic one: no clock that tells the time of day has a say in it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone
from playwright.sync_api import Page, expect

from emma_eval.accounts.models import User
from results.models import Call
from tests.browser.beside_a_call import begin, go_to, mark, moments_are, standing
from tests.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# The whole of what tells the time of day in a browser, wrong by so many hours and jumping an hour at each look.
_WRONG = """(hours) => {
  const Right = Date;
  let looks = 0;
  const wrong = () => Right.now() + hours * 3600000 + (looks += 1) * 3600000;
  window.Date = class extends Right {
    constructor(...given) { given.length ? super(...given) : super(wrong()); }
    static now() { return wrong(); }
  };
}"""
# When each press came, on the page's own monotonic clock.
_NOTE_PRESSES = """
  window.presses = [];
  addEventListener("pointerdown", (event) => window.presses.push(event.timeStamp), true);
"""


def presses(page: Page) -> list[float]:
    found: list[float] = page.evaluate("window.presses")
    return found


@pytest.mark.parametrize("hours", [24, -24])
def test_a_clock_that_is_a_day_wrong_moves_nothing(open_page: OpenPage, tess: User, call: Call, hours: int) -> None:
    page = open_page(tess)
    page.add_init_script(f"({_WRONG})({hours})")
    page.add_init_script(_NOTE_PRESSES)
    go_to(page, call)
    begin(page)
    for pause in (150, 400, 50):
        page.wait_for_timeout(pause)
        mark(page)
    moments_are(page, "kept", "kept", "kept")
    begun, *marked = presses(page)
    kept = [moment.at_ms for moment in call.moments.all()]
    assert kept == pytest.approx([at - begun for at in marked], abs=2)
    call.refresh_from_db()
    assert call.started_at is not None
    for moment in call.moments.all():  # the site's own reading: when it was told, with the way there
        received_ms = (moment.received_at - call.started_at) / timedelta(milliseconds=1)
        assert -100 <= received_ms - moment.at_ms <= 1_500


@pytest.mark.parametrize("hours", [24, -24])
def test_a_reloaded_page_and_another_device_read_the_same_clock(
    open_page: OpenPage, tess: User, call: Call, hours: int
) -> None:
    page = open_page(tess)
    page.add_init_script(f"({_WRONG})({hours})")
    page.add_init_script(_NOTE_PRESSES)
    go_to(page, call)
    begin(page)
    standing(page, "All kept")
    page.reload()
    expect(page.locator("[data-mark]")).to_be_visible()
    page.wait_for_timeout(1_200)  # the first beats narrow the clock
    # The site's reading, with its doubt of half a round trip, against a press of which the page knows the time.
    read, asked, answered = page.evaluate(
        """async () => {
          const tries = [];
          for (let count = 0; count < 5; count += 1) {
            const asked = performance.now();
            const answer = await fetch("tell/", { method: "POST", headers: {
              "Content-Type": "application/json", "X-CSRFToken": window.csrfToken() }, body: "{}" });
            const answered = performance.now();
            tries.push([(await answer.json()).elapsed_ms, asked, answered]);
          }
          return tries.sort((one, other) => (one[2] - one[1]) - (other[2] - other[1]))[0];
        }"""
    )
    mark(page)
    moments_are(page, "kept")
    [pressed] = presses(page)
    doubt = (answered - asked) / 2
    sites = read + pressed - (asked + answered) / 2
    assert abs(call.moments.get().at_ms - sites) <= 100 + doubt


def test_a_press_that_is_told_late_keeps_its_time(open_page: OpenPage, tess: User, call: Call) -> None:
    """The first telling is held up for three seconds on its way, as a bad network would."""
    page = open_page(tess)
    page.add_init_script(_NOTE_PRESSES)
    held = []

    def hold_up_once(route) -> None:  # type: ignore[no-untyped-def]
        if "begun" in (route.request.post_data or "") and not held:
            held.append(route)
            page.wait_for_timeout(3_000)
        route.continue_()

    page.route(re.compile("/tell/$"), hold_up_once)
    go_to(page, call)
    begin(page)
    mark(page)
    moments_are(page, "kept")
    standing(page, "All kept")
    begun, marked = presses(page)[:2]
    assert call.moments.get().at_ms == pytest.approx(marked - begun, abs=2)
    late_ms = 3_000.0
    for _ in range(20):  # the age is told again soon, and then the site's clock is right
        call.refresh_from_db()
        late_ms = page.evaluate("performance.now()") - begun - (call.elapsed_ms(timezone.now()) or 0)
        if late_ms < 1_000:
            break
        page.wait_for_timeout(250)
    assert abs(late_ms) < 1_000


def test_after_sleep_the_clock_is_set_anew_and_earlier_moments_keep_their_time(
    open_page: OpenPage, tess: User, call: Call
) -> None:
    """Sleep can't be had here: ten minutes that the site saw go by and the page's clock did not are the same thing."""
    page = open_page(tess)
    go_to(page, call)
    begin(page)
    mark(page)
    moments_are(page, "kept")
    before = call.moments.get().at_ms
    Call.objects.update(started_at=F("started_at") - timedelta(minutes=10))
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.locator("[data-timer]").last).to_have_text(re.compile("^10:"))
    mark(page)
    moments_are(page, "kept", "kept")
    first, second = call.moments.all()
    assert first.at_ms == before
    assert 600_000 <= second.at_ms < 660_000
    call.refresh_from_db()
    assert 600_000 <= (call.elapsed_ms(timezone.now()) or 0) < 660_000


def test_the_clock_is_that_of_the_press_and_not_of_the_release(open_page: OpenPage, tess: User, call: Call) -> None:
    page = open_page(tess)
    page.add_init_script(_NOTE_PRESSES)
    go_to(page, call)
    begin(page)
    page.locator("[data-mark]").hover()
    page.mouse.down()
    page.wait_for_timeout(400)
    page.mouse.up()
    moments_are(page, "kept")
    begun, marked = presses(page)
    assert call.moments.get().at_ms == pytest.approx(marked - begun, abs=2)
