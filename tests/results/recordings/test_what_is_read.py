"""What PostgreSQL reads to tell which results have a recording: those of the calls on the page, however many others."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import Exists, OuterRef

from emma_eval.accounts.models import User
from results.dashboards.counting import Counting
from results.dashboards.examples import find_examples
from results.listing.filters import Filters
from results.listing.list_results import Asked, list_results
from results.models import Recording, Result, Source
from results.recordings.tell_of_rows import recordings_of_rows
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
MANY = 2_000


@pytest.fixture(autouse=True)
def _many(tester: User) -> None:
    """Results and as many recordings, each of a call of its own, and what PostgreSQL knows of them."""
    if connection.vendor != "postgresql":
        pytest.skip("PostgreSQL alone counts the rows that it reads")
    filed = make.result(tester, make.script(), make.build(), problems=("too_long",))
    made = make.recording(tester, filed.call_uuid)
    calls = [uuid.uuid4() for _ in range(MANY)]
    Result.objects.bulk_create(_like(filed, place, call) for place, call in enumerate(calls, 1))
    Recording.objects.bulk_create(_recorded_like(made, call) for call in calls)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE results_result, results_recording")


def _like(filed: Result, place: int, call: uuid.UUID) -> Result:
    about = {name: getattr(filed, name) for name in ("tester", "script", "script_version", "build")}
    called_at = filed.called_at - timedelta(minutes=place)
    return Result(
        **about, id=filed.pk - place, called_at=called_at, call_uuid=call, draft_uuid=uuid.uuid4(), never_started=True
    )


def _recorded_like(made: Recording, call: uuid.UUID) -> Recording:
    about = {name: getattr(made, name) for name in ("tester", "state", "key", "duration_ms", "origin")}
    return Recording(**about, uuid=uuid.uuid4(), call_uuid=call)


def read_while(act: Callable[[], object]) -> int:
    """How many rows of recordings were read, in the table or in an index of it, by this transaction."""
    before = _read()
    act()
    return _read() - before


def _read() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = oid) "
            "+ (SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid)) FROM pg_index WHERE indrelid = oid) "
            "FROM pg_class WHERE relname = 'results_recording'"
        )
        return int(cursor.fetchone()[0])


@pytest.mark.parametrize("is_trained", [False, True])
def test_a_page_of_the_list(tester: User, trained_tester: User, is_trained: bool) -> None:
    user = trained_tester if is_trained else tester
    assert 0 < read_while(lambda: list_results(user, Asked(Filters()))) < 150


@pytest.mark.parametrize("is_trained", [False, True])
def test_examples_of_a_dashboard(manager: User, trained_eval_member: User, is_trained: bool) -> None:
    counting = Counting(trained_eval_member if is_trained else manager, Filters())
    assert 0 < read_while(lambda: find_examples(counting, Source.FILED, {("too_long", False): 1}, MANY + 1)) < 1_000


def test_rows_of_a_file(tester: User) -> None:
    assert 0 < read_while(lambda: recordings_of_rows(tester, Result.objects.all()[:5])) < 100


def test_a_condition_among_the_columns_would_read_all_of_them(tester: User) -> None:
    """Shows that these tests can fail."""
    of_the_call = Recording.objects.filter(tester=OuterRef("tester"), call_uuid=OuterRef("call_uuid")).order_by()
    rows = Result.objects.order_by("-called_at").annotate(has_recording=Exists(of_the_call))[:50]
    assert read_while(lambda: list(rows.values_list("id", "has_recording"))) > MANY
