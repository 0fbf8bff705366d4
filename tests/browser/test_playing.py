"""The player in a real browser: jumps that land, keys, links that are over, and a page without scripts.

What is played is known to the frame and to the beep (tests/media.py), made ready as the site does.
"""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import CallFigures, QueuedFor, Recording, RecordingNote, RecordingState, Result, Watch
from results.recordings.player.keep_captions import keep_captions
from results.recordings.player.note_on_recording import note_on_recording
from results.review.hold_result import begin_review
from scripts_catalog.models import Build, Script
from tests import make
from tests.browser.test_every_page import WCAG
from tests.conftest import OpenPage
from tests.media import FRAMES_A_S, LEFT_BEEPS_MS
from tests.playable import TRANSCRIPT, made_of, playable
from tests.s3 import S3Server
from tests.stores import let_pages_reach, use_bucket

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LANDS_WITHIN_MS = 150
# On the call clock: 400 ms before a beep of the tester, of Emma, and of the tester again.
MOMENTS_MS = (4_600, 30_600, 36_600)
CALL_S = 42.0
FRAME_IN_SIGHT = f"""() => {{
  const media = document.querySelector("[data-media]");
  const canvas = Object.assign(document.createElement("canvas"), {{ width: 256, height: 64 }});
  const context = canvas.getContext("2d");
  context.drawImage(media, 0, 0, 256, 64);
  const row = context.getImageData(0, 8, 256, 1).data;
  let frame = 0;
  for (let bit = 0; bit < 16; bit += 1) frame = frame * 2 + (row[(bit * 16 + 8) * 4] > 127 ? 1 : 0);
  return frame * 1000 / {FRAMES_A_S};
}}"""
# Where the player says it is when the next beep is heard, and on which side.
NEXT_BEEP = """async () => {
  const media = document.querySelector("[data-media]");
  if (!window.ears) {
    const context = new AudioContext();
    const splitter = context.createChannelSplitter(2);
    context.createMediaElementSource(media).connect(splitter);
    const silent = new GainNode(context, { gain: 0 });
    silent.connect(context.destination);
    window.ears = [0, 1].map((side) => {
      const ear = new AnalyserNode(context, { fftSize: 1024 });
      splitter.connect(ear, side);
      ear.connect(silent);
      return ear;
    });
    await context.resume();
  }
  const samples = new Float32Array(1024);
  const hear = (ear) => { ear.getFloatTimeDomainData(samples); return samples; };
  const loud = (ear) => hear(ear).some((sample) => Math.abs(sample) > 0.15);
  document.querySelector("[data-act=toggle]").click();
  for (const until = performance.now() + 3000; performance.now() < until;) {
    await new Promise((go) => setTimeout(go, 4));
    const side = window.ears.findIndex(loud);
    const at = media.currentTime * 1000;
    if (side < 0) continue;
    document.querySelector("[data-act=toggle]").click();
    return [side, at];
  }
  return null;
}"""
AT = "document.querySelector('[data-media]').currentTime"
# The page is told of six frames in ten, and of the one that stays in sight.
LEAVES_FRAMES_OUT = f"""(() => {{
  const ask = HTMLVideoElement.prototype.requestVideoFrameCallback;
  HTMLVideoElement.prototype.requestVideoFrameCallback = function (tell) {{
    const hear = (now, about) => {{
      const frame = Math.round(about.mediaTime * {FRAMES_A_S});
      if (this.paused || frame % 2 === 0 || frame % 10 === 1) return tell(now, about);
      const inTheEnd = () => {{ this.cancelVideoFrameCallback(next); tell(now, about); }};
      this.addEventListener("pause", inTheEnd, {{ once: true }});
      const next = ask.call(this, (...later) => {{ this.removeEventListener("pause", inTheEnd); hear(...later); }});
    }};
    return ask.call(this, hear);
  }};
}})()"""
# Paused, arrived, and what is in sight has been told to the page: two pictures of the page later.
STANDS_STILL = """async () => {
  const media = document.querySelector("[data-media]");
  for (let picture = 0; picture < 3; picture += 1) await new Promise((go) => requestAnimationFrame(go));
  return media.paused && !media.seeking;
}"""


