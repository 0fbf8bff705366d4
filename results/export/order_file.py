"""Begin an export: what is asked for is written into the audit trail before the first row is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

from django.db import transaction

from emma_eval.accounts import audit
from emma_eval.accounts.models import User
from emma_eval.accounts.throttle import Limit
from emma_eval.outbox.enqueue import enqueue
from results.listing.chips import chips_of
from results.listing.choices import Choices
from results.listing.list_results import MOST_COUNTED, Asked
from results.models import Export, Result

from .columns import COLUMNS, Column
from .read_rows import Line

# Nobody needs more, and each may read the whole list.
EXPORTS = Limit("export", 12, timedelta(minutes=10))
MAKE_FILE = "results.make_file"
MOST_AT_ONCE = 50_000  # rows of a workbook that are written while the page waits


class Format(StrEnum):
    """What a file can be. CSV and JSON lines are streamed however long they are."""

    CSV = "csv"
    JSON_LINES = "jsonl"
    WORKBOOK = "xlsx"


FORMAT_NAMES = {Format.CSV: "CSV", Format.JSON_LINES: "JSON lines", Format.WORKBOOK: "XLSX"}


@dataclass(frozen=True)
class Wanted:
    """What of the list is wanted, and how. `count` was counted no further than `counted_to`."""

    asked: Asked
    choices: Choices
    format: Format
    columns: Sequence[Column]
    count: int
    counted_to: int = MOST_COUNTED

    @property
    def is_counted(self) -> bool:
        return self.count <= self.counted_to

    @property
    def count_in_words(self) -> str:
        return f"{self.count:,}" if self.is_counted else f"more than {self.counted_to:,}"


def note_export(user: User, wanted: Wanted) -> None:
    """One line of the audit trail. Only the trained may read it where the export tells of Safety."""
    are_all = len(wanted.columns) == len(COLUMNS)
    audit.record(
        user,
        "exported results",
        is_safety=_may_tell_of_safety(user, wanted),
        script=wanted.asked.filters.script,
        format=FORMAT_NAMES[wanted.format],
        rows=wanted.count_in_words,
        filters=[chip.words for chip in chips_of(wanted.asked, wanted.choices)],
        columns="all" if are_all else [column.name for column in wanted.columns],
    )


def _may_tell_of_safety(user: User, wanted: Wanted) -> bool:
    """By its rows; an export without a row may tell of it by its filters alone, and one by words that were typed."""
    is_by_its_filters = not wanted.count or bool(wanted.asked.filters.text)
    return user.is_trained and (is_by_its_filters or _holds_covered_rows(user, wanted.asked))


def _holds_covered_rows(user: User, asked: Asked) -> bool:
    return asked.filters.narrow(Result.objects.visible_to(user).covered()).exists()


def note_the_end(user: User, wanted: Wanted, slices: Iterable[list[Line]]) -> Iterator[list[Line]]:
    """Let slices of a stream through; at its end a second line says how many rows they were, and if they were all."""
    rows, is_whole = 0, False
    try:
        for lines in slices:
            rows += len(lines)
            yield lines
        is_whole = True
    finally:  # also where the reader goes away, or lost the right
        audit.record(
            user,
            "ended an export",
            is_safety=_may_tell_of_safety(user, wanted),
            script=wanted.asked.filters.script,
            format=FORMAT_NAMES[wanted.format],
            rows=f"{rows:,}",
            whole=is_whole,
        )


@transaction.atomic
def order_file(user: User, wanted: Wanted) -> Export:
    """Have a worker make the file: the row of the outbox, the line of the audit trail and the export, or none."""
    export = Export(
        owner=user,
        query=replace(wanted.asked, filters=wanted.asked.filters.as_of_now()).query(),
        columns=[column.key for column in wanted.columns],
        total=wanted.count,
        tells_of_safety=user.is_trained,
    )
    export.work = enqueue(MAKE_FILE, export=str(export.pk))
    export.save(force_insert=True)
    note_export(user, wanted)
    return export
