"""Keep the counts in step, in the transaction that files, corrects, imports or reviews.

What a transaction adds and takes is gathered in a `Tally` and written at the transaction's end: every transaction
touches the same rows of counts, so each holds them as briefly as it can, and all take them in one order, so that no
two ever wait for each other in a ring (docs/decisions/0111-*).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import groupby
from typing import Any

from django.db import connection
from django.utils import timezone

from scripts_catalog.models import RunCount

from ..models import (
    DIMENSION_KEYS,
    RATING_COUNTS,
    MonthCount,
    MonthTag,
    Problem,
    Result,
    Review,
    ReviewedProblem,
    Source,
)

COUNTED = ("runs", "never_started", "without_camera", "reviewed", *RATING_COUNTS)
TAGGED = ("tagged", "biggest")
OF_A_PLACE = ("script_id", "build_id", "month", "filed_as_safety", "met_emma_before")
OF_A_TAG = (*OF_A_PLACE, "source", "tag")
MOST_ROWS = 200  # of one statement

AnyProblem = Problem | ReviewedProblem
Keys = tuple[Any, ...]
Row = tuple[Keys, Counter[str]]


@dataclass(frozen=True, order=True)
class Place:
    """What a count is of: results of one script on one build in one month, as they were filed."""

    script: str
    build: str
    month: date
    filed_as_safety: bool
    met_emma_before: bool

    @classmethod
    def of(cls, result: Result) -> Place:
        return cls(
            result.script_id,
            result.build_id,
            month_of(result.called_at),
            result.filed_as_safety,
            result.met_emma_before,
        )

    def values(self) -> Keys:
        month = connection.ops.adapt_datefield_value(self.month)
        return self.script, self.build, month, self.filed_as_safety, self.met_emma_before


def month_of(moment: datetime) -> date:
    """The first day of the month in which a moment lies, in the site's time zone."""
    return timezone.localtime(moment, timezone.get_default_timezone()).date().replace(day=1)


class Tally:
    """What a transaction changes of the counts."""

    def __init__(self) -> None:
        self.runs: Counter[tuple[int, int, bool]] = Counter()
        self.months: dict[Place, Counter[str]] = {}
        self.tags: dict[tuple[Place, str, str], Counter[str]] = {}

    def count(self, result: Result, problems: Iterable[AnyProblem], times: int = 1) -> None:
        """Count a result with its tags as filed; -1: it is none any more."""
        place = Place.of(result)
        found = self.months.setdefault(place, Counter())
        if result.never_started:
            found["never_started"] += times
        else:
            self.runs[result.script.pk, result.build.pk, result.filed_as_safety] += times
            found["runs"] += times
            found["without_camera"] += times * (not result.camera_used)
            for key in DIMENSION_KEYS:
                rating = getattr(result, key)
                if rating is not None:
                    found[f"{key}_{rating}"] += times
        self._count_tags(place, Source.FILED, problems, times)

    def count_review(self, result: Result, problems: Iterable[AnyProblem], times: int = 1) -> None:
        """Count a result as reviewed, with the tags of the review that stands; -1: it stands no more."""
        place = Place.of(result)
        self.months.setdefault(place, Counter())["reviewed"] += times
        self._count_tags(place, Source.REVIEWED, problems, times)

    def _count_tags(self, place: Place, source: Source, problems: Iterable[AnyProblem], times: int) -> None:
        for problem in problems:
            found = self.tags.setdefault((place, source.value, problem.tag), Counter())
            found["tagged"] += times
            found["biggest"] += times * (problem.rank == 1)

    def write(self) -> None:
        """Change the rows of the counts; the last thing that its transaction does."""
        RunCount.objects.all().add_many(self.runs)
        _MONTHS.write((place.values(), self.months[place]) for place in sorted(self.months))
        _TAGS.write(((*key[0].values(), *key[1:]), self.tags[key]) for key in sorted(self.tags))


def count_result(result: Result, problems: Iterable[AnyProblem]) -> None:
    """Count a result that this transaction files."""
    tally = Tally()
    tally.count(result, problems)
    tally.write()


def count_review(result: Result, before: Review | None, after: Review | None) -> None:
    """Count that of this result another review stands now (None: none). Their tags must be written by then."""
    tally = Tally()
    if before is not None:
        tally.count_review(result, before.problems.all(), -1)
    if after is not None:
        tally.count_review(result, after.problems.all())
    tally.write()


@dataclass(frozen=True)
class _Kept:
    """A table of counts: by which columns its rows are told apart, and what they count.

    `within`: a count that is never more than another one. A count that a correction would bring below nothing, or
    above that other one, was out of step before. It stays at the end of its range until it is counted anew, and
    keeps nobody from correcting.
    """

    table: str
    keys: tuple[str, ...]
    counts: tuple[str, ...]
    within: Mapping[str, str] = field(default_factory=dict)

    def write(self, rows: Iterable[Row]) -> None:
        """Change rows, in this order. What stays as it is isn't touched."""
        changed = [row for row in rows if any(row[1].values())]
        with connection.cursor() as cursor:
            for is_growing, group in groupby(changed, key=self._is_growing):
                if is_growing:
                    self._grow(cursor, list(group))
                else:
                    cursor.executemany(self._change, [(*self._changes(found), *keys) for keys, found in group])

    def _is_growing(self, row: Row) -> bool:
        """Whether the row can be made of this where it is missing."""
        _, found = row
        return min(found.values()) >= 0 and all(found[name] <= found[other] for name, other in self.within.items())

    def _grow(self, cursor: Any, rows: list[Row]) -> None:
        for first in range(0, len(rows), MOST_ROWS):
            some = rows[first : first + MOST_ROWS]
            values = [value for keys, found in some for value in (*keys, *(found[name] for name in self.counts))]
            cursor.execute(self._add(len(some)), values)

    def _add(self, rows: int) -> str:
        # Django's own upsert (bulk_create with update_conflicts) can only overwrite, not add.
        names = (*self.keys, *self.counts)
        row = f"({', '.join(['%s'] * len(names))})"
        grown = ", ".join(f"{name} = {self.table}.{name} + excluded.{name}" for name in self.counts)
        into = f"{self.table} ({', '.join(names)}) VALUES {', '.join([row] * rows)}"
        return f"INSERT INTO {into} ON CONFLICT ({', '.join(self.keys)}) DO UPDATE SET {grown}"

    @property
    def _change(self) -> str:
        changed = ", ".join(f"{name} = {self._changed(name)}" for name in self.counts)
        found = " AND ".join(f"{name} = %s" for name in self.keys)
        return f"UPDATE {self.table} SET {changed} WHERE {found}"  # noqa: S608  (names of our columns alone)

    def _changed(self, name: str) -> str:
        greatest, least = ("MAX", "MIN") if connection.vendor == "sqlite" else ("GREATEST", "LEAST")
        changed = f"{greatest}({name} + %s, 0)"
        return f"{least}({changed}, {self._changed(self.within[name])})" if name in self.within else changed

    def _changes(self, found: Counter[str]) -> list[int]:
        """The values of `_change`, in their order."""
        named = [(name, self.within.get(name)) for name in self.counts]
        return [found[each] for names in named for each in names if each]


_MONTHS = _Kept(MonthCount._meta.db_table, OF_A_PLACE, COUNTED)
_TAGS = _Kept(MonthTag._meta.db_table, OF_A_TAG, TAGGED, within={"biggest": "tagged"})
