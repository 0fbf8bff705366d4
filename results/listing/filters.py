"""What the list of results is narrowed to: read from the address, applied to the rows, written into links."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from results.models import Problem, ResultQuerySet, Review, Source
from scripts_catalog.models import Script, sort_key_of

from .periods import Period, days_of
from .reviewed import narrow_by_review


@dataclass(frozen=True)
class Filters:
    """Everything that can narrow the list, typed. None (or empty): not narrowed by this.

    `script` is a slug, `build` a name, `tester` an id. A dimension without a range narrows nothing. `tags` says whose
    tags a problem is looked for in: its tester's, or those of the review that stands; results without one are left out.
    `review` is one of `REVIEW_STATES`. `with_safety` is False where Safety is left out for the trained too: others have
    none. `period` says where `first_day` and `last_day` come from, and stands in addresses in their stead; empty where
    they were given as days.
    """

    text: str = ""
    script: str = ""
    area: str = ""
    build: str = ""
    tester: int | None = None
    tags: str = Source.FILED.value
    problem: str = ""
    is_biggest: bool = False
    dimension: str = ""
    low: int | None = None
    high: int | None = None
    met_emma_before: bool | None = None
    camera_used: bool | None = None
    started: bool | None = None
    browser: str = ""
    device: str = ""
    connection: str = ""
    review: str = ""
    with_safety: bool | None = None
    first_day: date | None = None
    last_day: date | None = None
    period: str = ""

    def but(self, **changes: Any) -> Filters:
        """With other days, they are no longer those of the period."""
        if "first_day" in changes or "last_day" in changes:
            changes = {"period": "", **changes}
        return replace(self, **changes)

    def during(self, period: Period, today: date) -> Filters:
        """Narrowed to the days of a period, as they are today."""
        first, last = days_of(period, today)
        return self.but(first_day=first, last_day=last, period=period.value)

    def as_of_now(self) -> Filters:
        """With the days of its period as days: for what must mean the same later on."""
        return self.but(period="")

    def narrow(self, rows: ResultQuerySet) -> ResultQuerySet:
        """The rows that fit, in no order: for counts. The database starts wherever the fewest rows are."""
        rows = self._plain(_by_its_index(rows.filter(**self._range()), self._noted()))
        rows = narrow_by_review(rows, self.review)
        # One review of a result stands, and a tag stands on a result once, so the joins double no row.
        if self.is_as_reviewed:
            return rows.filter(reviews__stands=True, **self._tagged("reviews__problems__"))
        return rows.filter(**self._tagged("problems__"))

    def narrow_in_order(self, rows: ResultQuerySet, column: str) -> ResultQuerySet:
        """The rows that fit, for a list that is sorted by `column`: it stays on the index that has it in order.

        What would tempt the database to another index, and then to sort, is written so that it can't:
        other tables are asked row by row, and another dimension's range is about a sum that no index has.
        """
        rows = self._plain(_by_its_index(rows, self._noted()) if column == "called_at" else rows)
        rows = narrow_by_review(rows, self.review, column)
        if self.is_as_reviewed:
            standing = Review.objects.filter(result=OuterRef("pk"), stands=True)
            rows = rows.filter(Exists(standing.filter(**self._tagged("problems__"))))
        elif self.problem:
            rows = rows.filter(Exists(Problem.objects.filter(result=OuterRef("pk"), **self._tagged(""))))
        if self.dimension in {"", column}:
            return rows.filter(**self._range())
        return rows.alias(rated=F(self.dimension) + 0).filter(**self._range("rated"))

    def _plain(self, rows: ResultQuerySet) -> ResultQuerySet:
        """What is asked in the same way, in order or not."""
        rows = rows.filter(**self._exact())
        if self.with_safety is False:
            rows = rows.open_to_all()
        if self.area:
            rows = rows.filter(Exists(Script.objects.filter(slug=OuterRef("script_id"), area=self.area)))
        return rows.filter(self._text()) if self.text else rows

    def _exact(self) -> dict[str, Any]:
        """Column lookups, without those that nobody asked for."""
        lookups = {
            "script_id": self.script or None,
            "build_id": sort_key_of(self.build) or None,
            "tester_id": self.tester,
            "met_emma_before": self.met_emma_before,
            "camera_used": self.camera_used,
            "never_started": None if self.started is None else not self.started,
            **self._noted(),
            "called_at__gte": self.first_day and _midnight(self.first_day),
            "called_at__lt": self.last_day and _midnight(self.last_day + timedelta(days=1)),
        }
        return _without_empty(lookups)

    @property
    def is_as_reviewed(self) -> bool:
        return self.tags == Source.REVIEWED

    def _tagged(self, prefix: str) -> dict[str, Any]:
        """What is asked of the tags; `prefix` leads to their rows."""
        lookups = {"tag": self.problem or None, "rank": 1 if self.problem and self.is_biggest else None}
        return {f"{prefix}{name}": value for name, value in lookups.items() if value is not None}

    def _noted(self) -> dict[str, Any]:
        """What is asked of the device that a call was held on."""
        lookups = {"browser": self.browser, "device": self.device, "connection": self.connection}
        return {column: value for column, value in lookups.items() if value}

    def _range(self, column: str = "") -> dict[str, Any]:
        column = column or self.dimension
        return _without_empty({f"{column}__gte": self.low, f"{column}__lte": self.high}) if self.dimension else {}

    def _text(self) -> Q:
        """Words of the comment, or the number of a result."""
        found = Q(comment__icontains=self.text)
        number = self.text.removeprefix("#")
        if number.isascii() and number.isdigit() and len(number) <= 18:
            found |= Q(pk=int(number))
        return found

    def params(self) -> dict[str, str]:
        """As they stand in an address, without the empty ones."""
        asked = self.but(first_day=None, last_day=None, period=self.period) if self.period else self
        said = [(name, getattr(asked, field), unsaid) for field, name, unsaid in _SAID]
        return {name: _written(value) for name, value, unsaid in said if value != unsaid}

    def query(self) -> str:
        return urlencode(self.params())


# The name in the address of each field.
NAME_OF = {
    **{field.name: field.name for field in fields(Filters)},
    "text": "q",
    "is_biggest": "biggest",
    "met_emma_before": "returning",
    "camera_used": "camera",
    "with_safety": "safety",
    "first_day": "from",
    "last_day": "to",
}
_SAID = tuple((field.name, NAME_OF[field.name], field.default) for field in fields(Filters))


def _by_its_index(rows: ResultQuerySet, noted: dict[str, Any]) -> ResultQuerySet:
    """Say what follows from it, too: that something is noted at all. Only so SQLite takes the index of such rows."""
    for column in noted:
        rows = rows.exclude(**{column: ""})
    return rows


def _without_empty(lookups: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in lookups.items() if value is not None}


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
