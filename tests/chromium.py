"""How tests and benchmark start Debian's Chromium."""

import os
from pathlib import Path

from playwright._impl._driver import compute_driver_executable

# Both V8s, of Playwright's node and of Chromium, sweep on one thread: see node_of_playwright.
_SWEEPS_ALONE = "--js-flags=--single-threaded-gc"
if "NODE_OF_PLAYWRIGHT" not in os.environ:
    os.environ["NODE_OF_PLAYWRIGHT"] = compute_driver_executable()[0]
    os.environ["PLAYWRIGHT_NODEJS_PATH"] = str(Path(__file__).with_name("node_of_playwright"))

# Quiet and at home; --no-sandbox because both may run as root.
CHROMIUM_ARGS = [
    _SWEEPS_ALONE,
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
