"""Say on what a call was held: from the browser's own name for itself and what else it tells, never from a guess."""

from __future__ import annotations

from dataclasses import dataclass

from ..models import Connection, Device
from .telling import ToldMachine

_KINDS = {"wifi": Connection.WIFI, "ethernet": Connection.CABLE, "cellular": Connection.MOBILE}
_OTHER_KINDS = frozenset({"bluetooth", "wimax", "other", "mixed"})
_SPEEDS = {"4g": Connection.FAST, "3g": Connection.SLOWER, "2g": Connection.SLOW, "slow-2g": Connection.SLOW}
_SYSTEMS = {"Mac OS X": "macOS", "Chrome OS": "ChromeOS"}
_SAY_ONE_VERSION_FOR_EVER = frozenset({"macOS", "ChromeOS", "Linux"})
_COMPUTERS = frozenset({"Windows", "macOS", "ChromeOS", "Linux", "Ubuntu", "Fedora", "Debian"})


@dataclass(frozen=True)
class Machine:
    """Browser, system, device and connection in the words of this site; empty where nothing is told."""

    browser: str = ""
    browser_version: str = ""
    system: str = ""
    device: str = ""
    connection: str = ""


def describe_machine(user_agent: str, told: ToldMachine) -> Machine:
    """What the browser's name and its hints say together."""
    from ua_parser import parse  # its thousand patterns are read when the first call is held, not at the start

    found = parse(user_agent)
    family = found.user_agent.family if found.user_agent else ""
    version = _version(found.user_agent.major, found.user_agent.minor) if found.user_agent else ""
    system, number = (_SYSTEMS.get(found.os.family, found.os.family), found.os.major or "") if found.os else ("", "")
    if system == "macOS" and told.touch_points > 1:
        system = (
            "iPadOS"  # asks for the pages made for computers, and so says that it is a Mac; no Mac has a touchscreen
        )
    return Machine(
        browser=family[:40],
        browser_version=version[:20],
        system=_named(system, number, user_agent)[:40],
        device=_device(system, user_agent, told),
        connection=_connection(told),
    )


def _version(major: str | None, minor: str | None) -> str:
    return f"{major or ''}.{minor}" if minor and minor != "0" else major or ""


def _named(system: str, number: str, user_agent: str) -> str:
    """With its version, where browsers tell the real one: they call every newer Windows 10, and most Androids too."""
    if system == "Windows" and number == "10":
        return "Windows 10 or later"
    if system == "Android" and "Android 10; K)" in user_agent:
        return system
    return system if system in _SAY_ONE_VERSION_FOR_EVER or not number or system == "iPadOS" else f"{system} {number}"


def _device(system: str, user_agent: str, told: ToldMachine) -> str:
    is_android = "Android" in system or told.platform == "Android"
    if told.mobile or "iPhone" in user_agent or (is_android and "Mobile" in user_agent):
        return Device.PHONE.value
    if is_android or system == "iPadOS" or "iPad" in user_agent:
        return Device.TABLET.value
    return Device.COMPUTER.value if system in _COMPUTERS else ""


def _connection(told: ToldMachine) -> str:
    kind = _KINDS.get(told.connection_type) or (Connection.OTHER if told.connection_type in _OTHER_KINDS else None)
    found = kind or _SPEEDS.get(told.effective_type)
    return found.value if found else ""
