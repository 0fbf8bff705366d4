"""On what a call was held, as far as the browser tells."""

from __future__ import annotations

import pytest

from results.live_call.describe_machine import Machine, describe_machine
from results.live_call.telling import ToldMachine
from results.models import Browser
from results.models.call import family_of

KHTML = "AppleWebKit/537.36 (KHTML, like Gecko)"
WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)"
WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)"
MAC = f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {WEBKIT} Version/17.4 Safari/605.1.15"

CASES = {
    "Chrome on a phone": (
        f"Mozilla/5.0 (Linux; Android 14; Pixel 8) {KHTML} Chrome/126.0.0.0 Mobile Safari/537.36",
        ToldMachine("Android", mobile=True),
        ("Chrome Mobile", "126", "Android 14", "phone", "Chrome"),
    ),
    "a Chrome that says no more than it must": (
        f"Mozilla/5.0 (Linux; Android 10; K) {KHTML} Chrome/126.0.0.0 Mobile Safari/537.36",
        ToldMachine(),
        ("Chrome Mobile", "126", "Android", "phone", "Chrome"),
    ),
    "Samsung's browser on a tablet": (
        f"Mozilla/5.0 (Linux; Android 13; SM-X700) {KHTML} SamsungBrowser/25.0 Chrome/121.0.0.0 Safari/537.36",
        ToldMachine(),
        ("Samsung Internet", "25", "Android 13", "tablet", "Samsung Internet"),
    ),
    "a tablet that asks for the pages of computers": (
        f"Mozilla/5.0 (X11; Linux x86_64) {KHTML} Chrome/126.0.0.0 Safari/537.36",
        ToldMachine("Android", touch_points=5),
        ("Chrome", "126", "Linux", "tablet", "Chrome"),
    ),
    "Firefox on Windows": (
        f"{WINDOWS[:-1]}; rv:127.0) Gecko/20100101 Firefox/127.0",
        ToldMachine("Win32", touch_points=10),
        ("Firefox", "127", "Windows 10 or later", "computer", "Firefox"),
    ),
    "Edge": (
        f"{WINDOWS} {KHTML} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0",
        ToldMachine("Windows"),
        ("Edge", "126", "Windows 10 or later", "computer", "Edge"),
    ),
    "Opera": (
        f"{WINDOWS} {KHTML} Chrome/126.0.0.0 Safari/537.36 OPR/111.0.0.0",
        ToldMachine("Windows"),
        ("Opera", "111", "Windows 10 or later", "computer", "Opera"),
    ),
    "Safari on a Mac": (MAC, ToldMachine("MacIntel"), ("Safari", "17.4", "macOS", "computer", "Safari")),
    "an iPad that claims to be a Mac": (
        MAC,
        ToldMachine("MacIntel", touch_points=5),
        ("Safari", "17.4", "iPadOS", "tablet", "Safari"),
    ),
    "Safari on an iPhone": (
        f"{IPHONE} {WEBKIT} Version/17.5 Mobile/15E148 Safari/604.1",
        ToldMachine("iPhone", touch_points=5),
        ("Mobile Safari", "17.5", "iOS 17", "phone", "Safari"),
    ),
    "Chrome on an iPhone": (
        f"{IPHONE} {WEBKIT} CriOS/126.0.6478.54 Mobile/15E148 Safari/604.1",
        ToldMachine("iPhone"),
        ("Chrome Mobile iOS", "126", "iOS 17", "phone", "Chrome"),
    ),
    "a Chromebook": (
        f"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) {KHTML} Chrome/126.0.0.0 Safari/537.36",
        ToldMachine("Chrome OS"),
        ("Chrome", "126", "ChromeOS", "computer", "Chrome"),
    ),
    "something else": ("curl/8.5", ToldMachine(), ("curl", "8.5", "", "", "Other")),
    "nothing": ("", ToldMachine(), ("", "", "", "", "")),
}


@pytest.mark.parametrize("name", CASES)
def test_a_browser_is_told_by_its_name_and_its_hints(name: str) -> None:
    user_agent, told, (browser, version, system, device, family) = CASES[name]
    assert describe_machine(user_agent, told) == Machine(browser, version, system, device)
    assert family_of(browser) == family


@pytest.mark.parametrize(
    ("kind", "speed", "connection"),
    [
        ("wifi", "4g", "wifi"),
        ("ethernet", "", "ethernet"),
        ("cellular", "3g", "cellular"),
        ("bluetooth", "", "other"),
        ("", "4g", "4g"),
        ("unknown", "3g", "3g"),
        ("", "slow-2g", "2g"),
        ("none", "", ""),
        ("", "", ""),
        ("what", "ever", ""),
    ],
)
def test_the_connection_is_its_kind_or_else_its_speed(kind: str, speed: str, connection: str) -> None:
    told = ToldMachine(connection_type=kind, effective_type=speed)
    assert describe_machine("", told).connection == connection


def test_every_family_is_one_that_the_list_can_be_filtered_by() -> None:
    names = [
        "Chrome Mobile WebView",
        "Chromium",
        "HeadlessChrome",
        "Edge Mobile",
        "Firefox iOS",
        "Opera Mobile",
        "Vivaldi",
    ]
    assert [family_of(name) for name in names] == ["Chrome", "Chrome", "Chrome", "Edge", "Firefox", "Opera", "Other"]
    assert set(map(family_of, names)) <= set(Browser.values)


def test_a_name_of_any_length_fits_its_columns() -> None:
    found = describe_machine("X" * 500 + "/1." + "2" * 300, ToldMachine(platform="y" * 100))
    assert len(found.browser) <= 40
    assert len(found.browser_version) <= 20
