"""Read the filtered list for an export: in its order, some hundred rows at a time, from any depth at the same cost.

Each slice is a few short queries of its own. Between two slices nothing is held, however slowly somebody takes
what was read: no cursor and no transaction, and on PostgreSQL the connection is back in the pool. So an export is
no picture of one moment: a row that is filed or corrected meanwhile is in it as it was when its slice was read, or
not at all, and no row is in it twice, unless it was corrected in the very column that the list is sorted by.

A slow reader may take hours, so the person is looked at again after each slice is read and before it is given away:
whoever lost the account, the role or the training by then gets nothing of it, and the export ends with an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import close_old_connections, connection
from django.db.models import F
from django.db.models.functions import Coalesce

from emma_eval.accounts.models import User
from results.listing.keyset import Cursor, Order, walk
from results.listing.list_results import Asked
from results.models import Call, Moment, Problem, Result, ResultQuerySet
from results.recordings.tell_of_rows import recordings_of_rows
from results.review.as_reviewed import PlacedTag, reason_shown, tags_as_reviewed

from .columns import MOMENTS, RECORDING, TELL_AS_REVIEWED, TELL_OF_PROBLEMS, WAITS_FOR, Beside, Column, Marked
from .rights import check_rights

ROWS_AT_FIRST = 100  # so that the first of them are soon there
ROWS_IN_A_SLICE = 1000
Line = tuple[Any, Beside]


def count_rows(user: User, asked: Asked, most: int) -> int:
    """How many rows an export would have, counted no further than `most` and one more."""
    return asked.filters.narrow(Result.objects.visible_to(user))[: most + 1].count()


def read_rows(user: User, asked: Asked, columns: Sequence[Column]) -> Iterator[list[Line]]:
    """Slices of the rows that `user` may see, each row with what stands beside it. Raises LostRightError midway."""
    order, cursor, size = asked.sort.order, None, ROWS_AT_FIRST
    while rows := _slice(user, asked, columns, cursor, size):
        lines = _with_what_stands_beside(user, rows, columns)
        cursor = Cursor(getattr(rows[-1], order.column), rows[-1].id)
        check_rights(user)
        _let_go_of_the_database()
        yield lines
        if len(lines) < size:
            return
        size = ROWS_IN_A_SLICE


def _let_go_of_the_database() -> None:
    """Give the connection back, as the end of a request does; unless a transaction around us needs it."""
    if not connection.in_atomic_block:
        close_old_connections()


def _slice(user: User, asked: Asked, columns: Sequence[Column], cursor: Cursor | None, size: int) -> list[Any]:
    order = asked.sort.order
    rows = asked.filters.narrow_in_order(Result.objects.visible_to(user), order.column)
    return walk(_with_version(user, rows).values_list(*_needed(order, columns), named=True), order, cursor, size)


def _needed(order: Order, columns: Sequence[Column]) -> list[str]:
    """What to ask the database for: not the comments, say, where nobody wants them."""
    needs = (name for column in columns for name in column.needs)
    return list(dict.fromkeys(["id", "script_id", order.column, *needs]))


def _with_version(user: User, rows: ResultQuerySet) -> ResultQuerySet:
    """The number of the script's version as this person knows it: `ScriptVersion.number_for`, for many rows."""
    number, open_number = F("script_version__number"), F("script_version__open_number")
    return rows.annotate(version_known=number if user.is_trained else Coalesce(open_number, number))


def _with_what_stands_beside(user: User, rows: list[Any], columns: Sequence[Column]) -> list[Line]:
    keys = {column.key for column in columns}
    problems = _problems_of(rows) if keys & TELL_OF_PROBLEMS else {}
    moments = _moments_of(user, rows) if MOMENTS.key in keys else {}
    reviewed = tags_as_reviewed(user, rows) if keys & TELL_AS_REVIEWED else {}
    recorded = recordings_of_rows(user, rows) if RECORDING.key in keys else {}
    waits = {row.id: reason_shown(user, row.queued_for) for row in rows} if WAITS_FOR.key in keys else {}
    return [
        (
            row,
            Beside(
                tuple(problems.get(row.id, ())),
                tuple(_moments_beside(row, moments)),
                reviewed.get(row.id),
                waits.get(row.id),
                recorded.get((row.tester_id, row.call_uuid)) if recorded else None,
            ),
        )
        for row in rows
    ]


def _problems_of(rows: list[Any]) -> dict[int, list[PlacedTag]]:
    found: dict[int, list[PlacedTag]] = {}
    tags = Problem.objects.filter(result__in=[row.id for row in rows]).order_by("result_id", "position")
    for result_id, tag, rank in tags.values_list("result_id", "tag", "rank"):
        found.setdefault(result_id, []).append(PlacedTag(tag, rank))
    return found


Moments = dict[tuple[int, Any], list[Marked]]


def _moments_of(user: User, rows: list[Any]) -> Moments:
    """The moments of the calls of these rows, as far as the calls themselves may be known."""
    testers, uuids = {row.tester_id for row in rows}, {row.call_uuid for row in rows}
    calls = Call.objects.visible_to(user).filter(tester__in=testers, uuid__in=uuids)
    call_of = {pk: (tester, uuid) for pk, tester, uuid in calls.values_list("pk", "tester_id", "uuid")}
    found: Moments = {}
    moments = Moment.objects.standing().filter(call__in=call_of).order_by("call_id", "at_ms", "number")
    for call_id, at_ms, words in moments.values_list("call_id", "at_ms", "words"):
        found.setdefault(call_of[call_id], []).append(Marked(call_id, at_ms, words))
    return found


def _moments_beside(row: Any, moments: Moments) -> list[Marked]:
    return moments.get((row.tester_id, row.call_uuid), []) if moments else []
