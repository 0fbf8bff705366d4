"""What the databases make of the list: every page of it is read off an index, in order, without sorting."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.listing.filters import Filters
from results.listing.keyset import Cursor, Place
from results.listing.list_results import COLUMN_OF, Asked, Sort, list_results
from results.models import DIMENSION_KEYS, Result
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

FILTERS = [
    "none",
    "script",
    "build",
    "tester",
    "script and text",
    "area",
    "problem",
    "range",
    "never started",
    "browser",
    "machine",
    "reviewed",
    "unreviewed",
    "waiting",
    "waiting for one reason",
]


@pytest.fixture
def filed(tester: User) -> Result:
    return make.result(tester, make.script("bad-news-day"), make.build("2026.10"), problems=("too_long",))


@pytest.fixture
def among_others(filed: Result) -> None:
    """Other rows, and what PostgreSQL knows of them: with a row or two, any index is as good to it as any other."""
    if connection.vendor != "postgresql":
        return
    script, build, tester = make.script("small-talk"), make.build("2026.9"), make.user("otto@example.test", Role.TESTER)
    about = {"tester": tester, "script": script, "script_version": script.latest, "build": build}
    Result.objects.bulk_create(
        Result(
            **about,
            id=filed.pk - n,
            called_at=filed.called_at - timedelta(minutes=n),
            draft_uuid=uuid.uuid4(),
            never_started=True,
        )
        for n in range(1, 1000)
    )
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {Result._meta.db_table}")


def filters_of(name: str, result: Result) -> Filters:
    day = result.called_at.date()
    return {
        "none": Filters(),
        "script": Filters(script="bad-news-day"),
        "build": Filters(build="2026.10"),
        "tester": Filters(tester=result.tester_id),
        "script and text": Filters(script="bad-news-day", text="froze"),
        "area": Filters(area="everyday"),
        "problem": Filters(problem="too_long", is_biggest=True),
        "range": Filters(dimension="content", low=2, high=3),
        "never started": Filters(started=False),
        "browser": Filters(browser="Chrome"),
        "machine": Filters(browser="Chrome", device="phone", connection="wifi"),
        "reviewed": Filters(review="reviewed"),
        "unreviewed": Filters(review="unreviewed"),
        "waiting": Filters(review="waiting"),
        "waiting for one reason": Filters(review="low"),
        "days": Filters(first_day=day, last_day=day),
    }[name]


def page_queries(user: User, asked: Asked) -> list[str]:
    """The queries that fetch the rows of a page, as they were run."""
    with CaptureQueriesContext(connection) as seen:
        list_results(user, asked)
    return [query["sql"] for query in seen if "ORDER BY" in query["sql"] and '"is_demo"' in query["sql"]]


def plan_of(sql: str) -> str:
    """The plan in the database's own words.

    PostgreSQL, with so few rows, is talked out of reading them all; and, as the plans then look dear to it,
    out of compiling them.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            return "\n".join(row[3] for row in cursor.fetchall())
        for name in ("enable_seqscan", "enable_bitmapscan", "enable_sort", "jit"):
            cursor.execute(f"SET LOCAL {name} = off")
        cursor.execute(f"EXPLAIN {sql}")
        return "\n".join(row[0] for row in cursor.fetchall())


def is_sorted_by_hand(plan: str) -> bool:
    return "TEMP B-TREE" in plan if connection.vendor == "sqlite" else bool(re.search(r"\bSort\b", plan))


def reads_off_an_index(plan: str) -> bool:
    words = r"results_result USING (COVERING )?INDEX" if connection.vendor == "sqlite" else r"Index .*on results_result"
    return bool(re.search(words, plan))


def places(sort: Sort, result: Result) -> list[Place]:
    """The first page, one behind a row, one before it; and where rows may lack a value, behind such a one."""
    here: list[Any] = [Cursor(getattr(result, COLUMN_OF[sort.key]), result.pk)]
    if sort.key in DIMENSION_KEYS:
        here.append(Cursor(None, result.pk))
    return [Place(), *(Place(cursor, is_before) for cursor in here for is_before in (False, True))]


@pytest.mark.parametrize("filter_name", FILTERS)
@pytest.mark.parametrize("key", COLUMN_OF)
def test_each_sort_is_read_off_an_index_under_each_filter(
    tester: User, filed: Result, key: str, filter_name: str
) -> None:
    filed.vision = 4  # for its cursor alone
    for is_descending in (False, True):
        sort = Sort(key, is_descending)
        for place in places(sort, filed):
            queries = page_queries(tester, Asked(filters_of(filter_name, filed), sort, place))
            assert queries
            for sql in queries:
                plan = plan_of(sql)
                assert not is_sorted_by_hand(plan), plan
                assert reads_off_an_index(plan), plan


