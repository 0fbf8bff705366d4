"""Pages of a long list by keyset."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from emma_eval.accounts.models import User
from results.listing.filters import Filters
from results.listing.keyset import BadCursorError, Cursor, Order, Place, page_of
from results.listing.list_results import COLUMN_OF, Asked, Sort, list_results, read_asked
from results.models import Result
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

NOON = datetime(2026, 3, 3, 12, tzinfo=UTC)


@pytest.fixture
def many(tester: User) -> list[Result]:
    """120 results with many ties, a third of them without a Vision rating, some that never started."""
    random = Random(7)
    scripts = [make.script(f"script-{number}", uses_camera=number % 3 != 0) for number in range(4)]
    builds = [make.build(name) for name in ("2026.9", "2026.10", "2026.11")]
    return [
        make.result(
            tester,
            random.choice(scripts),
            random.choice(builds),
            ratings=random.randint(1, 5),
            called_at=NOON + timedelta(minutes=random.randint(0, 20)),
            **({"never_started": True, "camera_used": False} if random.random() < 0.1 else {}),
        )
        for _ in range(120)
    ]


def all_pages(user: User, sort: Sort, *, size: int = 7) -> list[int]:
    """The ids of the whole list, read page by page to its end."""
    found: list[int] = []
    place = Place()
    rows = Result.objects.visible_to(user).values_list("id", COLUMN_OF[sort.key], named=True)
    while True:
        page = page_of(rows, sort.order, place, size)
        found += [row.id for row in page.rows]
        if page.next is None:
            return found
        place = Place(sort.order.read(sort.order.write(page.next)))


def expected(results: list[Result], sort: Sort) -> list[int]:
    """The same by sorting in Python: rows without a value last, ties by id in the same direction."""
    column = COLUMN_OF[sort.key]
    rated = [result for result in results if getattr(result, column) is not None]
    rest = [result for result in results if getattr(result, column) is None]
    rated.sort(key=lambda result: (getattr(result, column), result.pk), reverse=sort.is_descending)
    rest.sort(key=lambda result: result.pk, reverse=sort.is_descending)
    return [result.pk for result in rated + rest]


@pytest.mark.parametrize("is_descending", [False, True], ids=["ascending", "descending"])
@pytest.mark.parametrize("key", COLUMN_OF)
def test_its_pages_join_to_the_whole_list_in_order(
    many: list[Result], tester: User, key: str, is_descending: bool
) -> None:
    sort = Sort(key, is_descending)
    assert all_pages(tester, sort) == expected(many, sort)


@pytest.mark.parametrize("key", ["date", "script", "vision"])
def test_going_back_shows_the_pages_that_were_passed(many: list[Result], tester: User, key: str) -> None:
    order = Sort(key, False).order
    rows = Result.objects.visible_to(tester).values_list("id", order.column, named=True)
    forward, place = [], Place()
    while True:
        page = page_of(rows, order, place, 25)
        forward.append([row.id for row in page.rows])
        if page.next is None:
            break
        place = Place(page.next)
    backward = [forward[-1]]
    while page.previous is not None:
        page = page_of(rows, order, Place(page.previous, is_before=True), 25)
        backward.append([row.id for row in page.rows])
    assert backward[::-1] == forward


def test_a_result_filed_meanwhile_shifts_nothing(many: list[Result], tester: User) -> None:
    sort = Sort()
    rows = Result.objects.visible_to(tester).values_list("id", "called_at", named=True)
    first = page_of(rows, sort.order, Place(), 10)
    before = [row.id for row in page_of(rows, sort.order, Place(first.next), 10).rows]
    make.result(tester, many[0].script, many[0].build, called_at=NOON + timedelta(days=1))
    assert [row.id for row in page_of(rows, sort.order, Place(first.next), 10).rows] == before


def test_a_place_holds_when_its_row_is_gone(many: list[Result], tester: User) -> None:
    sort = Sort()
    rows = Result.objects.visible_to(tester).values_list("id", "called_at", named=True)
    first = page_of(rows, sort.order, Place(), 10)
    before = [row.id for row in page_of(rows, sort.order, Place(first.next), 10).rows]
    Result.objects.filter(pk=first.rows[-1].id).delete()
    assert [row.id for row in page_of(rows, sort.order, Place(first.next), 10).rows] == before


def test_behind_the_last_row_is_the_first_page(many: list[Result], tester: User) -> None:
    order = Sort().order
    rows = Result.objects.visible_to(tester).values_list("id", "called_at", named=True)
    behind = Place(Cursor(NOON - timedelta(days=1), 1))
    assert page_of(rows, order, behind, 10) == page_of(rows, order, Place(), 10)


def test_going_back_to_less_than_a_page_shows_the_first_page_whole(many: list[Result], tester: User) -> None:
    order = Sort().order
    rows = Result.objects.visible_to(tester).values_list("id", "called_at", named=True)
    first = page_of(rows, order, Place(), 10)
    third = Cursor(first.rows[2].called_at, first.rows[2].id)
    page = page_of(rows, order, Place(third, is_before=True), 10)
    assert page == first


@pytest.mark.parametrize(
    ("column", "cursor"),
    [
        ("called_at", Cursor(datetime(2026, 3, 3, 12, 30, 15, 123456, tzinfo=UTC), 42)),
        ("script_id", Cursor("bad-news-day", 7)),
        ("build_id", Cursor("00002026.00000010 (rc.1)", 2**63 - 1)),
        ("content", Cursor(4, 1)),
        ("vision", Cursor(None, 9)),
    ],
)
def test_a_cursor_reads_as_it_was_written(column: str, cursor: Cursor) -> None:
    order = Order(column)
    assert order.read(order.write(cursor)) == cursor


@pytest.mark.parametrize("column", ["called_at", "script_id", "build_id", "content"])
@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "x", "1", "1.\x00", "-1.4", "+1.4", "1_0.4", " 1.4", "१.४", "1.4.4\n"),
        *(f"{2**63}.4", "9" * 400 + ".4", "1." + "9" * 400, "1.6é\ud800", "None.None"),
    ],
)
def test_a_cursor_that_nobody_wrote_is_refused(column: str, text: str) -> None:
    with pytest.raises(BadCursorError):
        Order(column).read(text)


@pytest.mark.parametrize("query", ["after=zz", "after=1.x", "sort=vision&after=1.9", "after=.."])
def test_a_place_that_cant_be_read_gives_the_first_page_and_says_so(
    many: list[Result], tester: User, query: str
) -> None:
    page = make.client_of(tester).get(f"/results/?{query}")
    assert page.status_code == 200
    assert "here is its first page" in page.text
    assert page.text.count('<th scope="row">') == 50


@pytest.mark.parametrize("text", ["5.bad-news-day", "5.1772540000000000", "5.3", "5."])
def test_a_cursor_of_another_sort_is_no_error(many: list[Result], tester: User, text: str) -> None:
    for key in COLUMN_OF:
        for name in ("after", "before"):
            asked = read_asked(Filters(), {"sort": key, name: text})
            assert list_results(tester, asked).count == 120


def test_the_links_of_a_page_lead_to_its_neighbours(many: list[Result], tester: User) -> None:
    client = make.client_of(tester)
    first = list_results(tester, Asked(Filters()))
    assert first.previous == ""
    second = client.get(f"/results/?{first.next}")
    assert second.context["listing"].rows[0].id not in {row.id for row in first.rows}
    back = client.get(f"/results/?{second.context['listing'].previous}")
    assert [row.id for row in back.context["listing"].rows] == [row.id for row in first.rows]
