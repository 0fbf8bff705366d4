"""What goes wrong beside a recording loses nothing and is said in words: faults of the store, tabs, people, devices."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import Call, Chunk, Recording
from results.recordings.recorder import keep_chunks
from scripts_catalog.models import Script
from tests import make
from tests.browser.beside_a_call import begin, go_to, new_call
from tests.browser.test_every_page import faults_of
from tests.browser.two_voices import (
    agree,
    browser_with_voices,
    call_emma,
    eventually,
    is_recording,
    recorded,
    unsent,
)
from tests.conftest import OpenPage, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Home = Callable[..., BrowserContext]


@pytest.fixture
def home(chromium: Browser, tmp_path: Path, tess: User, live_server: LiveServer) -> Iterator[Home]:
    """Browsers with two voices and a memory of their own."""
    opened: list[BrowserContext] = []

    def open_(name: str = "profile") -> BrowserContext:
        opened.append(browser_with_voices(chromium, tmp_path / name, tess, live_server))
        call_emma(opened[-1], live_server)
        return opened[-1]

    yield open_
    for context in opened:
        context.close()


def on_the_call(context: BrowserContext, call: Call) -> Page:
    page = context.new_page()
    go_to(page, call)
    page.bring_to_front()
    return page


def says(page: Page, words: str | re.Pattern[str]) -> None:
    """As it can be seen: the words for other states stand in the page, hidden."""
    expect(page.locator("[data-recorder]")).to_contain_text(words, timeout=15_000, use_inner_text=True)


def test_faults_of_the_store_and_of_the_session_lose_nothing(
    home: Home, tess: User, call: Call, live_server: LiveServer
) -> None:
    """The faults are made between the browser and the store: a server of ours does not break off when it is told to."""
    context = home()
    faults = itertools.chain(
        [
            lambda route: route.fulfill(status=503, body="slow down"),
            lambda route: route.abort("connectionreset"),
            lambda route: route.fulfill(status=507, body="full"),
            lambda route: route.fulfill(status=403, body="expired"),
        ],
        itertools.repeat(Route.continue_),
    )
    met: list[str] = []

    def break_off(route: Route) -> None:
        met.append(route.request.method)
        next(faults)(route)

    context.route("**/kept/**", break_off)
    page = on_the_call(context, call)
    begin(page)
    agree(page)
    is_recording(page)
    says(page, "Where recordings are kept")
    recorded(page, 5)
    assert unsent(page) >= 1
    cookies = context.cookies()
    context.clear_cookies()
    page.evaluate("setInterval(() => keptRecordings.sendNow(), 500)")  # how long it waits is not what is looked at
    says(page, "You are signed out, so it waits here.")
    assert not Chunk.objects.exclude(arrived_at=None).exists()
    context.add_cookies(cookies)  # type: ignore[arg-type]
    page.locator("[data-recorder]").get_by_role("button", name="Stop recording").click()
    says(page, "All of it is sent.")
    page.get_by_role("button", name="That is all").click()
    recording = Recording.objects.get()
    eventually(lambda: Recording.objects.get().state == "working", 20)
    assert recording.takes.get().chunk_count == Chunk.objects.exclude(arrived_at=None).count()
    assert len(met) > 4


def test_ending_the_call_ends_its_recording_which_is_sent_from_whatever_page_is_open(
    home: Home, tess: User, call: Call, live_server: LiveServer
) -> None:
    """And by nobody else at the same browser."""
    context = home()
    context.route("**/kept/**", lambda route: route.abort())
    page = on_the_call(context, call)
    begin(page)
    agree(page)
    is_recording(page)
    recorded(page, 2)
    page.get_by_role("button", name="End the call").click()
    page.wait_for_url(re.compile("/drafts/|/results/new/"))
    page.goto("about:blank")
    mine = context.cookies()
    other = make.user("tom@example.test", Role.TESTER)
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url) if "/recordings/" in request.url else None)
    context.unroute("**/kept/**")
    sign_in(context, other, live_server.url)
    page.goto("/todo/")
    page.wait_for_timeout(1_500)
    assert page.evaluate("window.keptRecordings ? keptRecordings.keys() : []") == []
    assert asked == []
    assert Recording.objects.get().state == "receiving"
    context.add_cookies(mine)  # type: ignore[arg-type]
    page.goto("/scripts/")
    eventually(lambda: Recording.objects.get().state == "working", 15)
    assert Recording.objects.get().takes.get().chunks.exclude(arrived_at=None).count() >= 1
    eventually(lambda: page.evaluate("keptRecordings.keys()") == [])


def test_one_page_records_a_call_and_the_others_say_so(home: Home, call: Call) -> None:
    context = home()
    page = on_the_call(context, call)
    begin(page)
    agree(page)
    is_recording(page)
    tab = on_the_call(context, call)
    says(tab, "This call is being recorded in another tab or on another device.")
    assert "in another tab. Stop its recording there" in asked_when_signing_out(tab)
    assert "Signing out ends its recording" in asked_when_signing_out(page)
    is_recording(page)
    away = home("other")
    device = away.new_page()
    device.add_init_script("""
      const wait = window.setTimeout;
      window.setTimeout = (what, ms, ...rest) => wait(what, ms === 3_000 ? 30_000 : ms, ...rest);
    """)  # a call is not kept waiting for a site that is slow to answer, as it may be here
    go_to(device, call)
    device.bring_to_front()
    agree(device)
    says(device, "This call is being recorded in another tab or on another device.")
    assert Recording.objects.count() == 1
    page.close()
    says(tab, "Recording broke off when its page was closed.")
    says(tab, "All of it is sent.")
    device.get_by_role("button", name="Look again").click()
    agree(device)
    is_recording(device)
    assert Recording.objects.count() == 2
    another_while_the_first_waits_to_be_sent(away, device)


def asked_when_signing_out(page: Page) -> str:
    page.locator("header details summary").click()
    with page.expect_event("dialog") as asked:
        page.once("dialog", lambda dialog: dialog.dismiss())
        page.get_by_role("button", name="Sign out").click()
    return asked.value.message


def another_while_the_first_waits_to_be_sent(context: BrowserContext, page: Page) -> None:
    context.route("**/kept/**", lambda route: route.abort())
    stop = page.locator("[data-recorder]").get_by_role("button", name="Stop recording")
    stop.click()
    page.get_by_role("button", name="That is all").click()
    says(page, "Kept here, not sent yet")
    agree(page)
    is_recording(page)
    stop.click()
    page.get_by_role("button", name="That is all").click()
    context.unroute("**/kept/**")
    page.evaluate("keptRecordings.sendNow()")
    eventually(lambda: Recording.objects.filter(state="working").count() == 2, 20)
    eventually(lambda: page.evaluate("keptRecordings.keys()") == [])


def test_one_sided_is_said_and_goes_on_and_a_full_disk_is_said(home: Home, call: Call) -> None:
    """Neither a refused microphone, nor a tab without sound, nor a full disk can be had from this browser."""
    context = home()
    page = context.new_page()
    page.add_init_script("""
      const ask = navigator.mediaDevices.getDisplayMedia.bind(navigator.mediaDevices);
      navigator.mediaDevices.getDisplayMedia = (what) => ask({ ...what, audio: false });
      const listen = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
      let isAllowed = false;
      navigator.mediaDevices.getUserMedia = async (what) => {
        if (isAllowed) return listen(what);
        isAllowed = true;
        throw new DOMException("no", "NotAllowedError");
      };
      const put = IDBObjectStore.prototype.put;
      IDBObjectStore.prototype.put = function (...said) {
        if (this.name === "chunks") throw new DOMException("full", "QuotaExceededError");
        return put.apply(this, said);
      };
    """)
    go_to(page, call)
    page.bring_to_front()
    begin(page)
    agree(page)
    is_recording(page)
    says(page, "You are not recorded: the browser was not allowed to use the microphone.")
    says(page, "No sound was shared, so Emma's voice is not recorded")
    assert faults_of(page) == []
    page.get_by_role("button", name="Connect the microphone").click()
    expect(page.get_by_text("You are not recorded")).to_be_hidden()
    context.route("**/kept/**", lambda route: route.abort())
    says(page, "This browser can't keep more")
    page.get_by_role("button", name="End the call").click()
    says(page, "Held by this page, not sent yet")
    page.wait_for_timeout(300)
    assert "/calls/" in page.url
    assert not page.evaluate("dispatchEvent(new Event('beforeunload', { cancelable: true }))")  # leaving asks first
    context.unroute("**/kept/**")
    page.evaluate("keptRecordings.sendNow()")
    eventually(lambda: Recording.objects.get().state == "working", 15)
    recording = Recording.objects.get()
    assert (recording.sides, "the tester alone" in recording.sides_because) == ("one", True)


KEEP_A_CHUNK = """async ([call, number]) => {
  const facts = { mediaType: "video/webm", beganAtMs: 0, hasTester: true, hasEmma: true };
  const key = (await keptRecordings.keys(call))[0] ?? await keptRecordings.begin(call, crypto.randomUUID(), 0);
  await keptRecordings.keepTake(key, 1, facts);
  await keptRecordings.keepChunk(key, 1, number, new ArrayBuffer(8), facts);
}"""


def test_of_one_that_is_too_large_the_rest_is_given_up_knowingly_and_what_came_is_made_ready(
    open_page: OpenPage, tess: User, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four gigabytes are eight bytes here."""
    monkeypatch.setattr(keep_chunks, "MOST_RECORDING_BYTES", 8)
    page = open_page(tess)
    go_to(page, call)
    page.evaluate(KEEP_A_CHUNK, [str(call.uuid), 0])
    eventually(lambda: Chunk.objects.exclude(arrived_at=None).count() == 1)
    page.evaluate(KEEP_A_CHUNK, [str(call.uuid), 1])
    page.reload()
    says(page, "A recording is at most")
    says(page, "Kept here, not sent yet: about 4 s.")
    page.on("dialog", lambda asked: asked.accept())
    page.get_by_role("button", name="Discard what is here").click()
    eventually(lambda: Recording.objects.get().state == "working")
    eventually(lambda: page.evaluate("keptRecordings.keys()") == [])


