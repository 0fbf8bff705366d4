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

from emma_eval.accounts.models import User
from results.export import read_rows
from results.export.columns import COLUMN_BY_KEY, COLUMNS
from results.export.write_lines import as_csv, as_json_lines
from results.listing.filters import Filters
from results.listing.list_results import Asked
from results.models import Result

from .asking import ask
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
