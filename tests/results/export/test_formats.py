"""Every format, read back, is equal to the rows of the list."""

from __future__ import annotations

import io
import zipfile
from datetime import datetime, timedelta

import openpyxl
import pytest
from django.test import Client
from django.utils import timezone

from results.export import read_rows
from results.export.columns import COLUMN_BY_KEY, COLUMNS, Beside
from results.export.write_workbook import MOST_CHARACTERS, Workbook, fitting
from results.models import DIMENSION_KEYS, Moment, Result
from scripts_catalog import taxonomy
from tests import make

from .asking import ask, exported, read_csv, read_json_lines, read_workbook
from .conftest import Kinds

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
LISTENING, CONTENT = "Problems: Listening & timing", "Problems: Content"
STOP = "Didn't stop when interrupted"
CUT_IN = "Cut in while the user was still talking"
LONG = "Too long or rambling"


def test_csv_says_all_of_a_result(client: Client, kinds: Kinds) -> None:
    row = read_csv(exported(client, "csv"))[0]
    assert list(row) == [column.name for column in COLUMNS]
    full = kinds.full
    assert row == {
        "Number": str(full.pk),
        "Timestamp": "2026-03-02T15:44:05.123456+08:00",
        "Call date": "2026-03-02",
        "Tester": "ana@example.test",
        "Tester name": "Ana Lopes",
        "Script": "bad-news-day",
        "Script title": "Bad news day",
        "Script version": "1",
        "Area": "Everyday talk",
        "Emma build": "2026.10",
        "Recording link": "https://recordings.example.test/1",
        "Kept recording": "",
        **{dimension.name: "4" for dimension in taxonomy.DIMENSIONS},
        LISTENING: f"{STOP}, {CUT_IN}",
        CONTENT: LONG,
        "Problems: Voice & audio": "",
        "Problems: Face & video": "",
        "Problems: Live call only": "",
        "Biggest problem": STOP,
        "Problems in order": f"{STOP}, {LONG}, {CUT_IN}",
        "Order known": "all",
        "Comment": 'She said "wait", then\ncut in.',
        "Returning user?": "yes",
        "Never started": "no",
        "Camera used": "yes",
        "Camera note": "",
        "Worst moment": "'-the end",
        "Minute in call": "3:20",
        "Moments": "0:30 she froze\n1:01\n1:31 =1+1",
        "Browser": "Chrome",
        "Device": "Phone",
        "Connection": "4g",
        "Filed at": timezone.localtime(full.filed_at).isoformat(),
        "Reviewed at": "2026-03-03T15:44:05.123456+08:00",
        "In review queue": "",
        "Problems as reviewed": "",
        "Biggest as reviewed": "",
    }


def test_csv_tells_no_more_of_an_order_than_is_known(client: Client, kinds: Kinds) -> None:
    said = {
        row["Order known"]: (row[LISTENING], row[CONTENT], row["Biggest problem"], row["Problems in order"])
        for row in read_csv(exported(client, "csv"))[:3]
    }
    assert said == {
        "all": (f"{STOP}, {CUT_IN}", LONG, STOP, f"{STOP}, {LONG}, {CUT_IN}"),
        "biggest": (f"{CUT_IN}, {STOP}", LONG, LONG, ""),
        "within groups": (CUT_IN, LONG, "", ""),
    }


def test_csv_of_a_call_without_the_camera_and_of_one_that_never_started(client: Client, kinds: Kinds) -> None:
    _, without, _, never = read_csv(exported(client, "csv"))
    assert (without["Vision"], without["Camera used"], without["Camera note"]) == ("N/A", "no", "'@home without one")
    assert [never[dimension.name] for dimension in taxonomy.DIMENSIONS] == [*[""] * 5, "N/A"]
    assert (never["Never started"], never["Problems: Live call only"]) == (
        "yes",
        taxonomy.TAG_BY_KEY["stuck_start"].label,
    )


def test_csv_is_what_spreadsheets_open_right(client: Client, kinds: Kinds) -> None:
    answer = ask(client, "csv")
    data = answer.getvalue()
    assert data.startswith(b"\xef\xbb\xbfNumber,Timestamp,")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"].startswith('attachment; filename="results-')
    assert answer["Content-Disposition"].endswith('.csv"')
    without_breaks_in_cells = data.replace(b"then\ncut", b"").replace(b"froze\n1:01\n1:31", b"")
    assert without_breaks_in_cells.count(b"\r\n") == without_breaks_in_cells.count(b"\n") == 5
    assert b'"She said ""wait"", ' in data


