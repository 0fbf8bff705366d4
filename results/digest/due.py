"""When a digest is due, and which days it is about: by the calendar of the site's time zone.

A digest is due from Monday at 8 on and is about the week that ended the night before. Beat asks every few minutes
instead of once at 8, so that a site that was down then sends it when it is back. Weeks are counted in days, not in
hours: one with a change of the clocks is an hour longer or shorter, and its digest still comes at 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.utils import timezone

SENT_AT = time(8)
A_WEEK = timedelta(days=7)


@dataclass(frozen=True)
class Week:
    """Seven days from a Monday to a Sunday, both included."""

    first_day: date

    @property
    def last_day(self) -> date:
        return self.first_day + timedelta(days=6)

    @property
    def before(self) -> Week:
        return Week(self.first_day - A_WEEK)


def week_due(now: datetime) -> date:
    """The Monday of the latest digest that is due at this time."""
    here = timezone.localtime(now, timezone.get_default_timezone())
    monday = here.date() - timedelta(days=here.weekday())
    return monday if (here.date(), here.time()) >= (monday, SENT_AT) else monday - A_WEEK


def week_told_of(monday: date) -> Week:
    """The week that the digest of this Monday is about."""
    return Week(monday - A_WEEK)
