"""Reading the list for an export holds nothing while somebody takes it slowly, and little memory at any length."""

from __future__ import annotations

import itertools
import threading
from datetime import timedelta
from typing import Any

import psutil
import pytest
from django.db import connection, transaction
from django.test import Client

from emma_eval.accounts.models import Training, User, group_of
from emma_eval.accounts.roles import Role
from results.export import read_rows
from results.export.columns import COLUMN_BY_KEY, COLUMNS
from results.export.rights import LostRightError
from results.export.write_lines import as_csv, as_json_lines
from results.export.write_workbook import Workbook
from results.listing.filters import Filters
from results.listing.list_results import Asked
from results.models import Result
from tests import make

from .asking import ask, take_away
from .conftest import Kinds

pytestmark = [pytest.mark.data_layer]
COMMENT = "She waited for me and then cut in before I had finished. " * 4


@pytest.mark.django_db(transaction=True)
def test_between_two_slices_nothing_of_the_database_is_held(
    owner: User, kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader who stalls after the first row keeps neither a lock, nor a snapshot, nor a connection of the pool."""
    monkeypatch.setattr(read_rows, "ROWS_AT_FIRST", 1)
    monkeypatch.setattr(read_rows, "ROWS_IN_A_SLICE", 1)
    slices = read_rows.read_rows(owner, Asked(Filters()), COLUMNS)
    next(slices)
    assert not connection.in_atomic_block
    if connection.vendor == "postgresql":
        assert connection.connection is None
    in_time = threading.Thread(target=_write_everything)
    in_time.start()
    in_time.join(10)
    assert not in_time.is_alive()
    assert [row.comment for lines in slices for row, _ in lines] == ["written meanwhile"] * 3


def _write_everything() -> None:
    """What an open snapshot or lock would stop."""
    try:
        with transaction.atomic():
            Result.objects.update(comment="written meanwhile")
            if connection.vendor == "postgresql":
                connection.cursor().execute("LOCK TABLE results_result IN ACCESS EXCLUSIVE MODE")
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                assert cursor.fetchone()[0] == 0, "a reader holds the log"
    finally:
        connection.close()


@pytest.mark.django_db
def test_the_first_bytes_come_before_the_rows_were_read(client: Client, kinds: Kinds, monkeypatch: Any) -> None:
    """The head of a CSV needs no row; what takes time is asked for when the reader wants more."""
    asked: list[int] = []
    read = read_rows._slice

    def watched(*args: Any) -> list[Any]:
        asked.append(1)
        return read(*args)

    monkeypatch.setattr(read_rows, "_slice", watched)
    chunks = iter(ask(client, "csv").streaming_content)
    assert next(chunks).startswith(b"\xef\xbb\xbfNumber,")
    assert asked == []
    next(chunks)
    assert asked == [1]


@pytest.mark.parametrize("write", [as_csv, as_json_lines])
def test_writing_a_hundred_thousand_rows_takes_no_memory_to_speak_of(write: Any) -> None:
    """The same thousand rows again and again, so that only what was written could grow."""
    columns = [COLUMN_BY_KEY[key] for key in ("id", "comment", "met_emma_before", "problems_in_order")]
    rows: list[Any] = [(Result(pk=place, comment=COMMENT), read_rows.Beside()) for place in range(1000)]
    memory, process, size = [], psutil.Process(), 0
    for place, chunk in enumerate(write(itertools.repeat(rows, 100), columns)):
        size += len(chunk)
        if place % 50 == 0:
            memory.append(process.memory_info().rss)
    assert size > 15_000_000
    assert max(memory[2:]) - memory[2] < 20_000_000


@pytest.mark.django_db
def test_slices_are_of_a_thousand_rows_and_the_first_is_short(owner: User, kinds: Kinds) -> None:
    full = kinds.full
    Result.objects.bulk_create(
        Result(
            tester=full.tester,
            script=full.script,
            script_version=full.script_version,
            build=full.build,
            draft_uuid=f"00000000-0000-4000-8000-{place:012}",
            called_at=full.called_at - timedelta(minutes=place),
            never_started=True,
        )
        for place in range(1200)
    )
    sizes = [len(lines) for lines in read_rows.read_rows(owner, Asked(Filters()), COLUMNS)]
    assert sizes == [100, 1000, 104]
    ids = itertools.chain.from_iterable(read_rows.read_rows(owner, Asked(Filters()), [COLUMN_BY_KEY["id"]]))
    assert len({row.id for row, _ in ids}) == 1204


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("format", ["csv", "jsonl"])
@pytest.mark.parametrize("what", ["role", "account", "training"])
def test_a_stream_breaks_off_where_its_reader_lost_the_right(
    kinds: Kinds, what: str, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends with an error, by which the server breaks the connection off: nothing that looks whole."""
    monkeypatch.setattr(read_rows, "ROWS_AT_FIRST", 1)
    reader = make.user("olga@example.test", Role.EVAL_TEAM, is_trained=True)
    chunks = iter(ask(make.client_of(reader), format, columns=["called_at", "comment"]).streaming_content)
    got = next(chunks) + (next(chunks) if format == "csv" else b"")  # the head; the first slice
    assert kinds.full.called_at.isoformat()[5:10].encode() in got
    take_away(reader, what)
    make.result(kinds.full.tester, make.script(area="safety"), kinds.full.build, comment="filed afterwards")
    with pytest.raises(LostRightError):
        got += b"".join(chunks)
    assert got.count(b"\n") == (3 if format == "csv" else 1), "the head, and a comment of two lines"
    assert b"filed afterwards" not in got


@pytest.mark.django_db(transaction=True)
def test_what_was_read_before_the_right_was_lost_is_not_given_away_either(
    kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = make.user("olga@example.test", Role.EVAL_TEAM)
    read = read_rows._with_what_stands_beside

    def then_lost(*args: Any) -> Any:
        found = read(*args)
        reader.groups.clear()
        return found

    monkeypatch.setattr(read_rows, "_with_what_stands_beside", then_lost)
    with pytest.raises(LostRightError):
        next(read_rows.read_rows(reader, Asked(Filters()), COLUMNS))


@pytest.mark.django_db
def test_who_changes_role_or_is_trained_meanwhile_reads_on(owner: User, kinds: Kinds) -> None:
    """What they gained comes with the next export: this one stays the one that the audit trail tells of."""
    slices = read_rows.read_rows(owner, Asked(Filters()), COLUMNS)
    assert not owner.is_trained
    owner.groups.set([group_of(Role.MANAGER)])
    Training.objects.create(user=owner, starts_on="2020-01-01")
    make.result(kinds.full.tester, make.script(area="safety"), kinds.full.build)
    assert len(list(itertools.chain(*slices))) == 4


@pytest.mark.django_db
def test_a_workbook_whose_owner_lost_the_right_while_it_was_written_is_refused(
    client: Client, owner: User, kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = Workbook.add

    def then_lost(book: Workbook, lines: Any) -> None:
        add(book, lines)
        owner.groups.clear()

    monkeypatch.setattr(read_rows, "ROWS_AT_FIRST", 1)
    monkeypatch.setattr(Workbook, "add", then_lost)
    assert ask(client, "xlsx").status_code == 403