def test_a_page_by_date_starts_at_its_cursor(tester: User, filed: Result) -> None:
    cursor = Cursor(filed.called_at, filed.pk)
    sql = page_queries(tester, Asked(Filters(), Sort(), Place(cursor)))[0]
    bound = "called_at<" if connection.vendor == "sqlite" else r"Index Cond: \(+called_at <="
    assert re.search(bound, plan_of(sql))


@pytest.mark.parametrize("key", [key for key in COLUMN_OF if key != "date"])
def test_a_page_starts_at_its_cursor_among_many_of_the_same_value(tester: User, filed: Result, key: str) -> None:
    """Rows of the cursor's value from its id on, then those beyond its value: each one stretch of an index."""
    column = COLUMN_OF[key]
    cursor = Cursor(getattr(filed, column) or 3, filed.pk)
    same, others = page_queries(tester, Asked(Filters(), Sort(key, True), Place(cursor)))[:2]
    if connection.vendor == "sqlite":
        assert f"({column}=? AND id<?)" in plan_of(same)
        assert re.search(rf"\b{column}<\?\)", plan_of(others))
    else:
        assert re.search(rf"Index Cond: .*{column}\)?(::text)? = .* AND \(id < ", plan_of(same))
        assert re.search(rf"Index Cond: .*{column}\)?(::text)? < ", plan_of(others))


def test_a_sort_without_its_index_is_seen(tester: User, filed: Result) -> None:
    """Shows that these tests can fail: a column that the list does not sort by has no index in order."""
    table = Result._meta.db_table
    assert is_sorted_by_hand(plan_of(f"SELECT id, comment FROM {table} ORDER BY filed_at DESC, id DESC LIMIT 50"))


def test_days_sorted_by_date_are_one_stretch_of_the_index(tester: User, filed: Result) -> None:
    for place in places(Sort(), filed):
        plan = plan_of(page_queries(tester, Asked(filters_of("days", filed), Sort(), place))[0])
        assert not is_sorted_by_hand(plan), plan
        assert reads_off_an_index(plan), plan


@pytest.mark.usefixtures("among_others")
@pytest.mark.parametrize("column", ["browser", "device", "connection"])
def test_what_was_noted_of_the_device_is_one_stretch_of_its_index_by_date(
    tester: User, filed: Result, column: str
) -> None:
    asked = Asked(Filters(**{column: "Safari"}), Sort(), Place(Cursor(filed.called_at, filed.pk)))
    plan = plan_of(page_queries(tester, asked)[0])
    assert not is_sorted_by_hand(plan), plan
    if connection.vendor == "sqlite":
        assert f"result_{column} ({column}=? AND called_at<?)" in plan, plan
    else:
        assert re.search(rf"result_{column} on .*\n.*Index Cond: .*{column}.* AND \(?called_at <=", plan), plan


@pytest.mark.usefixtures("among_others")
@pytest.mark.parametrize("user_kind", ["trained", "untrained"])
def test_a_script_with_its_cursor_is_one_stretch_of_one_index(
    tester: User, trained_tester: User, filed: Result, user_kind: str
) -> None:
    user = trained_tester if user_kind == "trained" else tester
    asked = Asked(Filters(script="bad-news-day"), Sort("content", True), Place(Cursor(4, filed.pk)))
    plan = plan_of(page_queries(user, asked)[0])
    if connection.vendor == "sqlite":
        assert "result_script_content (script_id=? AND content=? AND id<?)" in plan, plan
    else:
        assert re.search(r"Index Cond: .*script_id.*id < ", plan), plan


@pytest.mark.usefixtures("among_others")
@pytest.mark.parametrize("filter_name", ["none", "script", "build", "tester"])
def test_rows_are_counted_without_being_looked_up(tester: User, filed: Result, filter_name: str) -> None:
    """Also for those who may not see all of them: what decides about that stands in the index."""
    assert not tester.is_trained
    counted = filters_of(filter_name, filed).narrow(Result.objects.visible_to(tester))[:10_001]
    with CaptureQueriesContext(connection) as seen:
        counted.count()
    plan = plan_of(seen[-1]["sql"])
    words = (
        "results_result USING COVERING INDEX"
        if connection.vendor == "sqlite"
        else "Index Only Scan .*on results_result"
    )
    assert re.search(words, plan), plan