@pytest.fixture
def rae(live_server: LiveServer) -> User:
    return make.user("rae@example.test", Role.EVAL_TEAM, name="Rae")


@pytest.fixture
def result(tess: User, script: Script, build: Build) -> Result:
    """A result of a call with three moments, one of them without words."""
    call = make.call(tess, script, build=build, ended_at_ms=42_000)
    for number, (at_ms, words) in enumerate(zip(MOMENTS_MS, ("She cut me off", "", "Long silence"), strict=True), 1):
        call.moments.create(uuid=uuid.uuid4(), number=number, at_ms=at_ms, words=words)
    about = {"queued_for": QueuedFor.VERY_LOW, "problems": ("too_long", "cut_in")}
    return make.result(tess, script, build, call_uuid=call.uuid, **about)


def recorded(result: Result, kind: str = "webm", seconds: float = 12.0, **fields: Any) -> Recording:
    return playable(result.tester, result.call_uuid, kind, seconds, **fields)


def open_at(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.get_by_role("slider", name="Place in the recording")).to_be_visible()
    page.wait_for_function("() => document.querySelector('[data-media]').readyState >= 2")


def place(page: Page) -> float:
    """Where it is, in seconds, once it has got there."""
    page.wait_for_function("() => !document.querySelector('[data-media]').seeking")
    found: float = page.evaluate(AT)
    return found


def is_playing(page: Page) -> bool:
    found: bool = page.evaluate("!document.querySelector('[data-media]').paused")
    return found


# --- a jump lands --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["webm", "late.mp4", "vbr.mp3", "m4a"])
def test_a_jump_to_a_moment_lands_where_it_was_marked(
    open_page: OpenPage, tess: User, result: Result, kind: str
) -> None:
    recording = recorded(result, kind, CALL_S)
    assert recording.media_type in {"video/webm", "video/mp4", "audio/mp4"}
    page = open_page(tess)
    open_at(page, recording.get_absolute_url())
    for at_ms in MOMENTS_MS[:0:-1]:
        page.locator(f"a[data-kind=moment][data-at='{at_ms}']").click()
        assert place(page) * 1000 == pytest.approx(at_ms, abs=LANDS_WITHIN_MS)
        if recording.has_video:
            assert page.evaluate(FRAME_IN_SIGHT) == pytest.approx(at_ms, abs=LANDS_WITHIN_MS)
        side, heard_at_ms = page.evaluate(NEXT_BEEP)
        assert side == (0 if (at_ms + 400) % 4000 == LEFT_BEEPS_MS else 1)
        assert heard_at_ms == pytest.approx(at_ms + 400, abs=LANDS_WITHIN_MS)


def test_a_link_to_a_moment_begins_there(open_page: OpenPage, tess: User, result: Result) -> None:
    recorded(result, "mp4")
    page = open_page(tess)
    open_at(page, f"{result.get_absolute_url()}?t=0:09.5")
    assert place(page) == pytest.approx(9.5, abs=0.02)
    assert page.evaluate(FRAME_IN_SIGHT) == pytest.approx(9500, abs=LANDS_WITHIN_MS)
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", "9 seconds of 12 seconds")
    page.get_by_role("button", name="Copy link to this moment").click()
    expect(page.locator("[data-share-field]")).to_have_value(re.compile(rf"/results/{result.pk}/\?t=9\.5$"))


def test_beside_a_review_a_link_begins_there_too(open_page: OpenPage, rae: User, tess: User, result: Result) -> None:
    recorded(result, "mp4")
    begin_review(rae, result, timezone.now())
    page = open_page(rae)
    open_at(page, f"/review/{result.pk}/?t=3")
    assert place(page) == pytest.approx(3, abs=0.02)
    for key, at in {"l": 12.0, "j": 2.0}.items():
        page.keyboard.press(key)
        assert place(page) == pytest.approx(at, abs=0.1)
    page.keyboard.press("a")
    expect(page.locator("#judged-right")).to_be_checked()
    expect(page.locator("[data-compared]")).to_have_text("The same as the tester’s.")
    page.keyboard.press("x")
    page.wait_for_url("**/review/")


# --- keys and what they are beside ----------------------------------------------------------------


