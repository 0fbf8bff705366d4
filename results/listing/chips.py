"""The filters in use, in words, each with the address that is left when it is taken away."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from django.utils.formats import date_format

from results.models import Connection, Device, Source
from scripts_catalog import taxonomy

from .choices import Choices
from .filters import Filters
from .list_results import Asked
from .periods import Period
from .reviewed import REVIEW_STATES


@dataclass(frozen=True)
class Chip:
    """`query` is the list's address without this filter."""

    words: str
    query: str


def chips_of(asked: Asked, choices: Choices) -> list[Chip]:
    """One chip for each filter that narrows the list, in the order of the form."""
    filters = asked.filters
    said = [
        (f"“{filters.text}”" if filters.text else "", filters.but(text="")),
        (_named("Script", choices.scripts.get(filters.script)), filters.but(script="")),
        (_named("Build", filters.build), filters.but(build="")),
        (_named("Tester", choices.testers.get(str(filters.tester))), filters.but(tester=None)),
        (_named("Area", taxonomy.AREA_NAMES.get(filters.area)), filters.but(area="")),
        ("Tags as reviewed" if filters.is_as_reviewed else "", filters.but(tags=Source.FILED.value)),
        (_problem(filters), filters.but(problem="", is_biggest=False)),
        (_range(filters), filters.but(dimension="", low=None, high=None)),
        (_either(filters.started, "The call took place", "The call never started"), filters.but(started=None)),
        (_either(filters.camera_used, "Camera used", "Camera not used"), filters.but(camera_used=None)),
        (_either(filters.met_emma_before, "Had met Emma before", "New to Emma"), filters.but(met_emma_before=None)),
        (_named("Browser", filters.browser), filters.but(browser="")),
        (_named("Device", dict(Device.choices).get(filters.device)), filters.but(device="")),
        (_named("Connection", dict(Connection.choices).get(filters.connection)), filters.but(connection="")),
        (_named("Review", REVIEW_STATES.get(filters.review)), filters.but(review="")),
        (_safety(filters, choices), filters.but(with_safety=None)),
        (_period(filters), filters.but(first_day=None, last_day=None)),
        (not filters.period and filters.first_day and f"From {_day(filters.first_day)}", filters.but(first_day=None)),
        (not filters.period and filters.last_day and f"To {_day(filters.last_day)}", filters.but(last_day=None)),
    ]
    return [Chip(words, Asked(rest, asked.sort).query()) for words, rest in said if words]


def _named(label: str, name: str | None) -> str:
    return f"{label}: {name}" if name else ""


def _either(value: bool | None, yes: str, no: str) -> str:
    return "" if value is None else yes if value else no


def _safety(filters: Filters, choices: Choices) -> str:
    """Said to the trained: for others nothing is left out by it."""
    return "Safety left out" if filters.with_safety is False and choices.sees_safety else ""


def _problem(filters: Filters) -> str:
    tag = taxonomy.TAG_BY_KEY.get(filters.problem)
    if tag is None:
        return ""
    return f"{'Biggest problem' if filters.is_biggest else 'Problem'}: {tag.label}"


def _range(filters: Filters) -> str:
    if not filters.dimension:
        return ""
    low, high = filters.low or 1, filters.high or 5
    values = str(low) if low == high else f"{low} to {high}"
    return f"{taxonomy.DIMENSION_BY_KEY[filters.dimension].name}: {values}"


def _period(filters: Filters) -> str:
    return Period(filters.period).label if filters.period else ""


def _day(day: date) -> str:
    return date_format(day, "j M Y")
