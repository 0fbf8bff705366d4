"""docs/assurance.md names tests that are there."""

from __future__ import annotations

import re

import pytest
from django.conf import settings

TEXT = (settings.BASE_DIR / "docs" / "assurance.md").read_text(encoding="utf-8")
ROWS = [line for line in TEXT.splitlines() if re.match(r"\| \d+ \|", line)]


@pytest.mark.parametrize("path", sorted(set(re.findall(r"tests/[\w/]+\.py", TEXT))))
def test_a_test_that_is_named_is_there(path: str) -> None:
    assert (settings.BASE_DIR / path).is_file()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_what_is_promised_is_shown_by_a_test(row: str) -> None:
    _, _, _, shown_by, state, _ = row.split("|")
    assert state.strip().startswith(("shown", "partly", "later"))
    assert ("tests/" in shown_by) != state.strip().startswith("later")
