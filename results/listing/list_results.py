"""List results: one row for each script run, narrowed, in order, one page at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from typing import Any
from urllib.parse import urlencode

from django.core.cache import cache as kept
from django.db.models import Exists, OuterRef
from django.db.models.functions import Substr
from django.utils import timezone
from django.utils.safestring import SafeString

from emma_eval.accounts.models import User
from results.models import DIMENSION_KEYS, Problem, Recording, Result, ResultQuerySet
from results.recordings.tell_of_rows import one_of_the_call
from scripts_catalog import taxonomy
from scripts_catalog.models import Script

from .filters import Filters
from .keyset import BadCursorError, Cursor, Order, Page, Place, page_of
from .rows import Row, Tagged
from .table import table_rows

MOST_COUNTED, KEPT_S = 10_000, 60
EXCERPT = 160
DEMO = "(demo)"
ratings_of = attrgetter(*DIMENSION_KEYS)
COLUMN_OF = {"date": "called_at", "script": "script_id", "build": "build_id", **{key: key for key in DIMENSION_KEYS}}
NEWEST_FIRST = {"date", "build"}
COLUMNS = (
    *("id", "called_at", "script_id", "build_id", "tester_id", "call_uuid", *DIMENSION_KEYS),
    *("camera_used", "never_started", "problem_order", "met_emma_before"),
    *("filed_as_safety", "recording_link", "sheet_digest"),
    *("script_version__title", "script_version__uses_camera", "build__name"),
    *("tester__name", "tester__email", "tester__is_demo"),
)
WORKED_OUT = ("excerpt", "is_safety_now", "recording")


@dataclass(frozen=True)
class Sort:
    """What the list is sorted by, as it stands in an address."""

    key: str = "date"
    is_descending: bool = True

    @property
    def order(self) -> Order:
        return Order(COLUMN_OF[self.key], self.is_descending)

    @property
    def direction(self) -> str:
        return "desc" if self.is_descending else "asc"

    def by(self, key: str) -> Sort:
        """The sort that pressing a column's head asks for: the other way round, if it is sorted by it already."""
        return Sort(key, not self.is_descending if key == self.key else key in NEWEST_FIRST)

    def params(self) -> dict[str, str]:
        return {} if self == Sort() else {"sort": self.key, "direction": self.direction}


@dataclass(frozen=True)
class Asked:
    """What an address asks of the list."""

    filters: Filters
    sort: Sort = field(default_factory=Sort)
    place: Place = field(default_factory=Place)
    notices: tuple[str, ...] = ()

    def query(self, **place: str) -> str:
        return urlencode({**self.filters.params(), **self.sort.params(), **place})


def read_asked(filters: Filters, params: Mapping[str, str]) -> Asked:
    """The sort and the place in the list that an address names; what can't be read falls back, with a notice."""
    notices = []
    key, direction = params.get("sort") or "date", params.get("direction", "")
    if key not in COLUMN_OF or direction not in {"", "asc", "desc"}:
        notices.append("The list can't be sorted that way, so here it is by date.")
        key = direction = ""
    sort = Sort(key, direction == "desc" if direction else key in NEWEST_FIRST) if key else Sort()
    place = Place()
    try:
        place = _read_place(sort, params)
    except BadCursorError:
        notices.append("That place in the list can't be found again, so here is its first page.")
    return Asked(filters, sort, place, tuple(notices))


def _read_place(sort: Sort, params: Mapping[str, str]) -> Place:
    for name in ("after", "before"):
        if params.get(name):
            return Place(sort.order.read(params[name]), is_before=name == "before")
    return Place()


@dataclass(frozen=True)
class Listing:
    """A page of rows, how many there are in all (at most `MOST_COUNTED` and one more), and the pages beside it."""

    rows: list[Row]
    count: int
    previous: str
    next: str

    @property
    def table_rows(self) -> SafeString:
        return table_rows(self.rows)

    @property
    def count_in_words(self) -> str:
        if self.count > MOST_COUNTED:
            return f"{MOST_COUNTED:,}+ results"
        return "1 result" if self.count == 1 else f"{self.count:,} results"


