"""Texts in the cells of a spreadsheet: none that it would take for a formula, and every one found again.

A spreadsheet runs what begins with one of a few characters. A leading apostrophe stops it, and only that is taken
away again when the sheet comes back; so a text that would itself look neutralised gets another apostrophe.
"""

from __future__ import annotations

import re
import unicodedata

APOSTROPHE = "'"
BEGINS_A_FORMULA = frozenset("=+-@")
BREAKS_A_CELL = frozenset("\t\r\n")
LONGEST_PHONE_NUMBER = 30
_NUMBER = re.compile(r"[+-](?:[0-9]+(?:[.,][0-9]+)*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?%?")
_PHONE_NUMBER = re.compile(r"\+[0-9][0-9 ().-]*[0-9]")


def neutralised(text: str) -> str:
    """The text as it stands in a cell: with an apostrophe before what a spreadsheet would run, else unchanged."""
    return APOSTROPHE + text if _is_dangerous(text) else text


def restored(cell: str) -> str:
    """The text that `neutralised` was given: `restored(neutralised(text)) == text` for every text."""
    return cell[1:] if cell.startswith(APOSTROPHE) and _is_dangerous(cell[1:]) else cell


def _is_dangerous(text: str) -> bool:
    """Whether a spreadsheet might run this text, or the text behind its apostrophes."""
    if not text or text[0].isalnum():
        return False
    bare = text.lstrip(APOSTROPHE)
    return _begins_a_formula(bare) and not _is_a_number(bare)


def _begins_a_formula(text: str) -> bool:
    """Behind blanks, of which some break a cell by themselves; full-width forms count as what they stand for."""
    for character in text:
        if character in BREAKS_A_CELL:
            return True
        if not _is_blank(character):
            return unicodedata.normalize("NFKC", character)[0] in BEGINS_A_FORMULA
    return False


def _is_blank(character: str) -> bool:
    """Spaces, control characters and marks without a width: a spreadsheet may drop them and read on."""
    return character.isspace() or unicodedata.category(character) in {"Cc", "Cf"}


def _is_a_number(text: str) -> bool:
    """Wholly a number (-3.5, +1,000, -12%) or a phone number (+852 1234 5678), read as such by everybody."""
    if _NUMBER.fullmatch(text):
        return True
    digits = sum(map(str.isdigit, text)) if len(text) <= LONGEST_PHONE_NUMBER else 0
    return 7 <= digits <= 15 and _PHONE_NUMBER.fullmatch(text) is not None
