"""Reading a file: any separator, encoding and order of columns that a spreadsheet writes, and broken files."""

from __future__ import annotations

import io
import random
import zipfile
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from time import thread_time
from typing import Any

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from results.export.columns import COLUMN_BY_KEY
from results.export.columns import COLUMNS as EXPORTED
from results.export.export_form import imported
from results.old_sheet import read_sheet as module
from results.old_sheet.read_sheet import Row, SheetError, read_sheet
from tests.results.old_sheet.sheet import COLUMNS, GOLDEN, as_csv, as_xlsx, golden_rows, row


def rows_of(path: Path) -> list[Row]:
    return list(read_sheet(path).rows)


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "sheet.csv"
    path.write_bytes(content)
    return path


HEADER = ",".join(COLUMNS)
CELLS = ",".join(str(value) for value in row().values())


def test_it_reads_every_row_of_the_team_s_sheet() -> None:
    found = rows_of(GOLDEN)
    assert len(found) == 240
    assert [one.line for one in found] == list(range(2, 242))
    assert found[9]["comment"] == 'She said "one moment" and then nothing for 9 s\nI hung up'
    assert found[0]["timestamp"] == "2026-03-02T14:36:00+08:00"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_it_finds_out_separator_and_encoding(tmp_path: Path, separator: str, encoding: str) -> None:
    path = as_csv(tmp_path / "s.csv", golden_rows(), separator=separator, encoding=encoding)
    assert rows_of(path) == rows_of(GOLDEN)


def test_what_is_no_utf8_is_read_as_an_old_windows_file_and_said(tmp_path: Path) -> None:
    path = as_csv(tmp_path / "s.csv", [row(comment="voix trop lente à la fin, 5€")], encoding="cp1252")
    sheet = read_sheet(path)
    assert [one["comment"] for one in sheet.rows] == ["voix trop lente à la fin, 5€"]
    assert "not UTF-8" in sheet.notices()[0]


def test_bytes_that_no_encoding_knows_lose_only_themselves(tmp_path: Path) -> None:
    path = written(tmp_path, f"{HEADER}\n{CELLS}\n".encode().replace(b"She waited", b"She \x81\xe9waited"))
    assert rows_of(path)[0]["comment"].endswith("éwaited for me.")


def test_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    columns = list(COLUMNS)
    random.Random(3).shuffle(columns)
    assert rows_of(as_csv(tmp_path / "s.csv", golden_rows(), columns=columns)) == rows_of(GOLDEN)


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("Timestamp", " TIMESTAMP "),
        ("Listening & timing", "listening and  timing"),
        ("Problems: Content", "Problems (content)"),
        ("Problems: Voice & audio", "Problems: Speech quality"),
        ("Returning user?", "Returning user"),
        ("Emma build", "Emma Build:"),
        ("Vision", "Vision"),
    ],
)
def test_headers_are_compared_by_their_letters(tmp_path: Path, name: str, spelled: str) -> None:
    header = HEADER.replace(name, spelled, 1)
    found = read_sheet(written(tmp_path, f"{header}\n{CELLS}\n".encode()))
    assert found.ignored == found.absent == ()
    assert len(list(found.rows)) == 1


def test_columns_that_are_not_ours_are_named_and_ignored(tmp_path: Path) -> None:
    said = [{**row(), "Mood": "sunny", "": ""}]
    sheet = read_sheet(as_csv(tmp_path / "s.csv", said, columns=["Mood", *COLUMNS, "", ""]))
    assert sheet.ignored == ("Mood",)
    assert sheet.notices() == ["Columns that are not part of the results sheet are ignored: Mood."]
    assert next(sheet.rows)["tester"] == "ana@example.test"


def test_a_column_that_may_be_missing_is_named_and_read_as_empty(tmp_path: Path) -> None:
    columns = [column for column in COLUMNS if column not in {"Vision", "Worst moment"}]
    sheet = read_sheet(as_csv(tmp_path / "s.csv", [row()], columns=columns))
    assert sheet.absent == ("Vision", "Worst moment")
    assert next(sheet.rows)["vision"] == ""


