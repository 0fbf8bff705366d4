"""Days that move along with the calendar: "this month" is another month on the first of the next.

An address that names a period keeps meaning it, so a view that is saved in November shows December in December. The
days are those of the site's time zone, worked out at each reading; everything that counts knows first and last days.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta
from enum import StrEnum


class Period(StrEnum):
    """By its name in an address."""

    THIS_MONTH = "this-month"
    LAST_MONTH = "last-month"
    LAST_7_DAYS = "last-7-days"
    LAST_28_DAYS = "last-28-days"

    @property
    def label(self) -> str:
        return self.value.replace("-", " ").capitalize()


PERIODS = [(period.value, period.label) for period in Period]
_DAYS = {Period.LAST_7_DAYS: 7, Period.LAST_28_DAYS: 28}


def month_of(day: date) -> tuple[date, date]:
    """The first and the last day of its month."""
    return day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1])


def days_of(period: Period, today: date) -> tuple[date, date]:
    """The first and the last day of it, both included. The last 7 days end with today."""
    if period in _DAYS:
        return today - timedelta(days=_DAYS[period] - 1), today
    first, last = month_of(today)
    return month_of(first - timedelta(days=1)) if period == Period.LAST_MONTH else (first, last)
