"""Days that move along: a period means other days as time goes by, in lists, dashboards, files and saved views."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import User
from results.export.columns import COLUMNS
from results.export.order_file import Format, Wanted, order_file
from results.listing.choices import choices_for
from results.listing.filter_form import FilterForm
from results.listing.filters import Filters
from results.listing.list_results import read_asked
from results.listing.periods import PERIODS, Period, days_of
from tests import make


@pytest.mark.parametrize(
    ("period", "today", "first", "last"),
    [
        (Period.THIS_MONTH, date(2026, 11, 30), date(2026, 11, 1), date(2026, 11, 30)),
        (Period.THIS_MONTH, date(2026, 12, 1), date(2026, 12, 1), date(2026, 12, 31)),
        (Period.LAST_MONTH, date(2026, 3, 31), date(2026, 2, 1), date(2026, 2, 28)),
        (Period.LAST_MONTH, date(2027, 1, 1), date(2026, 12, 1), date(2026, 12, 31)),
        (Period.LAST_7_DAYS, date(2026, 3, 3), date(2026, 2, 25), date(2026, 3, 3)),
        (Period.LAST_28_DAYS, date(2026, 3, 3), date(2026, 2, 4), date(2026, 3, 3)),
    ],
)
def test_a_period_has_the_days_of_the_calendar(period: Period, today: date, first: date, last: date) -> None:
    assert days_of(period, today) == (first, last)


def at(moment: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: moment)


@pytest.mark.django_db
def test_a_month_begins_in_the_time_zone_of_the_site(manager: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few minutes after midnight in Berlin it is still November in Greenwich."""
    at(datetime(2026, 11, 30, 23, 5, tzinfo=UTC), monkeypatch)
    with timezone.override("Europe/Berlin"):
        filters = FilterForm({"period": "this-month"}, choices_for(manager)).filters()
    assert (filters.first_day, filters.last_day) == (date(2026, 12, 1), date(2026, 12, 31))
    assert filters.query() == "period=this-month", "the address goes on meaning the month that is"


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/results/", "/dashboard/", "/dashboard/scripts/small-talk/"])
def test_the_same_address_counts_another_month_later_on(
    manager_client: Client, manager: User, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, build = make.script("small-talk"), make.build()
    for day in (10, 20):
        make.result(manager, script, build, called_at=datetime(2026, 11, day, 12, tzinfo=UTC))
    make.result(manager, script, build, called_at=datetime(2026, 12, 2, 12, tzinfo=UTC))
    make.counts()
    counted = []
    for month in (11, 12):
        at(datetime(2026, month, 28, 12, tzinfo=UTC), monkeypatch)
        manager_client.force_login(manager)
        page = manager_client.get(f"{path}?period=this-month")
        assert "this month" in page.content.decode().lower()
        counted.append(page.context["listing"].count if path == "/results/" else page.context["figures"].total)
    said = counted if path == "/results/" else [total.took_place.count for total in counted]
    assert said == [2, 1]


@pytest.mark.django_db
@pytest.mark.parametrize(("period", "label"), PERIODS)
def test_the_chip_says_the_period_and_takes_it_away_whole(manager_client: Client, period: str, label: str) -> None:
    make.script()
    chips = manager_client.get(f"/results/?period={period}&area=everyday").context["chips"]
    assert [chip.words for chip in chips if "Area" not in chip.words] == [label]
    assert {chip.query for chip in chips} == {f"period={period}", "area=everyday"}


@pytest.mark.django_db
def test_days_and_a_period_at_once_are_told_apart(manager: User) -> None:
    form = FilterForm({"period": "last-month", "from": "2026-01-01"}, choices_for(manager))
    filters = form.filters()
    assert "period" in form.errors
    assert (filters.period, filters.first_day, filters.last_day) == ("", date(2026, 1, 1), None)


def test_other_days_are_no_period_any_more() -> None:
    month = Filters().during(Period.THIS_MONTH, date(2026, 11, 5))
    assert month.but(build="1").query() == "build=1&period=this-month"
    assert month.but(last_day=date(2026, 11, 8)).query() == "from=2026-11-01&to=2026-11-08"


@pytest.mark.django_db
def test_a_file_that_is_made_later_keeps_the_days_of_when_it_was_asked_for(eval_member: User) -> None:
    choices = choices_for(eval_member)
    asked = read_asked(FilterForm({"period": "last-7-days"}, choices).filters(), {})
    export = order_file(eval_member, Wanted(asked, choices, Format.WORKBOOK, COLUMNS, 0))
    today = timezone.localdate()
    assert export.query == f"from={today - timedelta(days=6)}&to={today}"