def test_columns_of_our_exports_are_taken_and_those_that_stay_behind_are_named(tmp_path: Path) -> None:
    columns = [column.name for column in EXPORTED]
    sheet = read_sheet(as_csv(tmp_path / "s.csv", [{**dict.fromkeys(columns, ""), **row()}], columns=columns))
    assert sheet.notices() == [
        "These columns of an export are not imported: "
        "Number, Tester name, Script version, Kept recording, Moments, Filed at, Reviewed at, "
        "In review queue, Problems as reviewed, Biggest as reviewed."
    ]
    assert sheet.ignored == ()
    assert sheet.unsaid == frozenset()
    assert next(sheet.rows)["tester"] == "ana@example.test"


def test_an_export_without_the_columns_that_stay_behind_comes_with_no_notice(tmp_path: Path) -> None:
    columns = [column.name for column in (*imported(), COLUMN_BY_KEY["call_date"], COLUMN_BY_KEY["area"])]
    sheet = read_sheet(as_csv(tmp_path / "s.csv", [{**dict.fromkeys(columns, ""), **row()}], columns=columns))
    assert sheet.notices() == []


def test_a_sheet_without_the_columns_of_exports_is_told_nothing_of_them(tmp_path: Path) -> None:
    sheet = read_sheet(GOLDEN)
    assert sheet.notices() == []
    assert sheet.unsaid == {"never_started", "camera_used", "camera_note", "order", "browser", "device", "connection"}
    assert next(sheet.rows)["order"] == ""


@pytest.mark.parametrize("write", [as_csv, as_xlsx])
def test_an_apostrophe_that_an_export_put_there_is_taken_away_and_no_other(tmp_path: Path, write: Any) -> None:
    said = ["'=1+1", "''=1+1", "'tis late", "'+852 2345 6789", "'-3", "'", "'\t", "=1+1"]
    rows = list(read_sheet(write(tmp_path / "s", [row(comment=text) for text in said])).rows)
    assert [one["comment"] for one in rows] == [
        "=1+1",
        "'=1+1",
        "'tis late",
        "'+852 2345 6789",
        "'-3",
        "'",
        "\t",
        "=1+1",
    ]
    assert [one.as_written is not None for one in rows] == [True, True, False, False, False, False, True, False]


@pytest.mark.parametrize("box", ["Returning user?", "Camera used", "Never started"])
def test_a_box_that_nobody_ticked_is_no_row(tmp_path: Path, box: str) -> None:
    columns = [*COLUMNS, "Camera used", "Never started"]
    rows = [row(), {**dict.fromkeys(columns, ""), box: "FALSE"}]
    assert len(rows_of(as_csv(tmp_path / "s.csv", rows, columns=columns))) == 1


def test_lines_are_counted_as_a_spreadsheet_shows_them(tmp_path: Path) -> None:
    broken = CELLS.replace("She waited for me.", '"one\ntwo\n\nthree"')
    blank = "," * (len(COLUMNS) - 1)
    path = written(tmp_path, f"{HEADER}\n{broken}\n\n{blank}\n   {blank}\n{CELLS}\n".encode())
    assert [one.line for one in rows_of(path)] == [2, 6]


def test_a_box_that_nobody_ticked_makes_no_row(tmp_path: Path) -> None:
    unticked = {**dict.fromkeys(COLUMNS, ""), "Returning user?": "FALSE"}
    assert len(rows_of(as_csv(tmp_path / "s.csv", [row(), unticked, unticked]))) == 1


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_ends_a_row(tmp_path: Path, end: str) -> None:
    assert [one.line for one in rows_of(written(tmp_path, end.join([HEADER, CELLS, CELLS]).encode()))] == [2, 3]


def test_the_hint_that_excel_writes_about_the_separator_is_not_a_row(tmp_path: Path) -> None:
    path = written(tmp_path, f"sep=;\r\n{HEADER};\r\n{CELLS};\r\n".replace(",", ";").encode())
    assert [one.line for one in rows_of(path)] == [2]


