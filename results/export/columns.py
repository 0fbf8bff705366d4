"""The columns of an export: what each is called, what it says in a cell, and what it says to a program.

A column that the import of sheets reads has the name that the import knows it by, and says it so that the import
reads the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from operator import attrgetter
from typing import Any

from django.utils import timezone

from results.listing.reviewed import KEY_OF_REASON
from results.models import DIMENSION_KEYS, Device, ProblemOrder, QueuedFor
from results.recordings.tell_of_rows import ToldRecording
from results.review.as_reviewed import PlacedTag
from results.review.open_to import time_shown
from scripts_catalog import taxonomy

NO_RATING = "N/A"
NO_PROBLEM = "No problem"
HOW_FAR = ("reviewed_at", "queued_for")  # a row is reviewed
DEVICES = dict(Device.choices)
ORDER_KNOWN = {
    ProblemOrder.OVERALL.value: "all",
    ProblemOrder.BIGGEST.value: "biggest",
    ProblemOrder.GROUPS.value: "within groups",
}


@dataclass(frozen=True)
class Marked:
    """A moment of the result's call, which is named by its key."""

    call: int
    at_ms: int
    words: str


@dataclass(frozen=True)
class Beside:
    """What stands beside a row in other tables, and how far it is reviewed, as the one who asks may know it.

    `reviewed`: the problems of the review that stands, None where there is none.
    """

    problems: tuple[PlacedTag, ...] = ()
    moments: tuple[Marked, ...] = ()
    reviewed: tuple[PlacedTag, ...] | None = None
    waits_for: QueuedFor | None = None
    recording: ToldRecording | None = None


Cell = str | int | datetime | date | None
Says = Callable[[Any, Beside], Any]


@dataclass(frozen=True)
class Column:
    """`needs` are the columns of the database that it is made of; `cell` and `raw` say it from a row that has them.

    `cell` is for people: a text, a whole number, a time, a day or nothing. `raw` is for programs: plain JSON.
    """

    key: str
    name: str
    needs: tuple[str, ...]
    cell: Says
    raw: Says
    width: int = 14


@dataclass(frozen=True)
class ColumnGroup:
    """Columns that are shown together where they are chosen."""

    name: str
    columns: tuple[Column, ...]


def _plain(key: str, name: str, field: str = "", *, width: int = 14) -> Column:
    """A column of the database as it is."""
    get = attrgetter(field or key)

    def say(row: Any, beside: Beside) -> Any:
        return get(row)

    return Column(key, name, (field or key,), say, say, width)


def _yes_no(key: str, name: str) -> Column:
    get = attrgetter(key)
    return Column(key, name, (key,), lambda row, beside: "yes" if get(row) else "no", lambda row, beside: get(row))


def _time(key: str, name: str) -> Column:
    get = attrgetter(key)
    return Column(
        key,
        name,
        (key,),
        lambda row, beside: get(row) and _local(get(row)),
        lambda row, beside: get(row) and _iso(get(row)),
        width=20,
    )


def _reviewed_at() -> Column:
    """Not before all reviews are in: files are read by reviewers, too."""

    def time_of(row: Any) -> datetime | None:
        return time_shown(row.reviewed_at, row.queued_for)

    return Column(
        "reviewed_at",
        "Reviewed at",
        HOW_FAR,
        lambda row, beside: (when := time_of(row)) and _local(when),
        lambda row, beside: (when := time_of(row)) and _iso(when),
        width=20,
    )


def _local(when: datetime) -> datetime:
    """On the clock of the site's zone."""
    return when.astimezone(timezone.get_default_timezone())


def _iso(when: datetime) -> str:
    """A time to the last digit, with the offset of the site's zone."""
    return _local(when).isoformat()