def test_the_keys_move_as_the_list_says(open_page: OpenPage, tess: User, result: Result) -> None:
    page = open_page(tess)
    open_at(page, recorded(result, "mp4", CALL_S).get_absolute_url())
    steps = [("m", 4.6), ("m", 30.6), ("m", 36.6), ("M", 30.6), ("j", 20.6), ("l", 30.6)]
    for key, at in steps:
        page.keyboard.press(key)
        assert place(page) == pytest.approx(at, abs=0.02), key
    page.keyboard.press(">")
    page.keyboard.press(">")
    assert page.evaluate("document.querySelector('[data-media]').playbackRate") == 1.5
    for key in ("Space", "k"):
        page.keyboard.press(key)
        page.wait_for_function(f"() => document.querySelector('[data-media]').paused === {str(key == 'k').lower()}")
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_contain_text("next moment, the one before")
    page.get_by_label("Use single keys").uncheck()
    page.keyboard.press("Escape")
    was = place(page)
    page.keyboard.press("j")
    assert place(page) == was


def test_a_step_is_one_frame_though_most_were_left_out(open_page: OpenPage, tess: User, result: Result) -> None:
    page = open_page(tess)
    page.add_init_script(LEAVES_FRAMES_OUT)
    open_at(page, f"{recorded(result, 'mp4', CALL_S).get_absolute_url()}?t=20.41")
    page.keyboard.press("k")
    page.wait_for_function(f"() => {AT} > 22")
    page.keyboard.press("k")
    page.wait_for_function(STANDS_STILL)
    before = page.evaluate(FRAME_IN_SIGHT)
    frame_ms = 1000 / FRAMES_A_S
    for keys, frames in ((".", 1), (",", 0), (",", -1), ("....", 3), (",.", 3)):
        for key in keys:
            page.keyboard.press(key)
        is_there = f"(at) => !document.querySelector('[data-media]').seeking && ({FRAME_IN_SIGHT})() === at"
        page.wait_for_function(is_there, arg=before + frames * frame_ms)
        page.wait_for_function(STANDS_STILL)


def test_everything_is_reached_and_told_by_keyboard_alone(open_page: OpenPage, tess: User, result: Result) -> None:
    recording = recorded(result, "m4a", CALL_S)
    note_on_recording(tess, recording, 20_000, "She sounds tired")
    page = open_page(tess)
    open_at(page, recording.get_absolute_url())
    slider = page.get_by_role("slider")
    slider.focus()
    for key, at in {"ArrowRight": 5, "PageUp": 35, "Home": 0, "End": 42}.items():
        slider.press(key)
        assert place(page) == pytest.approx(at, abs=0.1)
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^42 seconds of 42 seconds$"))
    page.keyboard.press("Shift+Tab")
    names = []
    for _ in range(4):
        names.append(page.evaluate("document.activeElement.getAttribute('aria-label')"))
        page.keyboard.press("ArrowRight")
    assert names == [
        "Moment at 0:04: She cut me off",
        "Note at 0:20: She sounds tired",
        "Moment at 0:30: Moment",
        "Moment at 0:36: Long silence",
    ]
    expect(page.locator("[data-tip]")).to_have_text("0:36 Long silence")
    page.keyboard.press("Enter")
    assert place(page) == pytest.approx(36.6, abs=0.02)


def test_one_minute_of_a_long_call_is_shown_and_goes_along(open_page: OpenPage, tess: User, result: Result) -> None:
    recording = recorded(result, "m4a", 150.0)
    note_on_recording(tess, recording, 100_000, "Late")
    page = open_page(tess)
    open_at(page, f"{recording.get_absolute_url()}?t=36.6")
    ends = page.locator("[data-view-from], [data-view-to]")
    expect(ends).to_have_text(["0:00", "2:30"])
    expect(page.locator(".point")).to_have_count(4)
    page.keyboard.press("z")
    expect(ends).to_have_text(["0:06", "1:06"])
    expect(page.locator(".point")).to_have_count(2)
    box = page.get_by_role("slider").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 20)
    assert place(page) == pytest.approx(36.6, abs=0.2)
    page.keyboard.press("End")
    expect(ends).to_have_text(["1:30", "2:30"])
    expect(page.locator(".point-note")).to_have_count(1)
    page.get_by_role("button", name="Show all of it").click()
    expect(ends).to_have_text(["0:00", "2:30"])


