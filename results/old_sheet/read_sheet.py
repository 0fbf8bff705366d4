"""Read the old results sheet: a CSV or XLSX file in, rows of text with their line numbers out.

Nothing is judged here but whether this is the sheet at all. The file is read as a stream. Whatever is
wrong with it as a file is one sentence, in a SheetError.
"""

from __future__ import annotations

import codecs
import csv
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from results.cells import restored
from results.export.columns import COLUMNS as EXPORTED
from scripts_catalog import taxonomy

MOST_BYTES = 100_000_000
MOST_UNPACKED_BYTES = 300_000_000
MOST_ROWS = 1_000_000
MOST_COLUMNS = 200
MOST_CELLS_IN_A_ROW = 16_384  # as wide as a spreadsheet can be; what lies beyond MOST_COLUMNS must be empty
MOST_EMPTY_ROWS = 20_000
MOST_SHEETS = 30
MOST_ROW_CHARACTERS = 2_000_000
HEADER_WITHIN = 20
SEPARATORS = ",;\t|"
UNPACKS_TO_TOO_MUCH = "The workbook unpacks to more than can be read. Save the sheet as CSV."

csv.field_size_limit(MOST_ROW_CHARACTERS)


class SheetError(Exception):
    """The file can't be read as the results sheet. The message is a sentence for the person who chose it."""


@dataclass(frozen=True)
class Column:
    """A column of the sheet. Headers are compared by their letters and digits alone, so spelling may vary.

    `is_of_exports`: it came with our own exports; that a team's old sheet lacks it is nothing to tell.
    """

    key: str
    name: str
    other_names: tuple[str, ...] = ()
    is_required: bool = False
    is_of_exports: bool = False


def problems_key(group: taxonomy.TagGroup) -> str:
    return f"problems:{group.key}"


def _problems_column(group: taxonomy.TagGroup) -> Column:
    others = (f"Problems: {group.label_studio}",) if group.label_studio else ()
    return Column(problems_key(group), f"Problems: {group.name}", others)


# In the order of the sheet, which is also the order in which faults are reported.
COLUMNS = (
    Column("timestamp", "Timestamp", ("Date and time", "Time"), is_required=True),
    Column("tester", "Tester", ("Tester email", "Email address"), is_required=True),
    Column("script", "Script", is_required=True),
    Column("build", "Emma build", ("Build",), is_required=True),
    Column("link", "Recording link", ("Recording", "Link")),
    Column("never_started", "Never started", is_of_exports=True),
    *(Column(found.key, found.name, is_required=found.key != "vision") for found in taxonomy.DIMENSIONS),
    Column("camera_used", "Camera used", is_of_exports=True),
    Column("camera_note", "Camera note", is_of_exports=True),
    *(_problems_column(group) for group in taxonomy.TAG_GROUPS),
    Column("biggest", "Biggest problem"),
    Column("order", "Problems in order", is_of_exports=True),
    Column("comment", "Comment", ("Comments",)),
    Column("returning", "Returning user?"),
    Column("worst_moment", "Worst moment"),
    Column("minute_in_call", "Minute in call"),
    Column("browser", "Browser", is_of_exports=True),
    Column("device", "Device", is_of_exports=True),
    Column("connection", "Connection", is_of_exports=True),
)
# Columns that a spreadsheet may show as boxes; one that nobody ticked says nothing of its row.
BOXES = ("returning", "camera_used", "never_started")
PLACE_OF = {column.key: place for place, column in enumerate(COLUMNS)}
NAME_OF = {column.key: column.name for column in COLUMNS}


def _bare(header: str) -> str:
    words = unicodedata.normalize("NFKC", header).casefold().replace("&", "and")
    return "".join(character for character in words if character.isalnum())


_PLACE_OF_HEADER = {
    _bare(name): PLACE_OF[column.key] for column in COLUMNS for name in (column.name, *column.other_names)
}
_PLACES_OF_BOXES = frozenset(PLACE_OF[key] for key in BOXES)
# Of these an export only repeats what other columns of it say, so that nothing is lost with them.
_REPEATED = frozenset(map(_bare, ("Call date", "Script title", "Area", "Order known")))
# What our exports tell beside is never taken from a sheet: the site makes it anew, or it stays behind.
_LEFT_BEHIND = {_bare(column.name): column.name for column in EXPORTED}


