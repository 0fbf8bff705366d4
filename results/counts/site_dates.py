"""The week and the month of a moment, in the site's time zone, as the database works them out.

PostgreSQL knows time zones. SQLite doesn't, and asking Python for each row takes twenty times as long as counting it:
there the zone's changes of the clock are written into the query, and each row is moved by what held for it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any

from django.db.models import DateField
from django.db.models.functions import TruncMonth, TruncWeek
from django.utils import timezone

# No call is older, nor are there calls from after the year that follows.
FIRST_YEAR = 2000
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)


class _OfTheSite:
    """A Trunc whose date is that of the site, in SQLite's own words."""

    to_first_day: str

    def __init__(self, moment: str) -> None:
        zone = timezone.get_default_timezone()
        super().__init__(moment, output_field=DateField(), tzinfo=zone)  # type: ignore[call-arg]

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, list[Any]]:
        moment, values = compiler.compile(self.lhs)  # type: ignore[attr-defined]
        shifts = shifts_of(self.tzinfo, timezone.now().year + 2)  # type: ignore[attr-defined]
        dates = [f"date({moment}, '{seconds:+d} seconds', {self.to_first_day})" for _, seconds in shifts]
        whens = "".join(
            f"WHEN {moment} >= '{begin:%Y-%m-%d %H:%M:%S}' THEN {date} "
            for (begin, _), date in zip(shifts[:-1], dates[:-1], strict=True)
        )
        times = 1 + 2 * (len(shifts) - 1)
        return (f"CASE {whens}ELSE {dates[-1]} END" if whens else dates[-1]), [*values] * times


class Monday(_OfTheSite, TruncWeek):
    """The Monday of the week that a moment lies in."""

    to_first_day = "'weekday 0', '-6 days'"


class FirstOfMonth(_OfTheSite, TruncMonth):
    """The first day of the month that a moment lies in."""

    to_first_day = "'start of month'"


@lru_cache(maxsize=8)
def shifts_of(zone: tzinfo, until_year: int) -> list[tuple[datetime, int]]:
    """Since when (UTC) the zone has been so many seconds ahead, the latest first; the last held from the beginning."""
    day, end = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC), datetime(until_year, 1, 1, tzinfo=UTC)
    found = [(day, _ahead(zone, day))]
    while day < end:
        if _ahead(zone, day + DAY) != found[-1][1]:
            found.append((_change(zone, day), _ahead(zone, day + DAY)))
        day += DAY
    return found[::-1]


def _ahead(zone: tzinfo, moment: datetime) -> int:
    offset = moment.astimezone(zone).utcoffset()
    return int(offset.total_seconds()) if offset is not None else 0


def _change(zone: tzinfo, day: datetime) -> datetime:
    """The second within a day from which the clock is another."""
    before, low, high = _ahead(zone, day), day, day + DAY
    while high - low > SECOND:
        middle = low + (high - low) // 2
        middle = middle.replace(microsecond=0)
        low, high = (middle, high) if _ahead(zone, middle) == before else (low, middle)
    return high
