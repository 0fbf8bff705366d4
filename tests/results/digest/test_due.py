"""Which Monday a digest belongs to, by the calendar of the site's time zone, whatever its clocks do."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import override_settings

from results.digest.due import week_due, week_told_of


def at(zone: str, *when: int) -> datetime:
    return datetime(*when, tzinfo=ZoneInfo(zone)).astimezone(UTC)


@pytest.mark.parametrize(
    ("zone", "monday"),
    [
        ("Asia/Hong_Kong", date(2026, 11, 30)),
        ("Europe/Berlin", date(2026, 3, 30)),  # the morning after the clocks went forward
        ("Europe/Berlin", date(2026, 10, 26)),  # the morning after they went back
        ("America/New_York", date(2026, 3, 9)),
        ("America/New_York", date(2026, 11, 2)),
        ("Australia/Lord_Howe", date(2026, 4, 6)),  # half an hour back
        ("Africa/Casablanca", date(2026, 2, 16)),  # out of summer time for a month
        ("America/St_Johns", date(2026, 3, 9)),
    ],
)
def test_it_is_due_on_monday_at_eight(zone: str, monday: date) -> None:
    when = (monday.year, monday.month, monday.day)
    with override_settings(TIME_ZONE=zone):
        assert week_due(at(zone, *when, 7, 59, 59)) == monday - timedelta(days=7)
        assert week_due(at(zone, *when, 8, 0, 0)) == monday
        assert week_due(at(zone, *when, 0, 0, 0) - timedelta(seconds=1)) == monday - timedelta(days=7)
        assert week_due(at(zone, *when, 8, 0, 0) + timedelta(days=6, hours=12)) == monday


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Hong_Kong"])
def test_a_year_has_one_digest_a_week_however_often_it_is_asked(zone: str) -> None:
    """Every quarter of an hour of a year: each Monday begins once, at 8, and no other moment begins a week."""
    with override_settings(TIME_ZONE=zone):
        now, last, begun = datetime(2026, 1, 1, tzinfo=UTC), date(2000, 1, 3), []
        while now.year == 2026:
            week = week_due(now)
            if week != last:
                begun.append((week, now.astimezone(ZoneInfo(zone))))
                last = week
            now += timedelta(minutes=15)
    mondays = [(week, here) for week, here in begun[1:]]
    assert len(mondays) == 52
    assert all(here.date() == week and (here.hour, here.minute) == (8, 0) for week, here in mondays)


def test_it_tells_of_the_week_that_ended_the_night_before() -> None:
    week = week_told_of(date(2026, 3, 30))
    assert (week.first_day, week.last_day) == (date(2026, 3, 23), date(2026, 3, 29))
    assert (week.before.first_day, week.before.last_day) == (date(2026, 3, 16), date(2026, 3, 22))