@dataclass(frozen=True)
class Row:
    """One row of the sheet: its record number as a spreadsheet shows it, and its text by column key.

    `as_written`: the cells as they stand in the file, where an apostrophe was taken from any of them.
    """

    line: int
    cells: tuple[str, ...]
    as_written: tuple[str, ...] | None = None

    def __getitem__(self, key: str) -> str:
        return self.cells[PLACE_OF[key]]


@dataclass(frozen=True)
class Sheet:
    """What the header says, and the rows below it, to be gone through once. `unsaid`: keys of absent columns.

    `left_behind`: what an export of this site tells and no import takes; `ignored`: what is not known at all.
    """

    ignored: tuple[str, ...]
    left_behind: tuple[str, ...]
    absent: tuple[str, ...]
    unsaid: frozenset[str]
    rows: Iterator[Row]
    encoding: str = ""

    def notices(self) -> list[str]:
        """What the reader should know though nothing is wrong."""
        said = []
        if self.ignored:
            said.append(f"Columns that are not part of the results sheet are ignored: {', '.join(self.ignored)}.")
        if self.left_behind:
            said.append(f"These columns of an export are not imported: {', '.join(self.left_behind)}.")
        if self.absent:
            said.append(f"The sheet has no column {', '.join(self.absent)}; it is read as empty.")
        if self.encoding == "cp1252":
            said.append("The file is not UTF-8. It was read as Western European (Windows): look at the accents.")
        return said


@dataclass(frozen=True)
class _Header:
    """Where each of our columns stands in the file, and the other headers: of exports, and none of ours."""

    positions: tuple[int | None, ...]
    ignored: tuple[str, ...]
    left_behind: tuple[str, ...]

    @classmethod
    def of(cls, cells: Sequence[str]) -> _Header:
        positions: list[int | None] = [None] * len(COLUMNS)
        others = []
        for position, text in enumerate(cells):
            place = _PLACE_OF_HEADER.get(_bare(text))
            if place is None:
                others.append(text)
            elif positions[place] is not None:
                raise SheetError(f"The column {COLUMNS[place].name} is there twice. Rename or remove one of them.")
            else:
                positions[place] = position
        ignored = (text.strip()[:60] for text in others if text.strip() and _bare(text) not in _LEFT_BEHIND)
        left = (_LEFT_BEHIND[bare] for bare in map(_bare, others) if bare in _LEFT_BEHIND and bare not in _REPEATED)
        return cls(tuple(positions), tuple(ignored), tuple(left))

    @property
    def absent(self) -> list[Column]:
        return [column for column, position in zip(COLUMNS, self.positions, strict=True) if position is None]

    @property
    def known(self) -> int:
        return len(COLUMNS) - len(self.absent)

    def cells_of(self, cells: Sequence[str]) -> tuple[str, ...]:
        """The cells of our columns, in our order; empty where the file has no such column, or the row ends before."""
        too_short = max(0, self.width - len(cells))
        return self._pick([*cells, *("",) * (too_short + 1)])

    @cached_property
    def width(self) -> int:
        return max(at for at in self.positions if at is not None) + 1

    @cached_property
    def _pick(self) -> Callable[[Sequence[str]], tuple[str, ...]]:
        """An absent column is the last cell, a blank one that is put behind all others."""
        return itemgetter(*(-1 if at is None else at for at in self.positions))


Records = Iterator[tuple[int, Sequence[str]]]


