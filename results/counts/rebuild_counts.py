"""Count anew from the results and put right what differs; safe beside filing, correcting, importing and reviewing.

What was counted and what is kept are compared month by month, each in one statement: a statement sees one state of
the database, and in any one state the two are equal, because they are written in one transaction. What differs is
then added or taken, never overwritten, so that whatever is filed meanwhile stays counted (docs/decisions/0112-*).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from emma_eval.accounts import audit
from scripts_catalog import taxonomy
from scripts_catalog.models import Script

from ..models import DIMENSION_KEYS, RATINGS, MonthCount, MonthTag, Result, Source
from .keep_counts import COUNTED, TAGGED, Place, Tally, month_of
from .take_time import take_time

log = logging.getLogger(__name__)

CORRECTED = "corrected counts"  # in the audit trail
ONE_AT_A_TIME = 2  # what PostgreSQL knows the turn of a rebuild by


@dataclass(frozen=True)
class Differences:
    """How many rows were out of step in one month; in the catalogue's run counts, where there is no month."""

    month: date | None
    rows: int
    tells_of_safety: bool


@dataclass(frozen=True)
class Found:
    """What has to be added to the counts of a month, or to the run counts."""

    month: date | None
    tally: Tally


Find = Callable[[], Found]


def compare_counts() -> list[Differences]:
    """What is out of step now. Writes nothing and keeps nobody waiting."""
    return [found for find in _comparisons() if (found := _looked(find))]


def rebuild_counts() -> list[Differences]:
    """Put right what is out of step, and say what it was, in the audit trail too. Where nothing is, nobody waits."""
    return [found for find in _comparisons() if (found := _looked(find) and _put_right(find, _record))]


def count_months_not_counted() -> int:
    """Count the months of which nothing is kept yet, as those before there were any counts; how many there were."""
    known = set(MonthCount.objects.values_list("month", flat=True).distinct())
    missing = [month for month in _months_of_results() if month not in known]
    for month in missing:
        _put_right(partial(_difference_in, month))
    return len(missing)


def _comparisons() -> Iterator[Find]:
    """Every month that has results or counts; after them, the run counts, which are the sums of the months."""
    for month in sorted({*_months_of_results(), *_months_kept()}):
        yield partial(_difference_in, month)
    yield _difference_of_runs


def _looked(find: Find) -> Differences | None:
    with take_time():
        return _told(find())


def _put_right(find: Find, tell: Callable[[Differences], None] = lambda told: None) -> Differences | None:
    with transaction.atomic(), take_time():
        _take_turn()
        found = find()
        told = _told(found)
        if told is not None:
            tell(told)
            found.tally.write()
    return told


def _record(told: Differences) -> None:
    month = f"{told.month:%Y-%m}" if told.month else "all months"
    log.warning("%s rows of counts were out of step in %s; they are put right", told.rows, month)
    audit.record(None, CORRECTED, month, is_safety=told.tells_of_safety, rows=told.rows)


