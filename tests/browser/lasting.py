"""A browser whose memory outlives it: closed, or killed as by a dead battery, and opened again."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from tests.chromium import CHROMIUM_ARGS
from tests.conftest import sign_in


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