def read_sheet(path: Path) -> Sheet:
    """Open the results sheet: its header now, its rows as they are asked for. Raises SheetError, also midway."""
    with path.open("rb") as file:
        start = file.read(4)
    if path.stat().st_size > MOST_BYTES:
        raise SheetError(f"The file is larger than {MOST_BYTES // 1_000_000} MB. Divide it into smaller sheets.")
    if not start:
        raise SheetError("The file is empty.")
    if start.startswith(b"\xd0\xcf\x11\xe0"):
        raise SheetError("This is an old .xls file, or it has a password. Save it as .xlsx without one, or as CSV.")
    if start.startswith(b"PK"):
        return _sheet_of(_xlsx_records(path), "")
    encoding = _encoding_of(path)
    return _sheet_of(_csv_records(path, encoding), encoding)


def _sheet_of(records: Records, encoding: str) -> Sheet:
    header = None
    for line, cells in records:
        if any(cell.strip() for cell in cells):
            header = _Header.of(cells)
            break
        if line >= HEADER_WITHIN:
            break
    if header is None:
        raise SheetError("The file has no header: its first row should name the columns.")
    if not header.known:
        raise SheetError("This does not look like the results sheet: its first row names none of the columns.")
    lacking = [column.name for column in header.absent if column.is_required]
    if lacking:
        raise SheetError(f"This does not look like the results sheet: it has no column {', '.join(lacking)}.")
    absent = tuple(column.name for column in header.absent if not column.is_of_exports)
    unsaid = frozenset(column.key for column in header.absent)
    return Sheet(header.ignored, header.left_behind, absent, unsaid, _rows(records, header), encoding)


def _rows(records: Records, header: _Header) -> Iterator[Row]:
    """The rows that say anything. A box that nobody ticked says nothing."""
    count = empty = 0
    for line, cells in records:
        written = header.cells_of(cells) if cells else ()
        if not _says_anything(written):
            empty += 1
            if empty > MOST_EMPTY_ROWS:
                raise SheetError(f"More than {MOST_EMPTY_ROWS:,} empty rows end at row {line}. Delete them.")
            continue
        empty = 0
        count += 1
        if count > MOST_ROWS:
            raise SheetError(f"The sheet has more than {MOST_ROWS:,} rows. Divide it into smaller sheets.")
        yield _row(line, written)


def _says_anything(cells: tuple[str, ...]) -> bool:
    return any(text and not text.isspace() and place not in _PLACES_OF_BOXES for place, text in enumerate(cells))


def _row(line: int, written: tuple[str, ...]) -> Row:
    """The row, without the apostrophes that our exports put before what a spreadsheet would run."""
    cells = tuple([restored(text) for text in written])
    return Row(line, cells) if cells == written else Row(line, cells, as_written=written)


# --- CSV ---------------------------------------------------------------------------------------


def _encoding_of(path: Path) -> str:
    """UTF-8 or UTF-16 where the bytes say so; whatever is neither was saved by an old Windows program."""
    with path.open("rb") as file:
        start = file.read(4)
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        if len(start) == 4 and start[1] == start[3] == 0 and start[0]:
            return "utf-16-le"
        if len(start) == 4 and start[0] == start[2] == 0 and start[1]:
            return "utf-16-be"
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while chunk := file.read(1 << 20):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8-sig"


def _csv_records(path: Path, encoding: str) -> Records:
    """Records counted as a spreadsheet shows them: a quoted line break does not begin a new one."""
    # An old Windows program leaves five bytes undefined; a mark in their place loses less than a refusal.
    errors = "replace" if encoding == "cp1252" else "strict"
    line = 0
    with path.open(encoding=encoding, errors=errors, newline="") as file:
        try:
            separator = _separator_of(file)
            lines = _Lines(file)
            for cells in csv.reader(lines, delimiter=separator, strict=True):
                line += 1
                if len(cells) > MOST_CELLS_IN_A_ROW or any(cells[MOST_COLUMNS:]):
                    raise _too_wide(line)
                yield line, cells
                lines.begin_row()
        except _RowTooLongError as cause:
            raise SheetError(
                f"Row {line + 1} is too long to be read, or a quotation mark there is not closed."
            ) from cause
        except csv.Error as cause:
            raise SheetError(
                f"Row {line + 1} can't be read: a quotation mark there is not closed, or stands inside a quoted cell."
            ) from cause
        except UnicodeError as cause:
            raise SheetError(
                f"The text after row {line} is damaged: it is not {encoding.upper()} throughout."
            ) from cause