def test_empty_columns_at_the_end_say_nothing(tmp_path: Path) -> None:
    sheet = read_sheet(written(tmp_path, f"{HEADER},,,\n{CELLS},,,\n{CELLS}\n".encode()))
    assert sheet.ignored == ()
    assert len(list(sheet.rows)) == 2


# --- workbooks ---------------------------------------------------------------------------------


def workbook(tmp_path: Path, *sheets: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)  # type: ignore[arg-type]
    for place, cells in enumerate(sheets):
        sheet = book.create_sheet(f"Sheet {place}")
        for line in cells:
            sheet.append(line)
    book.save(tmp_path / "s.xlsx")
    return tmp_path / "s.xlsx"


def test_a_workbook_says_what_the_text_says(tmp_path: Path) -> None:
    said = [row(comment="two\nlines"), row(content=3), row(comment="  ", voice=4.0)]
    path = as_xlsx(tmp_path / "s.xlsx", said)
    texts = [{**one, "Content": str(one["Content"]), "Voice & audio": "4"} for one in said]
    assert rows_of(path) == rows_of(as_csv(tmp_path / "s.csv", texts))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (datetime(2026, 3, 2, 15, 44), "2026-03-02 15:44:00"),
        (4.0, "4"),
        (4.5, "4.5"),
        (4, "4"),
        (True, "TRUE"),
        (False, "FALSE"),
        ("=SUM(A1:A9) is what she read out", "=SUM(A1:A9) is what she read out"),
        ("a_x000B_b", "a\x0bb"),
        ("a_xD800_b_xDFFF_", "ab"),
        ("_xD83D__xDE00_", "\U0001f600"),
        ("_x000", "_x000"),
    ],
)
def test_cells_are_read_as_somebody_would_have_typed_them(tmp_path: Path, value: Any, text: str) -> None:
    assert rows_of(as_xlsx(tmp_path / "s.xlsx", [row(comment=value)]))[0]["comment"] == text


def test_a_build_that_became_a_number_keeps_the_nought_that_the_sheet_shows(tmp_path: Path) -> None:
    path = as_xlsx(tmp_path / "s.xlsx", [row(build=2026.1)])
    book = openpyxl.load_workbook(path)
    book.active["D2"].number_format = "0.00"  # type: ignore[index]
    book.save(path)
    assert rows_of(path)[0]["build"] == "2026.10"


def test_a_formula_counts_with_the_value_that_was_stored(tmp_path: Path) -> None:
    path = as_xlsx(tmp_path / "s.xlsx", [row(content="=2+2")])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"]
    assert b"<f>2+2</f><v" in sheet
    parts["xl/worksheets/sheet1.xml"] = sheet.replace(b"<f>2+2</f><v />", b"<f>2+2</f><v>4</v>").replace(
        b"<f>2+2</f><v></v>", b"<f>2+2</f><v>4</v>"
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert rows_of(path)[0]["content"] == "4"


def test_the_results_are_found_among_the_other_sheets_of_a_workbook(tmp_path: Path) -> None:
    guide = [["Guide"], ["How to run a live test"]]
    scripts = [["Script", "Area", "Content"], ["small-talk", "Everyday talk", "x"]]
    results: list[list[Any]] = [[], list(COLUMNS), [], list(row().values())]
    assert [one.line for one in rows_of(workbook(tmp_path, guide, scripts, results))] == [4]


def test_a_wrong_size_written_in_the_workbook_hides_no_row(tmp_path: Path) -> None:
    path = as_xlsx(tmp_path / "s.xlsx", [row()] * 3)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"]
    assert b'<dimension ref="A1:U4"' in sheet
    parts["xl/worksheets/sheet1.xml"] = sheet.replace(b'"A1:U4"', b'"A1:B2"')
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert len(rows_of(path)) == 3


# --- what is no sheet --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\n\n\n", "no header"),
        (b"Name,Age\nAna,3\n", "names none of the columns"),
        (b"Timestamp,Tester,Script\n", "no column Emma build"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old .xls"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "does not look like"),
        (b"PK\x03\x04 not a workbook", "damaged"),
        (f"{HEADER},Content\n{CELLS},4\n".encode(), "Content is there twice"),
        (f'{HEADER}\n{CELLS}\n"{CELLS}\n{CELLS}\n'.encode(), "Row 3"),
        (f"{HEADER}\n{CELLS}\n".encode("utf-16")[:-1], "damaged"),
    ],
)
def test_what_is_no_sheet_is_said_in_a_sentence(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(SheetError, match=words) as caught:
        rows_of(written(tmp_path, content))
    assert str(caught.value).endswith(".")


def test_a_quotation_mark_that_is_never_closed_swallows_no_rows(tmp_path: Path) -> None:
    lines = [HEADER, *[CELLS] * 5, CELLS.replace("She waited", '"She waited'), *[CELLS] * 5]
    with pytest.raises(SheetError, match="Row 7 can't be read"):
        rows_of(written(tmp_path, "\n".join(lines).encode()))


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 1000)
    with pytest.raises(SheetError, match="larger than"):
        read_sheet(GOLDEN)


