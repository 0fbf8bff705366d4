"""Write an export as text: CSV for spreadsheets and the import, JSON lines for programs. Both are streams."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from results.cells import neutralised

from .columns import Cell, Column
from .read_rows import Line

BYTE_ORDER_MARK = "\ufeff"  # by which spreadsheets know that it is UTF-8
CHUNK_CHARACTERS = 64_000


def as_csv(slices: Iterable[list[Line]], columns: Sequence[Column]) -> Iterator[bytes]:
    """RFC 4180, with the byte order mark. The header comes at once, before a row was looked for."""
    written = _Chunks()
    writer = csv.writer(written.text, lineterminator="\r\n")
    written.text.write(BYTE_ORDER_MARK)
    writer.writerow([column.name for column in columns])
    yield written.take()
    says = [column.cell for column in columns]
    for lines in slices:
        for row, beside in lines:
            writer.writerow([_as_text(say(row, beside)) for say in says])
            if written.is_full:
                yield written.take()
        yield written.take()


def as_json_lines(slices: Iterable[list[Line]], columns: Sequence[Column]) -> Iterator[bytes]:
    """One object for each row, with typed values, exactly as filed: nothing is neutralised."""
    written = _Chunks()
    said = [(column.key, column.raw) for column in columns]
    for lines in slices:
        for row, beside in lines:
            found = {key: say(row, beside) for key, say in said}
            written.text.write(json.dumps(found, ensure_ascii=False, separators=(",", ":")) + "\n")
            if written.is_full:
                yield written.take()
        yield written.take()


class _Chunks:
    """Text that is written bit by bit and taken away as bytes."""

    def __init__(self) -> None:
        self.text = io.StringIO(newline="")

    @property
    def is_full(self) -> bool:
        return self.text.tell() >= CHUNK_CHARACTERS

    def take(self) -> bytes:
        chunk = self.text.getvalue().encode()
        self.text.seek(0)
        self.text.truncate()
        return chunk


def _as_text(cell: Cell) -> str:
    if isinstance(cell, str):
        return neutralised(cell) if cell else cell
    if isinstance(cell, date):
        return cell.isoformat()
    return "" if cell is None else str(cell)
