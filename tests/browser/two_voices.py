"""A browser with two voices to record: a microphone that hears one tone, and a tab, Emma's, that plays another.

And the hand on the recorder.
"""

from __future__ import annotations

import math
import shutil
import struct
import time
import wave
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from tests.chromium import CHROMIUM_ARGS
from tests.conftest import sign_in

TESTER_HZ, EMMA_HZ = 440, 1000
RATE = 48_000
TITLE = "Emma on the line"
# A picture that changes, and a tone: both by the page's own script, so that nothing has to be decoded.
EMMA_PAGE = f"""<!doctype html><title>{TITLE}</title><canvas width="320" height="180"></canvas><script>
const draw = document.querySelector("canvas").getContext("2d");
const paint = (hue) => {{ draw.fillStyle = `hsl(${{hue}} 80% 50%)`; draw.fillRect(0, 0, 320, 180); }};
setInterval(() => paint(performance.now() / 10 % 360), 50);
const sound = new AudioContext(); const tone = new OscillatorNode(sound, {{ frequency: {EMMA_HZ} }});
const level = new GainNode(sound, {{ gain: 0.3 }}); tone.connect(level).connect(sound.destination); tone.start();
</script>"""


def browser_with_voices(
    chromium: Browser, folder: Path, user: User, live_server: LiveServer, *, has_microphone: bool = True
) -> BrowserContext:
    """A browser whose memory is in a folder; its microphone hears a tone, and Emma's tab is what it shares."""
    voice = folder.parent / "tester.wav"
    if not voice.exists():
        write_tone(voice, TESTER_HZ)
    args = [
        *CHROMIUM_ARGS,
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={voice}",
        f"--auto-select-tab-capture-source-by-title={TITLE}",
        "--autoplay-policy=no-user-gesture-required",
    ]
    if has_microphone:
        args.append("--auto-accept-camera-and-microphone-capture")
    context = chromium.browser_type.launch_persistent_context(
        str(folder),
        executable_path=shutil.which("chromium"),
        args=args,
        base_url=live_server.url,
        ignore_default_args=["--mute-audio"],  # a tab that is muted is recorded as silence
    )
    context.route("**/emma-on-the-line", _emma)
    sign_in(context, user, live_server.url)
    return context


def _emma(route: Route) -> None:
    route.fulfill(status=200, content_type="text/html", body=EMMA_PAGE)


def call_emma(context: BrowserContext, live_server: LiveServer) -> Page:
    """Her tab, in which she speaks all the time."""
    emma = context.new_page()
    emma.goto(f"{live_server.url}/emma-on-the-line")
    return emma


def write_tone(path: Path, hz: int, lasts_s: int = 2) -> None:
    samples = [round(9_000 * math.sin(2 * math.pi * hz * at / RATE)) for at in range(RATE * lasts_s)]
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))


def agree(page: Page) -> None:
    page.get_by_role("button", name="Record this call").click()
    page.get_by_label("I agree to being recorded").check()
    page.get_by_role("button", name="Choose what to share").click()


def is_recording(page: Page) -> None:
    expect(page.locator("[data-recorder]")).to_have_attribute("data-recorder", "on", timeout=15_000)


def recorded(page: Page, seconds: int) -> None:
    """Wait until it has run so long."""
    page.wait_for_function(
        """seconds => {
          const [minutes, rest] = document.querySelector("[data-rec-time]").textContent.split(":").map(Number);
          return minutes * 60 + rest >= seconds;
        }""",
        arg=seconds,
        timeout=30_000,
    )


def lasted_s(page: Page) -> float:
    """How long it was recorded, as its page counts."""
    ms: str | None = page.locator("[data-rec-time]").first.get_attribute("data-ms")
    return int(ms or 0) / 1000


def eventually(holds: Callable[[], bool], within_s: float = 10) -> None:
    until = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def unsent(page: Page) -> int:
    count: int = page.evaluate("""async () => {
      const [key] = await keptRecordings.keys();
      return key ? (await keptRecordings.left(key)).count : 0;
    }""")
    return count