# --- what is added while listening ------------------------------------------------------------------


def test_a_note_is_written_while_it_plays_and_withdrawn(open_page: OpenPage, tess: User, result: Result) -> None:
    page = open_page(tess)
    open_at(page, f"{recorded(result, 'mp4', CALL_S).get_absolute_url()}?t=20.4")
    page.keyboard.press("k")
    page.keyboard.press("n")
    page.keyboard.type("jk mumbles here")
    page.keyboard.press("Enter")
    note = page.locator("#notes li", has_text="jk mumbles here")
    expect(note).to_contain_text("0:20")
    expect(note).to_contain_text("Tess")
    assert is_playing(page)
    expect(page.locator(".point-note")).to_have_count(1)
    expect(page.locator("[data-note-words]")).to_have_value("")
    page.locator("[data-note-at]").fill("0:10")
    page.locator("[data-note-words]").fill("At a place that was typed")
    page.keyboard.press("Enter")
    expect(page.locator("#notes li", has_text="At a place that was typed")).to_contain_text("0:10")
    note.get_by_role("button", name="Withdraw your note at 0:20").click()
    expect(page.locator(".point-note")).to_have_count(1)
    assert RecordingNote.objects.get(at_ms=10_000).words == "At a place that was typed"
    assert RecordingNote.objects.exclude(at_ms=10_000).get().words == ""


def test_one_moment_is_put_in_its_place_and_all_are(open_page: OpenPage, tess: User, result: Result) -> None:
    recording = recorded(result, "mp4", CALL_S)
    page = open_page(tess)
    open_at(page, f"{recording.get_absolute_url()}?t=6.1")
    page.get_by_text("Moments too early or too late?").click()
    page.get_by_role("button", name="Move them").click()
    expect(page.locator("a[data-kind=moment]").first).to_have_attribute("data-at", "6100")
    page.get_by_role("button", name="0.1 s earlier").click()
    expect(page.locator("a[data-kind=moment]").last).to_have_attribute("data-at", "38000")
    expect(page.locator(".point-moment").first).to_have_attribute("data-at", "6000")
    recording.refresh_from_db()
    assert recording.offset_ms == 1400


def test_the_transcript_follows(open_page: OpenPage, tess: User, result: Result) -> None:
    recording = recorded(result, "mp4")
    keep_captions(tess, recording, TRANSCRIPT.encode())
    page = open_page(tess)
    open_at(page, recording.get_absolute_url())
    line = page.locator("[data-transcript] a", has_text="Emma: I am so sorry.")
    line.click()
    assert place(page) == pytest.approx(3, abs=0.02)
    expect(line).to_have_attribute("aria-current", "true")
    page.get_by_role("button", name="Captions").click()
    expect(page.get_by_role("button", name="Captions")).to_have_attribute("aria-pressed", "true")


# --- links that are over -------------------------------------------------------------------------------


def test_after_an_hours_pause_it_goes_on_where_it_stood(
    open_page: OpenPage, tess: User, result: Result, settings: Any
) -> None:
    settings.LINKS_HOLD_S = 4  # long enough for the page to load from a busy machine
    page = open_page(tess)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/links/") else None)
    open_at(page, f"{recorded(result, 'mp4', CALL_S).get_absolute_url()}?t=30")
    first = page.locator("[data-media]").get_attribute("src")
    page.locator("[data-speed]").select_option("0.5")
    page.wait_for_timeout(4100)
    assert asked == []
    settings.LINKS_HOLD_S = 900
    page.keyboard.press("k")
    page.wait_for_function(f"() => {AT} > 30.1")
    assert 30 < page.evaluate(AT) < 34
    assert page.evaluate("document.querySelector('[data-media]').playbackRate") == 0.5
    assert page.locator("[data-media]").get_attribute("src") != first
    assert page.locator("audio, video").count() == 1
    page.keyboard.press("j")
    assert place(page) == pytest.approx(20.5, abs=2)
    assert is_playing(page)
    assert len(asked) == 1
    assert Watch.objects.count() == 1