def _too_wide(line: int) -> SheetError:
    return SheetError(f"Row {line} has more than {MOST_COLUMNS} columns.")


class _RowTooLongError(Exception):
    """A row goes on for longer than any row of the sheet does."""


class _Lines:
    """The lines of a file for a CSV reader, which would take a row of any length into memory."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._left = MOST_ROW_CHARACTERS

    def begin_row(self) -> None:
        self._left = MOST_ROW_CHARACTERS

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line: str = self._file.readline(self._left + 1)
        self._left -= len(line)
        if self._left < 0:
            raise _RowTooLongError
        if not line:
            raise StopIteration
        return line


def _separator_of(file: Any) -> str:
    """The separator under which the header shows most of our columns. Leaves the file where the records begin."""
    start = file.tell()
    first = file.readline(MOST_ROW_CHARACTERS)
    if re.fullmatch(r"sep=.\s*", first):  # Excel's own hint, which it does not count as a row
        return str(first[4])
    file.seek(start)
    best, most = ",", -1
    for separator in SEPARATORS:
        known = _known_columns(file, separator)
        file.seek(start)
        if known > most:
            best, most = separator, known
    return best


def _known_columns(file: Any, separator: str) -> int:
    try:
        for cells in islice(csv.reader(_Lines(file), delimiter=separator), HEADER_WITHIN):
            if any(cell.strip() for cell in cells):
                return sum(_bare(cell) in _PLACE_OF_HEADER for cell in cells[:MOST_COLUMNS])
    except (csv.Error, _RowTooLongError):
        return -1
    return -1


# --- XLSX --------------------------------------------------------------------------------------


def _xlsx_records(path: Path) -> Records:
    """The rows of the sheet in the workbook whose header knows most of our columns."""
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(part.file_size for part in archive.infolist()) > MOST_UNPACKED_BYTES:
                raise SheetError(UNPACKS_TO_TOO_MUCH)
            _check_the_width(archive)
            has_formulas = _has_formulas(archive)
        yield from _numbered(_values(path, has_formulas))
    except SheetError:
        raise
    except Exception as cause:  # a damaged workbook fails inside zip, XML or openpyxl, in any way there is
        raise SheetError("The workbook is damaged or is not an .xlsx file. Open it and save it again.") from cause


def _numbered(rows: Iterable[Sequence[str]]) -> Records:
    """Number the rows; neither a row said to lie millions below the others, nor one long text that stands in the
    file once and is shown in every cell, may keep us reading.
    """
    characters = 0
    for line, cells in enumerate(rows, 1):
        characters += sum(map(len, cells))
        if characters > MOST_UNPACKED_BYTES:
            raise SheetError(UNPACKS_TO_TOO_MUCH)
        if line > MOST_ROWS + HEADER_WITHIN:
            raise SheetError(f"The sheet has more than {MOST_ROWS:,} rows. Divide it into smaller sheets.")
        yield line, cells


BYTES_OF_A_TAG = 100
_ROW_TAG = re.compile(rb"</?(?:[\w.-]+:)?row[\s/>]")
_CELL_TAG = re.compile(rb"<(?:[\w.-]+:)?c[\s/>]")


def _check_the_width(archive: zipfile.ZipFile) -> None:
    """Refuse a row of millions of cells before it is read, which takes all its cells into memory at once."""
    for part in archive.namelist():
        if not part.startswith("xl/worksheets/"):
            continue
        cells, rest = 0, b""
        with archive.open(part) as file:
            while chunk := file.read(1 << 20):
                whole, begun, tail = (rest + chunk).rpartition(b"<")
                rest = (begun + tail)[:BYTES_OF_A_TAG]  # its name may go on in the next chunk
                first, *others = _ROW_TAG.split(whole)
                cells += len(_CELL_TAG.findall(first))
                widest = max([cells, *(len(_CELL_TAG.findall(row)) for row in others)])
                if widest > MOST_CELLS_IN_A_ROW:
                    raise SheetError(f"The workbook has a row of more than {MOST_COLUMNS} columns.")
                cells = len(_CELL_TAG.findall(others[-1])) if others else cells


def _has_formulas(archive: zipfile.ZipFile) -> bool:
    """Whether any sheet holds a formula: then a second reading is needed for those without a stored value."""
    for part in archive.namelist():
        if not part.startswith("xl/worksheets/"):
            continue
        tail = b""
        with archive.open(part) as file:
            while chunk := file.read(1 << 20):
                if b"<f>" in tail + chunk or b"<f " in tail + chunk:
                    return True
                tail = chunk[-2:]
    return False


def _values(path: Path, has_formulas: bool) -> Iterator[list[str]]:
    """The text of each row. A comment that begins with "=" was stored as a formula: its words are the text."""
    with _workbook(path, data_only=True) as values:
        sheet = _results_sheet(values)
        if not has_formulas:
            for cells in _cell_rows(values, sheet):
                yield [_text_of(cell) for cell in cells]
            return
        with _workbook(path, data_only=False) as formulas:
            for cells, written in zip(_cell_rows(values, sheet), _cell_rows(formulas, sheet), strict=True):
                yield [
                    _text_of(typed if cell.value is None else cell) for cell, typed in zip(cells, written, strict=True)
                ]


@contextmanager
def _workbook(path: Path, *, data_only: bool) -> Iterator[Any]:
    """The workbook, read as a file: openpyxl refuses paths without its extensions, and a kept upload has none."""
    import openpyxl  # 6 MB that a web process without imports does without

    with path.open("rb") as file:
        workbook = openpyxl.load_workbook(file, read_only=True, data_only=data_only, keep_links=False)
        try:
            yield workbook
        finally:
            workbook.close()


def _cell_rows(workbook: Any, sheet: int) -> Iterator[Sequence[Any]]:
    worksheet = workbook.worksheets[sheet]
    worksheet.reset_dimensions()  # programs write wrong ones, and rows beyond them would be lost
    before = None
    for cells in worksheet.iter_rows(max_col=MOST_COLUMNS):
        # Rows that are not in the file are made up, each as the very same tuple: there is nothing to read in them.
        yield () if cells is before else cells
        before = cells


def _results_sheet(workbook: Any) -> int:
    """The team's workbook holds more sheets than the results; ours is the one whose header fits best."""
    if not workbook.worksheets:
        raise SheetError("The workbook holds no sheet with cells.")
    known = [_columns_known(workbook, place) for place in range(min(len(workbook.worksheets), MOST_SHEETS))]
    return known.index(max(known))


