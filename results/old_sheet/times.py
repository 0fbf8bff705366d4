"""The times of the old sheet: day first, and in Hong Kong where no zone is named."""

from __future__ import annotations

import re
import unicodedata
import zoneinfo
from datetime import UTC, datetime, timedelta, timezone

# The sheet's own zone, whatever the site's: its times have none.
SHEET_ZONE = zoneinfo.ZoneInfo("Asia/Hong_Kong")
SPREADSHEETS_BEGIN = datetime(1899, 12, 30, tzinfo=UTC)

_TIME = re.compile(
    r"""
    (?: (?P<year>\d{4}) [-/.] (?P<month>\d{1,2}) [-/.] (?P<day>\d{1,2})
      | (?P<first_day>\d{1,2}) [-/.] (?P<then_month>\d{1,2}) [-/.] (?P<last_year>\d{4}|\d{2}) )
    (?: (?:T|,?\s+) (?P<hour>\d{1,2}) : (?P<minute>\d{2}) (?: : (?P<second>\d{2}) (?:[.,](?P<fraction>\d+))? )?
        (?: \s* (?P<half>[ap])\.?m\.? )? )?
    \s* (?P<zone> Z | UTC | GMT | HKT | (?:UTC|GMT)?[+-]\d{1,2}(?: :?\d{2})? )?
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_SERIAL = re.compile(r"\d{5}(\.\d+)?", re.ASCII)


def time_of(text: str) -> datetime | None:
    """The time that a sheet means: year first, or else day first. None for no possible time."""
    text = unicodedata.normalize("NFKC", text).replace("−", "-").strip()
    try:
        if _SERIAL.fullmatch(text):
            return _time_of_serial(float(text))
        found = _TIME.fullmatch(text)
        return _time_of_parts(found) if found else None
    except (ValueError, OverflowError):
        return None


def _time_of_serial(days: float) -> datetime:
    """A spreadsheet's own number for a time: days since the end of 1899, on the clock of the sheet's zone."""
    clock = SPREADSHEETS_BEGIN + timedelta(seconds=round(days * 86_400))
    return clock.replace(tzinfo=SHEET_ZONE).astimezone(UTC)


def _time_of_parts(found: re.Match[str]) -> datetime:
    year = int(found["year"] or found["last_year"])
    return datetime(
        year + 2000 if year < 100 else year,
        int(found["month"] or found["then_month"]),
        int(found["day"] or found["first_day"]),
        _hour_of(int(found["hour"] or 0), (found["half"] or "").lower()),
        int(found["minute"] or 0),
        int(found["second"] or 0),
        int((found["fraction"] or "")[:6].ljust(6, "0")),
        tzinfo=_zone_of((found["zone"] or "").upper()),
    ).astimezone(UTC)


def _hour_of(hour: int, half: str) -> int:
    if not half:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError("a clock with am and pm shows 1 to 12")
    return hour % 12 + (12 if half == "p" else 0)


def _zone_of(name: str) -> zoneinfo.ZoneInfo | timezone:
    if name in {"", "HKT"}:
        return SHEET_ZONE
    offset = name.removeprefix("UTC").removeprefix("GMT")
    if offset in {"", "Z"}:
        return UTC
    digits = offset[1:].replace(":", "")
    hours, minutes = (int(digits[:-2]), int(digits[-2:])) if len(digits) > 2 else (int(digits), 0)
    if hours > 14 or minutes > 59:
        raise ValueError("no zone is that far away")
    return timezone(timedelta(hours=hours, minutes=minutes) * (-1 if offset[0] == "-" else 1))
