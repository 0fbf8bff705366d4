"""Chromium, as the measures of the browser use it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.chromium import CHROMIUM_ARGS

from .server import Server


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_ARGS)
        yield browser
        browser.close()


def fresh_context(browser: Browser, server: Server, session: str = "") -> BrowserContext:
    """A browser that has seen nothing yet, signed in or not."""
    context = browser.new_context(base_url=server.address, viewport={"width": 1280, "height": 800})
    if session:
        context.add_cookies([{"name": "session", "value": session, "url": server.address}])
    return context
