"""Makers of sheets: a right row to change one thing in, and files of rows."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import openpyxl

CASES = Path(__file__).parents[2] / "cases"
GOLDEN = CASES / "results_sheet.csv"
COLUMNS = (
    "Timestamp",
    "Tester",
    "Script",
    "Emma build",
    "Recording link",
    "Listening & timing",
    "Content",
    "Voice & audio",
    "Face & video",
    "Emotional fit",
    "Vision",
    "Problems: Listening & timing",
    "Problems: Content",
    "Problems: Voice & audio",
    "Problems: Face & video",
    "Problems: Live call only",
    "Biggest problem",
    "Comment",
    "Returning user?",
    "Worst moment",
    "Minute in call",
)
OF_EXPORTS = (
    "Never started",
    "Camera used",
    "Camera note",
    "Problems in order",
    "Browser",
    "Device",
    "Connection",
)


def row(**said: Any) -> dict[str, Any]:
    """A right row of the script "small-talk"; `said` names columns with _ for what Python can't write."""
    right: dict[str, Any] = {
        **dict.fromkeys((*COLUMNS, *OF_EXPORTS), ""),
        "Timestamp": "02/03/2026 15:44:00",
        "Tester": "ana@example.test",
        "Script": "small-talk",
        "Emma build": "2026.10",
        "Recording link": "https://recordings.example.test/call-1.webm",
        **dict.fromkeys(COLUMNS[5:10], "4"),
        "Vision": "N/A",
        "Comment": "She waited for me.",
        "Returning user?": "no",
    }
    return {**right, **{SHORT.get(name, name): value for name, value in said.items()}}


SHORT = {
    "time": "Timestamp",
    "tester": "Tester",
    "script": "Script",
    "build": "Emma build",
    "link": "Recording link",
    "listening": "Listening & timing",
    "content": "Content",
    "voice": "Voice & audio",
    "face": "Face & video",
    "fit": "Emotional fit",
    "vision": "Vision",
    "listening_problems": "Problems: Listening & timing",
    "content_problems": "Problems: Content",
    "voice_problems": "Problems: Voice & audio",
    "face_problems": "Problems: Face & video",
    "live_problems": "Problems: Live call only",
    "biggest": "Biggest problem",
    "comment": "Comment",
    "returning": "Returning user?",
    "worst": "Worst moment",
    "minute": "Minute in call",
    "never_started": "Never started",
    "camera_used": "Camera used",
    "camera_note": "Camera note",
    "order": "Problems in order",
    "browser": "Browser",
    "device": "Device",
    "connection": "Connection",
}


def as_csv(
    path: Path,
    rows: Iterable[dict[str, Any]],
    *,
    columns: Sequence[str] = COLUMNS,
    separator: str = ",",
    encoding: str = "utf-8",
) -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, columns, delimiter=separator, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def as_xlsx(path: Path, rows: Iterable[dict[str, Any]], *, columns: Sequence[str] = COLUMNS) -> Path:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.append(list(columns))
    for said in rows:
        sheet.append([said[column] for column in columns])
    workbook.save(path)
    return path


def golden_rows() -> list[dict[str, Any]]:
    with GOLDEN.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))