def test_too_many_rows_are_refused_in_both_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 3)
    for path in (as_csv(tmp_path / "s.csv", [row()] * 4), as_xlsx(tmp_path / "s.xlsx", [row()] * 4)):
        with pytest.raises(SheetError, match="more than 3 rows"):
            rows_of(path)


def test_a_row_said_to_lie_far_below_does_not_keep_us_counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 50)
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(COLUMNS)
    sheet.cell(1_000_000, 1, "x")
    book.save(tmp_path / "s.xlsx")
    with pytest.raises(SheetError, match="more than 50 rows"):
        rows_of(tmp_path / "s.xlsx")


@pytest.mark.parametrize(
    "content",
    [
        "," * 20_000_000,
        HEADER + "," * 3_000_000 + "\n",
        HEADER + "," * 500_000 + "\n",
        HEADER + "," * 200 + "Mood\n",
        f"{HEADER}\n{CELLS}{',' * 500_000}\n",
        f"{HEADER}\n{CELLS}{',' * 20_000_000}\n",
        f"{HEADER}\n" + '"\n",' * 5_000_000,
        f"{HEADER}\n" + "\n" * 20_000_000,
        "\n" * 20_000_000,
    ],
    ids=["commas", "wide header", "header", "one more", "row", "wide row", "quoted", "empty rows", "nothing"],
)
def test_endless_rows_are_refused_early(tmp_path: Path, content: str) -> None:
    path = written(tmp_path, content.encode())
    start = thread_time()
    with pytest.raises(SheetError):
        rows_of(path)
    assert thread_time() - start < 3


def test_many_empty_columns_and_a_comment_full_of_commas_are_no_fault(tmp_path: Path) -> None:
    said = CELLS.replace("She waited for me.", f'"{"," * 1_000}"') + "," * 1_000
    assert rows_of(written(tmp_path, f"{HEADER}\n{said}\n".encode()))[0]["comment"] == "," * 1_000


def with_rows(path: Path, rows: bytes) -> Path:
    """A workbook of the header, with these rows below it as they stand."""
    as_xlsx(path, [])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"]
    parts["xl/worksheets/sheet1.xml"] = sheet.replace(b"</sheetData>", rows + b"</sheetData>")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


CELL = b'<c t="inlineStr"><is><t>x</t></is></c>'


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (b'<row r="900000">' + CELL + b"</row>", "empty rows"),
        (b"".join(b'<row r="%d">%s</row>' % (at, CELL) for at in range(15_000, 1_040_000, 15_000)), "more than"),
        (b'<row r="2">' + b"<c/>" * 5_000_000 + b"</row>", "more than 200 columns"),
        (b'<row r="2"><c r="A2"/></row>' + b"<row>" + b'<c s="1"/>' * 20_000 + b"</row>", "more than 200 columns"),
    ],
    ids=["a gap", "many gaps", "a wide row", "a wide row among others"],
)
def test_endless_rows_of_a_workbook_cost_no_time(tmp_path: Path, rows: bytes, words: str) -> None:
    path = with_rows(tmp_path / "s.xlsx", rows)
    start = thread_time()
    with pytest.raises(SheetError, match=words):
        rows_of(path)
    assert thread_time() - start < 5


