"""List results: one row for each script run, narrowed, in order, one page at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.db.models.functions import Substr
from django.utils import timezone
from django.utils.safestring import SafeString

from emma_eval.accounts.models import User
from results.models import DIMENSION_KEYS, Problem, ProblemOrder, Result, ResultQuerySet
from scripts_catalog import taxonomy

from . import cells
from .filters import Filters
from .keyset import BadCursorError, Cursor, Order, Page, Place, page_of

MOST_COUNTED = 10_000
EXCERPT = 160
MOST_PROBLEMS = 3
DEMO = "(demo)"
COLUMN_OF = {"date": "called_at", "script": "script_id", "build": "build_id", **{key: key for key in DIMENSION_KEYS}}
NEWEST_FIRST = {"date", "build"}
COLUMNS = (
    *("id", "called_at", "script_id", "build_id", *DIMENSION_KEYS),
    *("camera_used", "never_started", "problem_order", "met_emma_before"),
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
    """A problem of a row. Its place is known where the overall order of the row's problems is."""

    label: str
    is_biggest: bool
    has_place: bool


@dataclass(frozen=True)
class Row:
    """One script run, ready to be written down: a template that decides in each cell would take most of the time."""

    id: int
    day: str
    time: str
    title: str
    is_covered: bool
    marks: tuple[str, ...]
    build: str
    tester: str
    tester_marks: tuple[str, ...]
    ratings: SafeString
    problems: tuple[Tagged, ...]
    problem_order: str
    comment: str

    @property
    def path(self) -> str:
        """The address of the result, within that of the list."""
        return f"{self.id}/"

    @property
    def badges(self) -> SafeString:
        return (cells.SAFETY_BADGE if self.is_covered else cells.NOTHING) + cells.badges(self.marks)

    @property
    def tester_badges(self) -> SafeString:
        return cells.badges(self.tester_marks)

    @property
    def problem_lines(self) -> SafeString:
        return SafeString(
            "".join(
                cells.problem_line(problem.label, is_biggest=problem.is_biggest, has_place=problem.has_place)
                for problem in self.first_problems
            )
        )

    @property
    def note(self) -> SafeString:
        return cells.note(self.about_the_others)

    @property
    def first_problems(self) -> tuple[Tagged, ...]:
        """As many as a row has room for: a line that says more about the others takes the place of one."""
        has_a_line_more = len(self.problems) > MOST_PROBLEMS or self.order_unknown
        return self.problems[: MOST_PROBLEMS - 1 if has_a_line_more else MOST_PROBLEMS]

    @property
    def about_the_others(self) -> str:
        """How many problems are left out and what isn't known of their order, in words; empty if all is said."""
        left_out = len(self.problems) - len(self.first_problems)
        return ", ".join(filter(None, (f"and {left_out} more" if left_out else "", self.order_unknown)))

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
    order, seen = asked.sort.order, Result.objects.visible_to(user)
    excerpt = Substr("comment", 1, EXCERPT + 1)
    in_order = asked.filters.narrow_in_order(seen, order.column).annotate(excerpt=excerpt)
    page = page_of(in_order.values_list(*COLUMNS, "excerpt", named=True), order, asked.place)
    tagged = _problems_of([row.id for row in page.rows])
    return Listing(
        rows=[_row_of(row, tagged.get(row.id, ())) for row in page.rows],
        count=_count(asked, seen, page),
        previous=_link(asked, order, "before", page.previous),
        next=_link(asked, order, "after", page.next),
    )


def _count(asked: Asked, seen: ResultQuerySet, page: Page) -> int:
    """How many rows fit, as far as it is counted. A page that is all there is says so itself."""
    if page.is_whole:
        return len(page.rows)
    return asked.filters.narrow(seen)[: MOST_COUNTED + 1].count()


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
        is_covered=row.filed_as_safety or row.script__area == taxonomy.SAFETY,
        marks=_marks_of(row),
        build=row.build__name,
        tester=tester,
        tester_marks=_those(demo=row.tester__is_demo and DEMO not in tester, returning=row.met_emma_before),
        ratings=cells.ratings(tuple(getattr(row, key) for key in DIMENSION_KEYS), never_started=row.never_started),
        problems=problems,
        problem_order=row.problem_order,
        comment=_excerpt(row.excerpt),
    )


def _marks_of(row: Any) -> tuple[str, ...]:
    """What is special about a run, in the words of its badges."""
    uses_camera = row.script_version__uses_camera
    return _those(
        **{
            "camera off-script": row.camera_used and not uses_camera,
            "run without camera": uses_camera and not row.camera_used and not row.never_started,
            "no link yet": not row.recording_link,
            "imported": row.sheet_digest,
        }
    )


def _those(**facts: Any) -> tuple[str, ...]:
    return tuple(words for words, is_so in facts.items() if is_so)


def _excerpt(text: str) -> str:
    """The beginning of a comment, on one line; cut at a space where there is one."""
    if len(text) <= EXCERPT:
        return " ".join(text.split())
    return " ".join(text[:EXCERPT].rsplit(" ", 1)[0].split()) + " …"