def _rating(dimension: taxonomy.Dimension) -> Column:
    get = attrgetter(dimension.key)
    if dimension.key in DIMENSION_KEYS[:-1]:
        return _plain(dimension.key, dimension.name, width=10)

    def cell(row: Any, beside: Beside) -> Cell:
        value: int | None = get(row)
        return NO_RATING if value is None else value

    return Column(dimension.key, dimension.name, (dimension.key,), cell, lambda row, beside: get(row), width=10)


def _tag(tag: str) -> dict[str, str]:
    return {"key": tag, "label": taxonomy.TAG_BY_KEY[tag].label}


def _labels(problems: Iterable[PlacedTag]) -> str:
    return ", ".join(taxonomy.TAG_BY_KEY[problem.tag].label for problem in problems)


def _group(group: taxonomy.TagGroup) -> Column:
    keys = frozenset(tag.key for tag in group.tags)

    def own(beside: Beside) -> list[PlacedTag]:
        return [problem for problem in beside.problems if problem.tag in keys]

    return Column(
        f"problems_{group.key}",
        f"Problems: {group.name}",
        (),
        lambda row, beside: _labels(own(beside)),
        lambda row, beside: [_tag(problem.tag) for problem in own(beside)],
        width=30,
    )


def _biggest(problems: Iterable[PlacedTag]) -> Iterator[PlacedTag]:
    """The one, or none."""
    return (problem for problem in problems if problem.rank == 1)


def _tell_biggest(problems: Iterable[PlacedTag]) -> dict[str, str] | None:
    return next((_tag(problem.tag) for problem in _biggest(problems)), None)


def _say_in_order(row: Any, beside: Beside) -> Cell:
    return _labels(beside.problems) if row.problem_order == ProblemOrder.OVERALL else ""


def _tell_in_order(row: Any, beside: Beside) -> list[dict[str, str]] | None:
    """None where the overall order is not known: an empty list says that there are no problems."""
    return [_tag(problem.tag) for problem in beside.problems] if row.problem_order == ProblemOrder.OVERALL else None


def _say_moments(row: Any, beside: Beside) -> Cell:
    """One line for each: the minute and second of the call, and the words."""
    return "\n".join(f"{_clock(moment.at_ms)} {moment.words}".rstrip() for moment in beside.moments)


