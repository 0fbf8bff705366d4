"""Write an export as a workbook, row by row, so that its size costs time and disk but hardly memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from results.cells import neutralised

from .columns import Cell, Column
from .read_rows import Line

MOST_ROWS = 1_048_575  # as many as a sheet holds, beside its header
MOST_CHARACTERS = 32_767  # as many as a cell holds, counted as UTF-16 does
MOST_DIGITS = 10**15  # from here on a spreadsheet rounds whole numbers
CUT = " …"
READ_AS_TYPED = dict.fromkeys(("strings_to_numbers", "strings_to_formulas", "strings_to_urls"), False)


class Workbook:
    """A file with one sheet, "Results". What was not written to its end is no workbook."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        import xlsxwriter  # memory that a web process without workbooks does without

        told = {"constant_memory": True, "tmpdir": str(path.parent), "remove_timezone": True, **READ_AS_TYPED}
        self._book = xlsxwriter.Workbook(str(path), {**told, "default_date_format": "yyyy-mm-dd hh:mm:ss"})
        self._book.use_zip64()  # a sheet of a million long rows is larger than a plain archive can tell
        self._sheet = self._book.add_worksheet("Results")
        self._whole = self._book.add_format({"num_format": "0"})
        self._day = self._book.add_format({"num_format": "yyyy-mm-dd"})
        self._says = [column.cell for column in columns]
        self.rows = 0
        head = self._book.add_format({"bold": True, "bottom": 1})
        self._sheet.freeze_panes(1, 0)
        for place, column in enumerate(columns):
            self._sheet.set_column(place, place, column.width)
            self._sheet.write_string(0, place, column.name, head)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self._sheet.autofilter(0, 0, max(self.rows, 1), len(self._says) - 1)
            self._book.close()

    def add(self, lines: list[Line]) -> None:
        for row, beside in lines:
            self.rows += 1
            for place, say in enumerate(self._says):
                self._write(place, say(row, beside))

    def _write(self, place: int, cell: Cell) -> None:
        if isinstance(cell, str):
            if cell:
                self._sheet.write_string(self.rows, place, fitting(neutralised(cell)))
        elif isinstance(cell, datetime):
            self._sheet.write_datetime(self.rows, place, cell)
        elif isinstance(cell, date):
            self._sheet.write_datetime(self.rows, place, cell, self._day)
        elif cell is not None and cell < MOST_DIGITS:
            self._sheet.write_number(self.rows, place, cell, self._whole)
        elif cell is not None:
            self._sheet.write_string(self.rows, place, str(cell))


def fitting(text: str) -> str:
    """As much of a text as a cell holds; a mark at its end says that there is more."""
    if len(text) * 2 <= MOST_CHARACTERS or len(text.encode("utf-16-le")) <= MOST_CHARACTERS * 2:
        return text
    room = (MOST_CHARACTERS - len(CUT)) * 2
    return text.encode("utf-16-le")[:room].decode("utf-16-le", "ignore") + CUT
