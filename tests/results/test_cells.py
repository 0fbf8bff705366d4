"""Neutralising a cell and reading it back are exact inverses."""

from __future__ import annotations

import sys
import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from results.cells import BEGINS_A_FORMULA, neutralised, restored

DANGEROUS = (
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("https://example.test","press")',
    "-",
    "- she waited, then cut in",
    "+852 1234 5678 is her number",
    "  =1+1",
    "\t=1+1",
    "\tindented",
    "\rindented",
    "\nnext line",
    " \n next line",
    "\u00a0=1+1",
    "\u3000＝1+1",
    "\ufeff=1+1",
    "\u200b=1+1",
    "\x0b=1+1",
    "＝1+1",
    "＋1+1",
    "－1+1",
    "＠SUM(A1)",
    "﹦1+1",
    "﹢1",
    "﹣1",
    "﹫here",
    "'=1+1",
    "''=1+1",
    "' =1+1",
    "-3.5\n",
    "--5",
    "+-5",
    "-1-1",
    "-5 apples",
)
HARMLESS = (
    "",
    "She waited for me.",
    "'quoted' words",
    "'",
    "''",
    "'twas fine",
    "a=b",
    "5",
    "4.5",
    "1 + 1 = 2",
    "N/A",
    "(=1)",
    "https://recordings.example.test/1",
    "哈囉",
    " indented by a space",
)
NUMBERS = ("-5", "+5", "-3.5", "+.5", "-1,000.50", "-1e5", "-2.5E-3", "-12%", "+852 1234 5678", "+1 (555) 123-4567")
# What a hostile tester might type: often with the very characters that matter.
TEXTS = st.text(st.one_of(st.sampled_from("'=+-@＝＋－＠\t\r\n \u00a0\u200b123456789.,()e%"), st.characters()))


@pytest.mark.parametrize("text", DANGEROUS)
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text: str) -> None:
    assert neutralised(text) == f"'{text}"
    assert restored(f"'{text}") == text


@pytest.mark.parametrize("text", HARMLESS)
def test_any_other_text_stays_as_it_is(text: str) -> None:
    assert neutralised(text) == text
    assert restored(text) == text


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_and_phone_numbers_stay_as_they_are(text: str) -> None:
    assert neutralised(text) == text


@pytest.mark.parametrize("text", NUMBERS)
def test_an_apostrophe_that_somebody_typed_before_a_number_is_kept(text: str) -> None:
    assert neutralised(f"'{text}") == f"'{text}"
    assert restored(f"'{text}") == f"'{text}"


@pytest.mark.parametrize("text", DANGEROUS)
def test_an_apostrophe_that_somebody_typed_before_a_formula_gets_another(text: str) -> None:
    assert neutralised(f"'{text}") == f"''{text}"
    assert restored(f"''{text}") == f"'{text}"


@given(TEXTS)
@example("'=1+1")
@example("''\t")
@settings(max_examples=500)
def test_every_text_is_found_again(text: str) -> None:
    assert restored(neutralised(text)) == text


@given(TEXTS)
@settings(max_examples=300)
def test_no_cell_begins_a_formula(text: str) -> None:
    cell = neutralised(text)
    assert cell.lstrip()[:1] not in BEGINS_A_FORMULA or set(cell) <= set("0123456789+-.,() eE%")


def test_no_letter_or_digit_folds_into_what_begins_a_formula() -> None:
    """The rule looks no further at a text that begins with one."""
    letters = (chr(code) for code in range(sys.maxunicode + 1) if chr(code).isalnum())
    assert [letter for letter in letters if unicodedata.normalize("NFKC", letter)[0] in BEGINS_A_FORMULA] == []


def test_a_long_text_of_digits_takes_no_long_time() -> None:
    begun = time.thread_time()
    for text in ("+" + "1 (" * 100_000, "-" + "1," * 100_000, "'" * 200_000 + "=", " " * 200_000 + "="):
        assert neutralised(text).startswith("'")
    assert time.thread_time() - begun < 2