def _columns_known(workbook: Any, sheet: int) -> int:
    for line, cells in enumerate(_cell_rows(workbook, sheet), 1):
        texts = [_text_of(cell) for cell in cells]
        if any(text.strip() for text in texts):
            return sum(_bare(text) in _PLACE_OF_HEADER for text in texts)
        if line >= HEADER_WITHIN:
            break
    return 0


def _text_of(cell: Any) -> str:
    """A cell as somebody would have typed it: whole numbers without a point, dates year first."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, str):
        return _unescaped(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return _text_of_number(value, cell.number_format)
    if isinstance(value, datetime):
        return value.replace(microsecond=0).isoformat(" ")
    return str(value)


def _text_of_number(value: float, shown_as: str | None) -> str:
    """A build typed as 2026.10 is the number 2026.1: only the format of the cell still knows the last digit."""
    decimals = re.fullmatch(r"0\.(0+)", shown_as or "")
    if decimals and not value.is_integer():
        return f"{value:.{len(decimals[1])}f}"
    return str(int(value)) if value.is_integer() else repr(value)


def _unescaped(text: str) -> str:
    """XLSX writes characters that XML can't hold as _x000B_. Half of one (_xD800_) is no text and is left out."""
    if "_x" not in text:
        return text
    told = re.sub(r"_x([0-9A-Fa-f]{4})_", lambda code: chr(int(code[1], 16)), text)
    return told.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
