"""What stands in the fields of the results form, as text, before anybody judges it.

Drafts, comparisons between tabs and the form itself speak of the same fields by these names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scripts_catalog import taxonomy

from ..models import DIMENSION_KEYS
from .rules import without_control_characters

PLACE = "place-"
PAGE = "page"  # which open page typed it; no part of what is said
NAMES = (
    "script_version",
    "call",
    "build",
    "called_at",
    "recording_link",
    "never_started",
    "camera_used",
    "camera_note",
    *DIMENSION_KEYS,
    "comment",
    "met_emma_before",
)

MOST_NUMBER = 2**63 - 1
MOST_PLACE_DIGITS = 4
_NO_PLACE = 10**MOST_PLACE_DIGITS

Typed = dict[str, str]
_KNOWN = frozenset({*NAMES, PAGE})


def place_name(tag: str) -> str:
    """The field that holds a tag's place in the order of problems."""
    return f"{PLACE}{tag}"


def typed_in(data: Mapping[str, Any]) -> Typed:
    """The fields of the form found in what a browser sent: known names, text alone, empty ones left out.

    Control characters go: neither database keeps them all.
    """
    known = (name for name in data if name in _KNOWN or name.startswith(PLACE))
    texts = {name: data[name] for name in known if isinstance(data[name], str)}
    clean = {without_control_characters(name)[:60]: without_control_characters(texts[name]) for name in texts}
    return {name: text for name, text in clean.items() if text}


def number_in(text: object) -> int:
    """A whole number as a browser sends it; 0 for anything else."""
    words = text if isinstance(text, str) else ""
    number = int(words) if words.isascii() and words.isdecimal() and len(words) < 20 else 0
    return number if number <= MOST_NUMBER else 0


def said(typed: Typed) -> Typed:
    """What is said, without the marks of the page that it was typed on."""
    return {name: text for name, text in typed.items() if name != PAGE}


def picked(typed: Typed) -> list[str]:
    """The tags with a place, in their order as far as the places are numbers; the others last."""
    places = {name.removeprefix(PLACE): text for name, text in typed.items() if name.startswith(PLACE)}
    known = [tag for tag in places if tag in taxonomy.TAG_BY_KEY]
    return sorted(known, key=lambda tag: _place(places[tag]))


def _place(text: str) -> int:
    """A place as typed; what the form would not take for one comes last. Python reads no number of any length."""
    return int(text) if text.isdecimal() and len(text) <= MOST_PLACE_DIGITS else _NO_PLACE