def test_csv_neutralises_what_a_spreadsheet_would_run(client: Client, kinds: Kinds) -> None:
    comments = [row["Comment"] for row in read_csv(exported(client, "csv"))]
    assert comments[1:3] == ["'=HYPERLINK(1)", "''+1 '"]


def test_withdrawn_moments_are_in_no_export(client: Client, kinds: Kinds) -> None:
    Moment.objects.filter(words="she froze").update(is_withdrawn=True)
    full, *_ = read_json_lines(exported(client, "jsonl"))
    assert [moment["words"] for moment in full["moments"]] == ["", "=1+1"]
    assert b"she froze" not in exported(client, "csv")


def test_json_lines_are_typed_and_as_filed(client: Client, kinds: Kinds) -> None:
    full, without, groups, never = read_json_lines(exported(client, "jsonl"))
    assert list(full) == list(COLUMN_BY_KEY)
    assert full["id"] == kinds.full.pk
    assert full["called_at"] == "2026-03-02T15:44:05.123456+08:00"
    assert [full[key] for key in DIMENSION_KEYS] == [4] * 6
    tags = [
        {"key": key, "label": label} for key, label in (("did_not_stop", STOP), ("too_long", LONG), ("cut_in", CUT_IN))
    ]
    assert full["problems_in_order"] == tags
    assert full["problems_listening_timing"] == [tags[0], tags[2]]
    assert full["biggest_problem"] == tags[0]
    assert full["moments"] == [
        {"at_ms": 30_500, "words": "she froze"},
        {"at_ms": 61_000, "words": ""},
        {"at_ms": 91_500, "words": "=1+1"},
    ]
    assert (full["met_emma_before"], full["never_started"], full["device"], full["area"]) == (
        True,
        False,
        "phone",
        "everyday",
    )
    assert full["worst_moment"] == "-the end"
    assert (without["vision"], without["comment"], without["problems_in_order"]) == (None, "=HYPERLINK(1)", None)
    assert (groups["biggest_problem"], groups["order_known"], groups["reviewed_at"]) == (None, "groups", None)
    assert (never["content"], never["problems_in_order"][0]["key"]) == (None, "stuck_start")


def test_a_workbook_says_the_same_with_numbers_and_times_of_its_own(client: Client, kinds: Kinds) -> None:
    rows, texts = read_workbook(exported(client, "xlsx")), read_csv(exported(client, "csv"))
    assert [list(row) for row in rows] == [list(row) for row in texts]
    for row, text in zip(rows, texts, strict=True):
        for name, value in row.items():
            assert as_text(value)[: len(text[name])] == without_fraction(text[name]), name
    assert [rows[0][dimension.name] for dimension in taxonomy.DIMENSIONS] == [4] * 6
    assert rows[0]["Number"] == kinds.full.pk
    assert rows[0]["Reviewed at"] == datetime(2026, 3, 3, 15, 44, 5, 123000)
    assert rows[0]["Timestamp"] == "2026-03-02T15:44:05.123456+08:00"


def as_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.replace(microsecond=0).isoformat()
    return "" if value is None else without_fraction(str(value))


def without_fraction(text: str) -> str:
    """A spreadsheet's times have no zone and fewer digits, so the rest is compared."""
    return text[:19] if text[:2] == "20" and text[10:11] == "T" else text


def test_the_day_of_a_call_is_a_date_of_the_spreadsheet_in_the_zone_of_the_site(client: Client, kinds: Kinds) -> None:
    """So that people can group by month; 20:30 in London is the next day in Hong Kong."""
    Result.objects.filter(pk=kinds.full.pk).update(called_at="2026-03-31T20:30:00Z")
    data = exported(client, "xlsx", columns=["called_at", "call_date"])
    cell = openpyxl.load_workbook(io.BytesIO(data))["Results"]["B2"]
    assert (cell.value, cell.is_date, cell.number_format) == (datetime(2026, 4, 1), True, "yyyy-mm-dd")
    assert read_csv(exported(client, "csv"))[0]["Call date"] == "2026-04-01"
    assert read_json_lines(exported(client, "jsonl"))[0]["call_date"] == "2026-04-01"


def test_a_workbook_has_a_frozen_head_filters_and_no_formula_or_link(client: Client, kinds: Kinds) -> None:
    data = exported(client, "xlsx")
    sheet = openpyxl.load_workbook(io.BytesIO(data))["Results"]
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == f"A1:{openpyxl.utils.get_column_letter(len(COLUMNS))}5"
    assert sheet.column_dimensions["B"].width > 20
    assert sheet["A2"].number_format == "0"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        written = archive.read("xl/worksheets/sheet1.xml")
    assert b"<f>" not in written
    assert b"hyperlink" not in written


