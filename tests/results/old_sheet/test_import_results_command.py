"""`manage.py import_results`: what it prints, where, and how it ends."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from results.models import Result
from tests import make
from tests.results.old_sheet.sheet import CASES, COLUMNS, GOLDEN, as_csv, row

pytestmark = pytest.mark.django_db
SLUGS = (
    "small-talk-first-call",
    "bad-news-day",
    "interrupt-mid-answer",
    "long-story-with-pauses",
    "ask-for-facts",
    "show-an-object",
    "noisy-room",
    "remember-me",
)


@pytest.fixture
def scripts() -> None:
    for slug in (*SLUGS, "small-talk"):
        make.script(slug, uses_camera=slug == "show-an-object")


def run(*args: object) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("import_results", *map(str, args), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_a_dry_run_prints_the_expected_json_and_nothing_else(scripts: None) -> None:
    out, err = run(GOLDEN, "--dry-run", "--json")
    expected = json.loads((CASES / "results_sheet.expected.json").read_text())
    assert json.loads(out) == {key: expected[key] for key in ("rows", "good", "bad")}
    assert err == ""
    assert not Result.objects.exists()


def test_notices_go_to_standard_error(scripts: None, tmp_path: Path) -> None:
    path = as_csv(tmp_path / "s.csv", [{**row(), "Mood": "sunny"}], columns=[*COLUMNS, "Mood"])
    out, err = run(path, "--dry-run", "--json")
    assert json.loads(out) == {"rows": 1, "good": 1, "bad": []}
    assert "Mood" in err


def test_in_words_each_fault_says_row_column_reason_and_value(scripts: None) -> None:
    out, _ = run(GOLDEN, "--dry-run")
    lines = out.splitlines()
    assert "row 13, Recording link: not a link (javascript:alert(1))" in lines
    assert "row 45, Comment: Other without a note (empty)" in lines
    assert "240 rows: 215 good, 25 bad. 215 results to add, 0 were here already." in lines


def test_all_or_nothing_imports_nothing_of_a_sheet_with_bad_rows(scripts: None) -> None:
    with pytest.raises(CommandError, match="without --all-or-nothing") as caught:
        run(GOLDEN, "--all-or-nothing")
    assert caught.value.returncode == 1
    assert not Result.objects.exists()


def test_it_imports_the_good_rows_once(scripts: None) -> None:
    out, _ = run(GOLDEN)
    assert "215 results added, 0 were here already." in out
    assert Result.objects.count() == 215
    assert json.loads(run(GOLDEN, "--json")[0])["good"] == 215
    assert Result.objects.count() == 215


def test_a_sheet_without_bad_rows_is_imported_at_once(scripts: None, tmp_path: Path) -> None:
    out, _ = run(as_csv(tmp_path / "s.csv", [row()]))
    assert "1 rows: 1 good, 0 bad. 1 results added" in out


@pytest.mark.parametrize(
    ("content", "words"), [(b"", "empty"), (b"PK\x03\x04", "damaged"), (b"a,b\n1,2\n", "does not look like")]
)
def test_what_cannot_be_read_ends_with_a_sentence(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "s.csv").write_bytes(content)
    with pytest.raises(CommandError, match=words) as caught:
        run(tmp_path / "s.csv", "--dry-run", "--json")
    assert caught.value.returncode == 2


@pytest.mark.parametrize("name", ["no-such-file.csv", "."])
def test_a_file_that_cannot_be_opened_ends_with_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(CommandError, match="can't be opened") as caught:
        run(tmp_path / name)
    assert caught.value.returncode == 2
