"""List results: one row for each script run, narrowed, in order, one page at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models.functions import Substr

from emma_eval.accounts.models import User
from scripts_catalog import taxonomy

from .filters import Filters
from .keyset import BadCursorError, Cursor, Order, Place, page_of
from .models import DIMENSION_KEYS, Problem, ProblemOrder, Result

MOST_COUNTED = 10_000
EXCERPT = 160
COLUMN_OF = {"date": "called_at", "script": "script_id", "build": "build_id", **{key: key for key in DIMENSION_KEYS}}
NEWEST_FIRST = {"date", "build"}
COLUMNS = (
    *("id", "called_at", "script_id", "build_id", *DIMENSION_KEYS),
    *("camera_used", "camera_note", "never_started", "problem_order", "met_emma_before"),
    *("filed_as_safety", "recording_link", "sheet_digest"),
    *("script__area", "script_version__title", "script_version__uses_camera", "build__name"),
    *("tester__name", "tester__email", "tester__is_demo"),
)


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
class Tagged:
    label: str
    is_biggest: bool


@dataclass(frozen=True)
class Row:
    """One script run, as the list shows it. Ratings stand in the order of the dimensions; None is N/A."""

    id: int
    called_at: datetime
    title: str
    is_covered: bool
    is_off_script: bool
    camera_note: str
    build: str
    tester: str
    is_demo: bool
    never_started: bool
    ratings: tuple[tuple[str, int | None], ...]
    problems: tuple[Tagged, ...]
    problem_order: str
    comment: str
    met_emma_before: bool
    has_link: bool
    is_imported: bool

    @property
    def order_unknown(self) -> str:
        """What isn't known of the order of the problems, in words; empty where all of it is known."""
        if self.problem_order == ProblemOrder.GROUPS and len(self.problems) > 1:
            return "order not known"
        if self.problem_order == ProblemOrder.BIGGEST and len(self.problems) > 2:
            return "order of the others not known"
        return ""


@dataclass(frozen=True)
class Listing:
    """A page of rows, how many there are in all (at most `MOST_COUNTED` and one more), and the pages beside it."""

    rows: list[Row]
    count: int
    previous: str
    next: str

    @property
    def count_in_words(self) -> str:
        if self.count > MOST_COUNTED:
            return f"{MOST_COUNTED:,}+ results"
        return "1 result" if self.count == 1 else f"{self.count:,} results"


def list_results(user: User, asked: Asked) -> Listing:
    """The page that was asked for. The number of queries does not depend on the number of rows."""
    order = asked.sort.order
    narrowed = asked.filters.narrow(Result.objects.visible_to(user))
    excerpt = Substr("comment", 1, EXCERPT + 1)
    with_columns = narrowed.annotate(excerpt=excerpt).values_list(*COLUMNS, "excerpt", named=True)
    page = page_of(with_columns, order, asked.place)
    tagged = _problems_of([row.id for row in page.rows])
    return Listing(
        rows=[_row_of(row, tagged.get(row.id, ())) for row in page.rows],
        count=narrowed.order_by()[: MOST_COUNTED + 1].count(),
        previous=_link(asked, order, "before", page.previous),
        next=_link(asked, order, "after", page.next),
    )


def _link(asked: Asked, order: Order, name: str, cursor: Cursor | None) -> str:
    return asked.query(**{name: order.write(cursor)}) if cursor else ""


def _problems_of(ids: list[int]) -> dict[int, tuple[Tagged, ...]]:
    found: dict[int, tuple[Tagged, ...]] = {}
    tags = Problem.objects.filter(result__in=ids).order_by("result_id", "position")
    for result_id, tag, rank in tags.values_list("result_id", "tag", "rank"):
        found[result_id] = (*found.get(result_id, ()), Tagged(taxonomy.TAG_BY_KEY[tag].label, rank == 1))
    return found


def _row_of(row: Any, problems: tuple[Tagged, ...]) -> Row:
    return Row(
        id=row.id,
        called_at=row.called_at,
        title=row.script_version__title,
        is_covered=row.filed_as_safety or row.script__area == taxonomy.SAFETY,
        is_off_script=row.camera_used and not row.script_version__uses_camera,
        camera_note=row.camera_note,
        build=row.build__name,
        tester=row.tester__name or row.tester__email,
        is_demo=row.tester__is_demo,
        never_started=row.never_started,
        ratings=tuple((dimension.name, getattr(row, dimension.key)) for dimension in taxonomy.DIMENSIONS),
        problems=problems,
        problem_order=row.problem_order,
        comment=_excerpt(row.excerpt),
        met_emma_before=row.met_emma_before,
        has_link=bool(row.recording_link),
        is_imported=bool(row.sheet_digest),
    )


def _excerpt(text: str) -> str:
    """The beginning of a comment, on one line; cut at a space where there is one."""
    if len(text) <= EXCERPT:
        return " ".join(text.split())
    return " ".join(text[:EXCERPT].rsplit(" ", 1)[0].split()) + " …"
