"""The hand on the live-call page, for the tests of it."""

from __future__ import annotations

import re
import uuid

from playwright.sync_api import Page, expect

from emma_eval.accounts.models import User
from results.live_call.begin_call import begin_call
from results.models import Call
from scripts_catalog.models import Script

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


def file_the_result(page: Page) -> None:
    """On the results form: rate, and file."""
    page.wait_for_url(re.compile("/drafts/|/results/new/"))
    for key in RATED:
        page.locator(f"#{key}-3").click()
    page.locator("#met_emma_before-no").click()
    page.get_by_role("button", name="File the result").click()
    page.wait_for_url(re.compile(r"/results/\d+/$"))