def _take_turn() -> None:
    """Two rebuilds at once would add the same difference twice. SQLite has one writer anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, 0)", [ONE_AT_A_TIME])


def _told(found: Found) -> Differences | None:
    tally = found.tally
    rows = len(tally.months) + len(tally.tags) + len(tally.runs)
    return Differences(found.month, rows, _tells_of_safety(tally)) if rows else None


def _tells_of_safety(tally: Tally) -> bool:
    places = {*tally.months, *(place for place, _, _ in tally.tags)}
    if any(place.filed_as_safety for place in places) or any(filed_as_safety for _, _, filed_as_safety in tally.runs):
        return True
    slugs, keys = {place.script for place in places}, {script for script, _, _ in tally.runs}
    return Script.objects.filter(Q(slug__in=slugs) | Q(pk__in=keys), area=taxonomy.SAFETY).exists()


def _months_of_results() -> Iterator[date]:
    """From month to month on the index of dates, over months without any."""
    dates = Result.objects.order_by("called_at").values_list("called_at", flat=True)
    found = dates.first()
    while found is not None:
        yield (month := month_of(found))
        found = dates.filter(called_at__gte=_midnight(_next(month))).first()


def _months_kept() -> set[date]:
    return {
        month for kept in (MonthCount, MonthTag) for month in kept.objects.values_list("month", flat=True).distinct()
    }


def _next(month: date) -> date:
    return month.replace(year=month.year + month.month // 12, month=month.month % 12 + 1)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, timezone.get_default_timezone())


def _difference_in(month: date) -> Found:
    tally = Tally()
    within = [connection.ops.adapt_datetimefield_value(_midnight(day)) for day in (month, _next(month))]
    kept = connection.ops.adapt_datefield_value(month)
    for *place, numbers in _rows(_MONTHS_DIFFER, [*within, *within, kept], len(COUNTED)):
        tally.months[_place(month, place)] = Counter(dict(zip(COUNTED, numbers, strict=True)))
    for *place, source, tag, numbers in _rows(_TAGS_DIFFER, [*within, *within, kept], len(TAGGED)):
        tally.tags[_place(month, place), source, tag] = Counter(dict(zip(TAGGED, numbers, strict=True)))
    return Found(month, tally)


def _difference_of_runs() -> Found:
    tally = Tally()
    for script, build, is_safety, (runs,) in _rows(_RUNS_DIFFER, [], 1):
        tally.runs[script, build, bool(is_safety)] = runs
    return Found(None, tally)


def _place(month: date, found: Sequence[Any]) -> Place:
    script, build, is_safety, met_emma_before = found
    return Place(script, build, month, bool(is_safety), bool(met_emma_before))


def _rows(query: str, values: Sequence[Any], numbers: int) -> Iterator[tuple[Any, ...]]:
    """Rows with their last so many numbers in one tuple."""
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        for row in cursor.fetchall():
            yield (*row[:-numbers], tuple(int(number) for number in row[-numbers:]))


_OF_A_RESULT = "r.script_id, r.build_id, r.filed_as_safety, r.met_emma_before"
_OF_A_ROW = "script_id, build_id, filed_as_safety, met_emma_before"
_ITS_MONTH = "r.called_at >= %s AND r.called_at < %s"
_STANDS = "results_review v ON v.result_id = r.id AND v.stands"


def _query(keys: str, counts: Sequence[str], *parts: str) -> str:
    """The sums of all parts by key, where any of them is not 0."""
    sums = [f"SUM({name})" for name in counts]
    differs = " OR ".join(f"{each} <> 0" for each in sums)
    return (
        f"SELECT {keys}, {', '.join(sums)} FROM ({' UNION ALL '.join(parts)}) AS each GROUP BY {keys} HAVING {differs}"
    )


def _counted(condition: str) -> str:
    return f"COUNT(*) FILTER (WHERE {condition})"


_RATED = [_counted(f"r.{key} = {value}") for key in DIMENSION_KEYS for value in RATINGS]
_RESULTS = [
    f"{_counted('NOT r.never_started')} AS runs",
    f"{_counted('r.never_started')} AS never_started",
    f"{_counted('NOT r.never_started AND NOT r.camera_used')} AS without_camera",
    "0 AS reviewed",
    *(f"{count} AS {name}" for count, name in zip(_RATED, COUNTED[4:], strict=True)),
]
_REVIEWS = ["COUNT(*)" if name == "reviewed" else "0" for name in COUNTED]

_MONTHS_DIFFER = _query(
    _OF_A_ROW,
    COUNTED,
    f"SELECT {_OF_A_RESULT}, {', '.join(_RESULTS)} FROM results_result r WHERE {_ITS_MONTH} GROUP BY {_OF_A_RESULT}",
    f"SELECT {_OF_A_RESULT}, {', '.join(_REVIEWS)} FROM results_result r JOIN {_STANDS} "
    f"WHERE {_ITS_MONTH} GROUP BY {_OF_A_RESULT}",
    f"SELECT {_OF_A_ROW}, {', '.join(f'-{name}' for name in COUNTED)} FROM results_monthcount WHERE month = %s",
)
_BIGGEST = _counted("p.rank = 1")
_TAGS_DIFFER = _query(
    f"{_OF_A_ROW}, source, tag",
    TAGGED,
    f"SELECT {_OF_A_RESULT}, '{Source.FILED.value}' AS source, p.tag, COUNT(*) AS tagged, {_BIGGEST} AS biggest "
    "FROM results_result r JOIN results_problem p ON p.result_id = r.id "
    f"WHERE {_ITS_MONTH} GROUP BY {_OF_A_RESULT}, p.tag",
    f"SELECT {_OF_A_RESULT}, '{Source.REVIEWED.value}', p.tag, COUNT(*), {_BIGGEST} "
    f"FROM results_result r JOIN {_STANDS} JOIN results_reviewedproblem p ON p.review_id = v.id "
    f"WHERE {_ITS_MONTH} GROUP BY {_OF_A_RESULT}, p.tag",
    f"SELECT {_OF_A_ROW}, source, tag, -tagged, -biggest FROM results_monthtag WHERE month = %s",
)
_RUNS_DIFFER = _query(
    "script_id, build_id, filed_as_safety",
    ("runs",),
    "SELECT s.id AS script_id, b.id AS build_id, m.filed_as_safety, SUM(m.runs) AS runs FROM results_monthcount m "
    "JOIN scripts_catalog_script s ON s.slug = m.script_id JOIN scripts_catalog_build b ON b.sort_key = m.build_id "
    "GROUP BY s.id, b.id, m.filed_as_safety",
    "SELECT script_id, build_id, filed_as_safety, -runs FROM scripts_catalog_runcount",
)
