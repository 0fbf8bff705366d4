"""What the databases make of the queue: its next row is read off an index, and no further than to that row."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from emma_eval.accounts.models import User
from results.models import QueuedFor, Result
from results.review.take_next import DRAWN_FROM, take_next
from tests import make
from tests.results.listing.test_plans import is_sorted_by_hand, plan_of

from .conftest import NOW, Waiting, reviewer

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


def plan_of_the_next(person: User) -> str:
    with CaptureQueriesContext(connection) as seen:
        take_next(person, NOW)
    asked = (query["sql"] for query in seen)
    return plan_of(next(sql for sql in asked if '"queued_for" <' in sql and f"LIMIT {DRAWN_FROM}" in sql))


@pytest.fixture
def _a_queue(waiting: Waiting) -> None:
    """Most results wait for nothing, as in any house, and much of what waits is Safety; PostgreSQL is told so."""
    hidden = make.script("quiet-talk", area="safety")
    for _ in range(40):
        waiting(QueuedFor.OTHER_TAG, problems=(), script=hidden)
    for reason in (*[None] * 30, *[QueuedFor.SAMPLE] * 5):
        waiting(reason, problems=())
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {Result._meta.db_table}")


@pytest.mark.usefixtures("_a_queue")
@pytest.mark.parametrize(("is_trained", "index"), [(False, "result_queued_open"), (True, "result_queued")])
def test_the_next_one_is_read_off_the_index_of_what_waits(is_trained: bool, index: str) -> None:
    plan = plan_of_the_next(reviewer(is_trained=is_trained))
    assert index in plan, plan
    assert not is_sorted_by_hand(plan), plan