def test_what_cannot_record_says_so_and_leads_on(open_page: OpenPage, tess: User, call: Call, script: Script) -> None:
    page = open_page(tess, width=360, has_touch=True)
    page.add_init_script("delete MediaDevices.prototype.getDisplayMedia")  # as on phones
    go_to(page, call)
    says(page, "This browser can't record a tab or screen")
    link = page.locator("[data-recorder]").get_by_role("link", name="upload the file or paste its link")
    expect(link).to_have_attribute("href", f"/recordings/new/?call={call.uuid}")
    plain = open_page(tess, java_script_enabled=False)
    plain.goto(new_call(tess, script).get_absolute_url())
    expect(plain.locator("[data-recorder]")).to_contain_text("To record here, this page needs its script.")
    expect(plain.get_by_role("button", name="Record this call")).to_be_hidden()


def test_consent_comes_first_and_what_is_not_chosen_is_not_recorded(
    open_page: OpenPage, tess: User, call: Call
) -> None:
    page = open_page(tess)
    page.add_init_script("""
      let asked = 0;
      navigator.mediaDevices.getDisplayMedia = async () => {
        asked += 1;
        if (asked === 1) throw new DOMException("no", "NotAllowedError");
        const shared = document.createElement("canvas").captureStream();
        for (const track of shared.getTracks()) track.stop(); // while the browser asks for the microphone
        return shared;
      };
    """)
    go_to(page, call)
    page.get_by_role("button", name="Record this call").click()
    for words in ("What is recorded", "Who may see it", "How long it is kept", "Tell the other side"):
        says(page, words)
    assert faults_of(page) == []
    page.get_by_role("button", name="Choose what to share").click()
    says(page, "To record, agree first.")
    page.get_by_label("I agree to being recorded").check()
    page.get_by_role("button", name="Choose what to share").click()
    says(page, "Nothing is recorded: nothing was chosen to be shared")
    expect(page.locator("[data-rec-speaks]")).to_contain_text("Nothing is recorded: nothing was chosen")
    expect(page.locator("#recorder")).to_be_focused()  # what was pressed is gone: the keyboard goes on from here
    expect(page.get_by_role("button", name="Record this call")).to_be_visible()
    assert not Recording.objects.exists()
    page.get_by_role("button", name="Record this call").click()
    page.get_by_role("button", name="Choose what to share").click()
    says(page, "what was shared was closed. Nothing is recorded.")
    eventually(lambda: not Recording.objects.exists())
