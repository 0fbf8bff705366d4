"""What a spreadsheet makes of an export: opened by a real one, where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from django.test import Client

from tests import make

from .asking import exported
from .conftest import Kinds

pytestmark = pytest.mark.django_db
OFFICE = shutil.which("soffice")
COMMA, SEMICOLON, TAB = 44, 59, 9
AT_THE_START = ("=1+1", "+1+1", "@SUM(1)", "\t=1+1", "\uff1d1+1")
INSIDE = ("nice;=1+2", "nice\t=1+3", "two lines\n=1+4", 'say ";=1+5')


@pytest.fixture
def files(client: Client, kinds: Kinds, tmp_path: Path) -> Path:
    """The same comments as CSV and as a workbook."""
    if OFFICE is None:
        pytest.skip("no LibreOffice here")
    for comment in AT_THE_START + INSIDE:
        make.result(kinds.full.tester, kinds.full.script, kinds.full.build, comment=comment)
    for format in ("csv", "xlsx"):
        (tmp_path / f"results.{format}").write_bytes(exported(client, format))
    return tmp_path


def formulas(folder: Path, name: str, separator: int | None = None) -> list[str]:
    """The formulas that the spreadsheet found in a file, which it opened as somebody would who asks no questions."""
    how = [f"--infilter=Text - txt - csv (StarCalc):{separator},34,76,1,,0,false,true,false,false"] if separator else []
    said = ["-env:UserInstallation=file://" + str(folder / "profile"), "--headless", "--convert-to", "fods"]
    subprocess.run(
        [str(OFFICE), *said, *how, "--outdir", str(folder / "opened"), str(folder / name)],
        check=True,
        capture_output=True,
        timeout=120,
    )
    opened = (folder / "opened" / name).with_suffix(".fods").read_text()
    assert "nice" in opened
    return re.findall(r'table:formula="([^"]*)"', opened)


def test_neither_a_workbook_nor_csv_read_by_its_commas_runs_anything(files: Path) -> None:
    assert formulas(files, "results.xlsx") == []
    assert formulas(files, "results.csv", COMMA) == []


def test_csv_read_by_semicolons_or_tabs_may_run_what_was_typed(files: Path) -> None:
    """Nothing in the file can help that, so the page says it: as soon as this fails, its words can go."""
    assert formulas(files, "results.csv", SEMICOLON) != []
    assert formulas(files, "results.csv", TAB) != []