def test_a_link_that_is_refused_in_the_middle_is_renewed(open_page: OpenPage, tess: User, result: Result) -> None:
    """The refusal is made up: until another link is asked for, the beginning of the file is given, and nothing more."""
    recording = recorded(result, "webm", CALL_S)
    content = made_of("webm", CALL_S).path.read_bytes()
    given = len(content) // 3
    page = open_page(tess)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/links/") else None)

    def answer(route: Route) -> None:
        begin = int(re.match(r"bytes=(\d+)", route.request.headers.get("range", "bytes=0-"))[1])  # type: ignore[index]
        if asked:
            route.continue_()
        elif begin == 0:
            about = {"Content-Range": f"bytes 0-{given - 1}/{len(content)}", "Content-Type": "video/webm"}
            route.fulfill(status=206, headers={**about, "Accept-Ranges": "bytes"}, body=content[:given])
        else:
            route.fulfill(status=403, body="over")

    page.route(re.compile("/kept/.*"), lambda route: answer(route) if is_media(route) else route.continue_())
    page.goto(recording.get_absolute_url())
    page.wait_for_function("() => document.querySelector('[data-media]').readyState >= 1")
    page.locator("a[data-kind=moment]").last.click()
    page.wait_for_function("() => document.querySelector('[data-media]').readyState >= 2")
    assert place(page) == pytest.approx(36.6, abs=0.05)
    assert len(asked) == 1


def is_media(route: Route) -> bool:
    return route.request.resource_type == "media" and "range" in route.request.headers


def test_what_can_not_be_reached_is_told_and_tried_again(
    open_page: OpenPage, tess: User, result: Result, settings: Any
) -> None:
    """The site is made to fail: a real one that is down answers as little."""
    settings.LINKS_HOLD_S = 1
    page = open_page(tess)
    open_at(page, recorded(result, "mp4").get_absolute_url())
    page.wait_for_timeout(1200)
    page.route("**/links/", lambda route: route.fulfill(status=503))
    page.keyboard.press("k")
    expect(page.locator("[data-player-says]")).to_contain_text("Press play to try again.")
    page.unroute("**/links/")
    settings.LINKS_HOLD_S = 900
    page.get_by_role("button", name="Play").click()
    page.wait_for_function(f"() => {AT} > 0.2")


# --- without scripts, from a bucket, in every state -----------------------------------------------------


def test_without_javascript_it_plays_by_the_browsers_own_controls(
    open_page: OpenPage, tess: User, result: Result
) -> None:
    recording = recorded(result, "mp4", CALL_S)
    page = open_page(tess, java_script_enabled=False)
    page.goto(recording.get_absolute_url())
    page.locator("#moment-2 a").click()
    media = page.locator("video[controls]")
    assert media.get_attribute("src").endswith("#t=30.6")
    page.get_by_label("At", exact=True).fill("0:30.6")
    page.get_by_label("A note").fill("By hand")
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.locator("#notes")).to_contain_text("By hand")
    page.get_by_text("Moments too early or too late?").click()
    page.get_by_label("is at").fill("0:05.6")
    page.get_by_role("button", name="Move them").click()
    expect(page.locator("#moment-1 a")).to_have_attribute("data-at", "5600")


def test_it_plays_from_a_bucket(open_page: OpenPage, tess: User, result: Result, s3: S3Server, settings: Any) -> None:
    use_bucket(settings, s3, s3.shared_bucket)
    let_pages_reach(settings, s3)
    recording = recorded(result, "webm", CALL_S)
    keep_captions(tess, recording, TRANSCRIPT.encode())
    page = open_page(tess)
    open_at(page, recording.get_absolute_url())
    assert page.locator("[data-media]").get_attribute("src").startswith(s3.endpoint)
    page.locator("a[data-kind=moment]").last.click()
    assert place(page) == pytest.approx(36.6, abs=LANDS_WITHIN_MS / 1000)
    assert page.evaluate(FRAME_IN_SIGHT) == pytest.approx(36_600, abs=LANDS_WITHIN_MS)
    expect(page.locator("[data-wave] path")).to_have_count(2)
    expect(page.locator("[data-transcript] li")).to_have_count(3)