def list_results(user: User, asked: Asked) -> Listing:
    """The page that was asked for. The number of queries does not depend on the number of rows."""
    order = asked.sort.order
    rows = _with_what_is_worked_out(is_trained=user.is_trained)
    in_order = asked.filters.narrow_in_order(rows, order.column)
    page = page_of(in_order.values_list(*COLUMNS, *WORKED_OUT, named=True), order, asked.place)
    tagged = _problems_of([row.id for row in page.rows])
    return Listing(
        rows=[_row_of(row, tagged.get(row.id, ())) for row in page.rows],
        count=_count(user, asked, page),
        previous=_link(asked, order, "before", page.previous),
        next=_link(asked, order, "after", page.next),
    )


@cache
def _with_what_is_worked_out(*, is_trained: bool) -> ResultQuerySet:
    """All results with what stands beside their columns, put together once.

    A join of the scripts for their area would double what PostgreSQL plans.
    """
    safety_now = Script.objects.filter(slug=OuterRef("script_id"), area=taxonomy.SAFETY)
    known = Recording.objects.of_known_calls(is_trained=is_trained)
    return Result.objects.known(is_trained=is_trained).annotate(
        excerpt=Substr("comment", 1, EXCERPT + 1),
        is_safety_now=Exists(safety_now),
        recording=one_of_the_call(known.expected()),
    )


def _count(user: User, asked: Asked, page: Page) -> int:
    """How many rows fit, as far as it is counted. A page that is all there is says so itself.

    That they are more than are counted is kept for a minute: rows are filed, and hardly ever taken away.
    """
    if page.is_whole:
        return len(page.rows)
    key = f"more-than-{MOST_COUNTED}:{user.is_trained}:{hash(asked.filters)}"
    if kept.get(key) == asked.filters:
        return MOST_COUNTED + 1
    count = asked.filters.narrow(Result.objects.visible_to(user))[: MOST_COUNTED + 1].count()
    if count > MOST_COUNTED:
        kept.set(key, asked.filters, KEPT_S)
    return count


def _link(asked: Asked, order: Order, name: str, cursor: Cursor | None) -> str:
    return asked.query(**{name: order.write(cursor)}) if cursor else ""


def _problems_of(ids: list[int]) -> dict[int, tuple[Tagged, ...]]:
    found: dict[int, tuple[Tagged, ...]] = {}
    tags = Problem.objects.filter(result__in=ids).order_by("result_id", "position")
    for result_id, tag, rank in tags.values_list("result_id", "tag", "rank"):
        found[result_id] = (
            *found.get(result_id, ()),
            Tagged(taxonomy.TAG_BY_KEY[tag].label, rank == 1, rank is not None),
        )
    return found


def _row_of(row: Any, problems: tuple[Tagged, ...]) -> Row:
    when = timezone.localtime(row.called_at)
    tester = row.tester__name or row.tester__email
    return Row(
        id=row.id,
        day=f"{when.day} {when:%b %Y}",
        time=f"{when:%H:%M}",
        title=row.script_version__title,
        is_covered=row.filed_as_safety or row.is_safety_now,
        marks=_marks_of(row),
        build=row.build__name,
        tester=tester,
        tester_marks=_those(
            ("demo", row.tester__is_demo and DEMO not in tester),
            ("returning", row.met_emma_before),
        ),
        ratings=ratings_of(row),
        never_started=row.never_started,
        problems=problems,
        problem_order=row.problem_order,
        comment=_excerpt(row.excerpt),
    )


def _marks_of(row: Any) -> tuple[str, ...]:
    """What is special about a run, in the words of its badges."""
    uses_camera = row.script_version__uses_camera
    return _those(
        ("camera off-script", row.camera_used and not uses_camera),
        ("run without camera", uses_camera and not row.camera_used and not row.never_started),
        ("no recording yet", not row.recording_link and row.recording is None),
        ("imported", row.sheet_digest),
    )


def _those(*facts: tuple[str, Any]) -> tuple[str, ...]:
    return tuple([words for words, is_so in facts if is_so])


def _excerpt(text: str) -> str:
    """The beginning of a comment, on one line; cut at a space where there is one."""
    if len(text) <= EXCERPT:
        return " ".join(text.split())
    return " ".join(text[:EXCERPT].rsplit(" ", 1)[0].split()) + " …"