def test_one_long_text_in_every_row_is_not_read_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = as_xlsx(tmp_path / "s.xlsx", [row(comment="x" * 30_000)] * 50)
    assert len(rows_of(path)) == 50
    monkeypatch.setattr(module, "MOST_UNPACKED_BYTES", 1_000_000)
    with pytest.raises(SheetError, match="unpacks to more"):
        rows_of(path)


def test_a_gap_between_the_rows_of_a_workbook_is_passed_over(tmp_path: Path) -> None:
    path = with_rows(tmp_path / "s.xlsx", b'<row r="5000">' + CELL + b"</row>")
    assert [one.line for one in rows_of(path)] == [5000]


def test_a_header_with_half_a_character_can_be_said(tmp_path: Path) -> None:
    columns = [*COLUMNS, "Mood_xD800_"]
    sheet = read_sheet(as_xlsx(tmp_path / "s.xlsx", [{**row(), "Mood_xD800_": ""}], columns=columns))
    assert sheet.ignored == ("Mood",)


def test_a_workbook_that_unpacks_to_too_much_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_UNPACKED_BYTES", 5_000_000)
    with zipfile.ZipFile(tmp_path / "s.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 6_000_000)
    assert (tmp_path / "s.xlsx").stat().st_size < 10_000
    with pytest.raises(SheetError, match="unpacks to more"):
        rows_of(tmp_path / "s.xlsx")


def read_or_refuse(path: Path) -> None:
    """Nothing but rows of text or a SheetError may come of any file."""
    with suppress(SheetError):
        for found in read_sheet(path).rows:
            assert all(isinstance(text, str) for text in found.cells)


ANY_FILE = settings(max_examples=400, database=None, deadline=None, suppress_health_check=list(HealthCheck))
PIECES = [
    HEADER.encode(),
    CELLS.encode(),
    b'"',
    b"\n",
    b"\r",
    b",",
    b";",
    b"\t",
    b"\x00",
    b"\xff\xfe",
    b"PK\x03\x04",
    b"sep=;\n",
]


@ANY_FILE
@given(st.binary(max_size=400) | st.lists(st.sampled_from(PIECES) | st.binary(max_size=8), max_size=20).map(b"".join))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    read_or_refuse(written(tmp_path_factory.getbasetemp(), content))


@ANY_FILE
@given(st.data())
def test_any_damage_to_the_sheet_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = GOLDEN.read_bytes()[:20_000]
    read_or_refuse(written(tmp_path_factory.getbasetemp(), damaged(whole, data)))


@pytest.mark.filterwarnings("ignore::UserWarning")
@ANY_FILE
@given(st.data())
def test_any_damage_to_a_workbook_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    if not WORKBOOK:
        as_xlsx(tmp_path_factory.getbasetemp() / "whole.xlsx", [row(comment="=1"), row(time=datetime(2026, 3, 2))])
        with zipfile.ZipFile(tmp_path_factory.getbasetemp() / "whole.xlsx") as archive:
            WORKBOOK.update({name: archive.read(name) for name in archive.namelist()})
    name = data.draw(st.sampled_from(sorted(WORKBOOK)))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for part, content in WORKBOOK.items():
            archive.writestr(part, damaged(content, data) if part == name else content)
    read_or_refuse(written(tmp_path_factory.getbasetemp(), packed.getvalue()))


WORKBOOK: dict[str, bytes] = {}


def damaged(content: bytes, data: st.DataObject) -> bytes:
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        cut = data.draw(st.integers(0, 3))
        content = content[:place] + data.draw(st.binary(max_size=3)) + content[place + cut :]
    return content