def test_only_the_columns_that_were_chosen_are_exported_and_asked_for(
    client: Client, kinds: Kinds, django_assert_max_num_queries: object
) -> None:
    for format, read in (("csv", read_csv), ("xlsx", read_workbook)):
        rows = read(exported(client, format, columns=["comment", "called_at"]))  # type: ignore[operator]
        assert [list(row) for row in rows] == [["Timestamp", "Comment"]] * 4
    assert list(read_json_lines(exported(client, "jsonl", columns=["id"]))[0]) == ["id"]


@pytest.mark.parametrize("format", ["csv", "jsonl", "xlsx"])
def test_an_export_of_nothing_is_whole_too(client: Client, kinds: Kinds, format: str) -> None:
    data = exported(client, format, "q=nobody-said-this")
    assert {"csv": read_csv, "jsonl": read_json_lines, "xlsx": read_workbook}[format](data) == []  # type: ignore[operator]


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("sort", ["date", "script", "build", "content", "vision"])
def test_rows_come_in_the_order_of_the_list_over_many_slices(
    client: Client, kinds: Kinds, sort: str, direction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slices of two rows; ratings and times that are the same for several, Vision that is missing for some."""
    tester, build = kinds.full.tester, make.build("2026.9")
    for place in range(9):
        make.result(
            tester,
            kinds.full.script,
            build if place % 3 else kinds.full.build,
            ratings=place % 4 + 1,
            camera_used=bool(place % 2),
            called_at=kinds.full.called_at - timedelta(days=place // 2),
        )
    monkeypatch.setattr(read_rows, "ROWS_AT_FIRST", 1)
    monkeypatch.setattr(read_rows, "ROWS_IN_A_SLICE", 2)
    query = f"sort={sort}&direction={direction}"
    exported_ids = [row["id"] for row in read_json_lines(exported(client, "jsonl", query, ["id"]))]
    listed = client.get(f"/results/?{query}").context["listing"].rows
    assert exported_ids == [row.id for row in listed]
    assert len(set(exported_ids)) == 13


def test_filters_narrow_the_export_as_they_narrow_the_list(client: Client, kinds: Kinds) -> None:
    for query in ("started=no", "problem=too_long&biggest=on", "q=cut+in", "camera=no", "dimension=vision&low=3"):
        listed = client.get(f"/results/?{query}").context["listing"].rows
        ids = [row["id"] for row in read_json_lines(exported(client, "jsonl", query, ["id"]))]
        assert ids == [row.id for row in listed], query
        assert 0 < len(ids) < 4


def test_the_number_of_queries_does_not_grow_with_the_rows_of_a_slice(
    client: Client, kinds: Kinds, django_assert_max_num_queries: object
) -> None:
    with django_assert_max_num_queries(16) as seen:  # type: ignore[operator]
        exported(client, "csv")
    before = len(seen)
    for _ in range(5):
        make.result(kinds.full.tester, kinds.full.script, kinds.full.build, problems=("cut_in", "too_long"))
    with django_assert_max_num_queries(before):  # type: ignore[operator]
        exported(client, "csv")


def test_rows_that_go_while_somebody_reads_neither_end_nor_repeat_it(
    client: Client, kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_rows, "ROWS_AT_FIRST", 1)
    monkeypatch.setattr(read_rows, "ROWS_IN_A_SLICE", 1)
    chunks = iter(ask(client, "jsonl", columns=["id"]).streaming_content)
    first = next(chunks)
    Result.objects.filter(pk__in=[kinds.biggest_only.pk, kinds.within_groups.pk]).delete()
    ids = [row["id"] for row in read_json_lines(first + b"".join(chunks))]
    assert ids == [kinds.full.pk, kinds.never_started.pk]


def test_a_cell_of_a_workbook_holds_no_more_than_it_can() -> None:
    longest = "x" * MOST_CHARACTERS
    assert fitting(longest) == longest
    for text in (longest + "x", "😀" * 20_000):
        cut = fitting(text)
        assert len(cut.encode("utf-16-le")) // 2 <= MOST_CHARACTERS
        assert cut.endswith("x …" if text[0] == "x" else "😀 …")


def test_a_number_that_a_spreadsheet_would_round_is_written_as_text(tmp_path: object) -> None:
    path = tmp_path / "book.xlsx"  # type: ignore[operator]
    with Workbook(path, [COLUMN_BY_KEY["id"]]) as book:
        book.add([(Result(pk=number), Beside()) for number in (10**15 - 1, 10**15, 2**63 - 1)])
    assert [row["Number"] for row in read_workbook(path.read_bytes())] == [10**15 - 1, str(10**15), str(2**63 - 1)]