EVENTS = [
    ("reply", "emma", 1100, 1900, "end of the tester’s speech", "beginning of Emma’s speech"),
    ("silence", "emma", 5000, 9000, "end of the tester’s speech", "beginning of Emma’s speech"),
    ("overlap", "tester", 9500, 9900, "beginning of the tester’s speech", "end of Emma’s speech"),
]


def measured(recording: Recording) -> None:
    named = ("kind", "who", "from_ms", "to_ms", "from", "to")
    CallFigures.objects.create(
        recording=recording,
        edition=1,
        measured_at=timezone.now(),
        events=[
            {**dict(zip(named, event, strict=True)), "value_ms": event[3] - event[2], "yielded": None}
            for event in EVENTS
        ],
        turn_count=23,
        latency_median_ms=640,
        latency_p95_ms=2140,
        silence_count=1,
        silence_ms=4000,
        overlap_count=1,
        yield_count=1,
        yield_median_ms=400,
        emma_share=0.57,
        longest_monologue_ms=6200,
    )


@pytest.fixture
def full(tess: User, rae: User, result: Result) -> Recording:
    """A recording with everything that there can be on one."""
    gap = [{"file_ms": 0, "call_ms": 0, "lasts_ms": 6000}, {"file_ms": 6000, "call_ms": 9000, "lasts_ms": 6000}]
    found = recorded(result, "mp4", segments=gap)
    note_on_recording(tess, found, 3_000, "A note")
    keep_captions(tess, found, TRANSCRIPT.encode())
    measured(found)
    begin_review(rae, result, timezone.now())
    return found


def test_axe_finds_nothing_on_the_player(open_page: OpenPage, rae: User, full: Recording, result: Result) -> None:
    narrow = open_page(rae, width=360, has_touch=True)
    narrow.goto(full.get_absolute_url())
    for fold in narrow.locator(".player details summary").all():
        fold.click()
    assert faults_of(narrow) == []
    expect(narrow.locator("[data-events] rect")).to_have_count(3)
    expect(narrow.locator(".cut")).to_have_count(2)
    chosen = narrow.locator("[data-align-moment]").bounding_box()
    assert chosen is not None
    assert chosen["width"] > 150
    wide = open_page(rae, dark=True)
    wide.goto(f"/review/{result.pk}/")
    assert faults_of(wide) == []


def test_axe_finds_nothing_in_any_other_state(open_page: OpenPage, tess: User, full: Recording, result: Result) -> None:
    page = open_page(tess, width=360, has_touch=True)
    Recording.objects.update(has_video=False, sides="mixed", sides_because="Both are heard alike in both channels.")
    for state in ("ready", "working", "failed", "removed"):
        nothing = {"key": "", "peaks_key": "", "thumbnail_key": "", "captions_key": "", "removed_at": timezone.now()}
        more = nothing if state == RecordingState.REMOVED else {"fault": "The file ends too early."}
        Recording.objects.update(state=state, **more)
        page.goto(result.get_absolute_url())
        assert faults_of(page, "#recording") == [], state


def test_what_is_made_ready_shows_by_itself(open_page: OpenPage, tess: User, result: Result) -> None:
    """On its own page at once; beside a result, where something may be typed, by a link. Hours are moved by hand."""
    recording = recorded(result, "m4a", state=RecordingState.WORKING)
    page = open_page(tess)
    page.clock.install()
    for path in (result.get_absolute_url(), recording.get_absolute_url()):
        Recording.objects.filter(pk=recording.pk).update(state=RecordingState.WORKING)
        page.goto(path)
        expect(page.get_by_text("The recording is being made ready.")).to_be_visible()
        Recording.objects.filter(pk=recording.pk).update(state=RecordingState.READY)
        page.clock.fast_forward(5_100)
        if path != recording.get_absolute_url():
            page.get_by_role("link", name="Show it").click()
        expect(page.get_by_role("slider")).to_be_visible()


def faults_of(page: Page, within: str = "html") -> list[Any]:
    found = Axe().run(page, context=within, options=WCAG).response["violations"]
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    return [(each["id"], each["nodes"][0]["html"][:160]) for each in found]
