"""Comparing two versions of a script."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts_catalog.compare_versions import Piece, compare_versions, compare_words
from scripts_catalog.wording import Anchor
from tests.scripts_catalog.wordings import PLAIN


def told(pieces: tuple[Piece, ...]) -> str:
    marks = {"kept": "{}", "added": "[+{}]", "removed": "[-{}]"}
    return "".join(marks[piece.kind].format(piece.text) for piece in pieces)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("the same", "the same", "the same"),
        ("", "new words", "[+new words]"),
        ("old words", "", "[-old words]"),
        ("Say hello to her", "Say goodbye to her", "Say [-hello ][+goodbye ]to her"),
        ("Say hello.", "Say hello. Wait.", "Say hello. [+Wait.]"),
        ("one two three four", "five six seven eight", "[-one two three four ][+five six seven eight]"),
    ],
)
def test_it_compares_word_by_word(old: str, new: str, said: str) -> None:
    assert told(compare_words(old, new)) == said


@given(st.text("ab \n", max_size=60), st.text("ab \n", max_size=60))
def test_kept_and_added_words_are_the_new_text(old: str, new: str) -> None:
    pieces = compare_words(old, new)
    assert "".join(piece.text for piece in pieces if piece.kind != "removed").split() == new.split()
    assert "".join(piece.text for piece in pieces if piece.kind != "added").split() == old.split()


def test_equal_versions_have_no_changes() -> None:
    assert compare_versions(PLAIN, PLAIN) == []


def test_it_names_the_fields_in_the_words_of_the_pages() -> None:
    new = replace(PLAIN, area="turns", main_dimension="vision", uses_camera=True, anchors={})
    assert [(change.label, told(change.lines[0].pieces)) for change in compare_versions(PLAIN, new)] == [
        ("Area", "[-Everyday talk ][+Turn-taking]"),
        ("Main dimension", "[-Content ][+Vision]"),
        ("Camera", "[-off ][+on]"),
        ("Content: 5", "[-Answers it well. ][+General quality]"),
        ("Content: 1", "[-Makes it up. ][+General quality]"),
    ]


def test_steps_are_matched_as_a_list() -> None:
    old = replace(PLAIN, steps=("Say hello.", "Ask how her day went.", "Say goodbye."))
    new = replace(PLAIN, steps=("Wait.", "Say hello.", "Ask how her week went.", "Say goodbye."))
    (steps,) = compare_versions(old, new)
    assert [told(line.pieces) for line in steps.lines] == [
        "[+Wait.]",
        "Say hello.",
        "Ask how her [-day ][+week ]went.",
        "Say goodbye.",
    ]
    assert [line.kind for line in steps.lines] == ["added", "kept", "kept", "kept"]


def test_an_anchor_that_came_replaces_the_guides_words() -> None:
    new = replace(PLAIN, anchors={**PLAIN.anchors, "voice_audio": Anchor(five="Soft.", one="Loud.")})
    assert [change.label for change in compare_versions(PLAIN, new)] == ["Voice & audio: 5", "Voice & audio: 1"]
