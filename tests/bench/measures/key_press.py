"""From a press of a key on the results form to the rating on the screen, as Chromium's Event Timing tells it: from
the time of the press to the frame that shows what it did, in steps of 8 ms. It tells of nothing below 16 ms; such a
press counts as 16. Thirty presses, each of which must have rated."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice
from statistics import median

from playwright.sync_api import Page

from ..browser import chromium, fresh_context
from ..figures import Figure, at_most
from ..server import WrongAnswerError
from ..stage import Stage

PLACE, TITLE = 8, "Key press to painted rating"
MOST_MS, PRESSES = 50, 30
SHORTEST_MS = 16
BEFORE_THE_NEXT_MS = 150
DIMENSIONS = ("listening_timing", "content", "voice_audio", "face_video", "emotional_fit")
WATCH = """() => {
  window.presses = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.name === "keydown") window.presses.push(entry.duration);
  }).observe({ type: "event", durationThreshold: 16, buffered: false });
}"""


def measure(stage: Stage) -> Iterator[Figure]:
    with chromium() as browser:
        context = fresh_context(browser, stage.ours, stage.facts["session"])
        page = context.new_page()
        page.goto(f"/results/new/?script={stage.facts['script']}", wait_until="networkidle")
        page.evaluate(WATCH)
        waited = sorted(_press(page, dimension, key) for dimension, key in islice(_presses(), PRESSES))
        context.close()
    stage.house.ask("measures.filing", "forget_what_was_filed")
    yield at_most("key press to painted rating, median", median(waited), MOST_MS, "ms")
    yield at_most("key press to painted rating, p95", waited[-(-len(waited) * 95 // 100) - 1], MOST_MS, "ms")


def _presses() -> Iterator[tuple[str, str]]:
    return zip(cycle(DIMENSIONS), cycle("2413"), strict=False)


def _press(page: Page, dimension: str, key: str) -> float:
    """Press a key in a dimension and say how long its rating took to be seen, in ms."""
    page.focus(f"#{dimension}-1")
    page.wait_for_timeout(BEFORE_THE_NEXT_MS)
    page.evaluate("window.presses.length = 0")
    page.keyboard.press(key)
    page.wait_for_timeout(BEFORE_THE_NEXT_MS)
    if not page.is_checked(f"#{dimension}-{key}"):
        raise WrongAnswerError(f"{key} did not rate {dimension}")
    found: list[float] = page.evaluate("window.presses")
    return max(found, default=SHORTEST_MS)
