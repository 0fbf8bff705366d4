"""The hand on the live-call page, for the tests of it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import uuid
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from results.live_call.begin_call import begin_call
from results.models import Call
from scripts_catalog.models import Script
from tests.conftest import CHROMIUM_ARGS, sign_in

RATED = ("listening_timing", "content", "voice_audio", "face_video", "emotional_fit")


def new_call(tester: User, script: Script) -> Call:
    return begin_call(tester, uuid.uuid4(), script)


def go_to(page: Page, call: Call) -> None:
    page.goto(call.get_absolute_url())
    expect(page.locator("[data-unscripted]")).to_have_count(0)


def begin(page: Page) -> None:
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("[data-mark]")).to_be_visible()
    rest(page)


def rest(page: Page) -> None:
    """The page takes no press for an instant after one that changed what is under the finger."""
    page.wait_for_timeout(450)


def mark(page: Page, words: str = "") -> None:
    page.locator("[data-mark]").click()
    if words:
        page.locator("#words").fill(words)
        page.locator("#words").press("Enter")


def standing(page: Page, words: str) -> None:
    expect(page.locator("[data-standing-line]:visible")).to_contain_text(words, timeout=15_000)


def moments_are(page: Page, *states: str) -> None:
    """The states of the moments in the list, newest first."""
    expect(page.locator("[data-moments] [data-standing]")).to_have_text(list(states), timeout=15_000)


def home(chromium: Browser, folder: Path, user: User, live_server: LiveServer) -> BrowserContext:
    """A browser whose memory is in a folder, so that it survives the browser."""
    context = chromium.browser_type.launch_persistent_context(
        str(folder), executable_path=shutil.which("chromium"), args=CHROMIUM_ARGS, base_url=live_server.url
    )
    sign_in(context, user, live_server.url)
    return context


def kill(folder: Path) -> None:
    """End every process of the browser that lives in this folder, as a dead battery would."""
    found = 0
    for each in Path("/proc").iterdir():
        if not each.name.isdecimal():
            continue
        try:
            command = (each / "cmdline").read_bytes()
        except OSError:
            continue
        if f"--user-data-dir={folder}".encode() in command.split(b"\0"):
            os.kill(int(each.name), signal.SIGKILL)
            found += 1
    assert found


def file_the_result(page: Page) -> None:
    """On the results form: rate, and file."""
    page.wait_for_url(re.compile("/drafts/|/results/new/"))
    for key in RATED:
        page.locator(f"#{key}-3").click()
    page.locator("#met_emma_before-no").click()
    page.get_by_role("button", name="File the result").click()
    page.wait_for_url(re.compile(r"/results/\d+/$"))