def _clock(at_ms: int) -> str:
    minutes, seconds = divmod(at_ms // 1000, 60)
    return f"{minutes}:{seconds:02d}"


def _tell_moments(row: Any, beside: Beside) -> list[dict[str, object]]:
    return [{"at_ms": moment.at_ms, "words": moment.words} for moment in beside.moments]


def _say_reviewed(row: Any, beside: Beside) -> Cell:
    """In their places; empty says that no review stands."""
    return "" if beside.reviewed is None else _labels(beside.reviewed) or NO_PROBLEM


def _tell_reviewed(row: Any, beside: Beside) -> list[dict[str, str]] | None:
    return None if beside.reviewed is None else [_tag(problem.tag) for problem in beside.reviewed]


BIGGEST = Column(
    "biggest_problem",
    "Biggest problem",
    (),
    lambda row, beside: _labels(_biggest(beside.problems)),
    lambda row, beside: _tell_biggest(beside.problems),
    width=30,
)
IN_ORDER = Column("problems_in_order", "Problems in order", ("problem_order",), _say_in_order, _tell_in_order, width=40)
MOMENTS = Column("moments", "Moments", ("tester_id", "call_uuid"), _say_moments, _tell_moments, width=40)

RECORDING = Column(
    "recording",
    "Kept recording",
    ("tester_id", "call_uuid"),
    lambda row, beside: beside.recording.page if beside.recording else "",
    lambda row, beside: (told := beside.recording) and {"state": told.state.value, "url": told.page},
    width=30,
)
WAITS_FOR = Column(
    "waits_for",
    "In review queue",
    HOW_FAR,
    lambda row, beside: beside.waits_for.label if beside.waits_for else "",
    lambda row, beside: KEY_OF_REASON[beside.waits_for] if beside.waits_for else None,
    width=20,
)
AS_REVIEWED = (
    Column("problems_as_reviewed", "Problems as reviewed", HOW_FAR, _say_reviewed, _tell_reviewed, width=40),
    Column(
        "biggest_as_reviewed",
        "Biggest as reviewed",
        HOW_FAR,
        lambda row, beside: _labels(_biggest(beside.reviewed or ())),
        lambda row, beside: _tell_biggest(beside.reviewed or ()),
        width=30,
    ),
)

GROUPS = (
    ColumnGroup(
        "The call",
        (
            _plain("id", "Number", width=17),
            Column(
                "called_at",
                "Timestamp",
                ("called_at",),
                lambda row, beside: _iso(row.called_at),
                lambda row, beside: _iso(row.called_at),
                width=26,
            ),
            Column(  # the Timestamp is a text, since a spreadsheet's times are neither exact nor have a zone
                "call_date",
                "Call date",
                ("called_at",),
                lambda row, beside: _local(row.called_at).date(),
                lambda row, beside: _local(row.called_at).date().isoformat(),
                width=12,
            ),
            _plain("tester_email", "Tester", "tester__email", width=26),
            _plain("tester_name", "Tester name", "tester__name", width=20),
            _plain("script", "Script", "script_id", width=24),
            _plain("script_title", "Script title", "script_version__title", width=28),
            _plain("script_version", "Script version", "version_known", width=8),
            Column(
                "area",
                "Area",
                ("script__area",),
                lambda row, beside: taxonomy.AREA_NAMES[row.script__area],
                lambda row, beside: row.script__area,
            ),
            _plain("build", "Emma build", "build__name", width=12),
            _plain("recording_link", "Recording link", width=30),
            RECORDING,
        ),
    ),
    ColumnGroup("Ratings", tuple(_rating(dimension) for dimension in taxonomy.DIMENSIONS)),
    ColumnGroup(
        "Problems",
        (
            *(_group(group) for group in taxonomy.TAG_GROUPS),
            BIGGEST,
            IN_ORDER,
            Column(
                "order_known",
                "Order known",
                ("problem_order",),
                lambda row, beside: ORDER_KNOWN[row.problem_order],
                lambda row, beside: row.problem_order,
            ),
        ),
    ),
    ColumnGroup(
        "What the tester says",
        (
            _plain("comment", "Comment", width=60),
            _yes_no("met_emma_before", "Returning user?"),
            _yes_no("never_started", "Never started"),
            _yes_no("camera_used", "Camera used"),
            _plain("camera_note", "Camera note", width=24),
        ),
    ),
    ColumnGroup(
        "Moments",
        (
            _plain("worst_moment", "Worst moment", "sheet_worst_moment", width=30),
            _plain("minute_in_call", "Minute in call", "sheet_minute_in_call"),
            MOMENTS,
        ),
    ),
    ColumnGroup(
        "Browser and connection",
        (
            _plain("browser", "Browser"),
            Column(
                "device",
                "Device",
                ("device",),
                lambda row, beside: DEVICES.get(row.device, row.device),
                lambda row, beside: row.device,
            ),
            _plain("connection", "Connection"),
        ),
    ),
    ColumnGroup("Filing and review", (_time("filed_at", "Filed at"), _reviewed_at(), WAITS_FOR, *AS_REVIEWED)),
)
COLUMNS = tuple(column for group in GROUPS for column in group.columns)
COLUMN_BY_KEY = {column.key: column for column in COLUMNS}
TELL_OF_PROBLEMS = frozenset(column.key for column in GROUPS[2].columns)
TELL_AS_REVIEWED = frozenset(column.key for column in AS_REVIEWED)


def columns_of(keys: Iterable[str]) -> tuple[Column, ...]:
    """The columns of these keys, in the order of the list, without what is none."""
    wanted = frozenset(keys)
    return tuple(column for column in COLUMNS if column.key in wanted)
