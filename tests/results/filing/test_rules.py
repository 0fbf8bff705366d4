"""What makes a filing right: ratings as typed, words, the camera, problems, times, each by a table."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from results.filing.rules import Code, Filing, Ratings, faults_of, has_words, read_rating, without_control_characters
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script, ScriptVersion

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
FIVE = Ratings(4, 4, 4, 4, 4)
SIX = replace(FIVE, vision=4)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("", None),
        ("  ", None),
        ("1", 1),
        ("5", 5),
        (" 3 ", 3),
        ("4.0", 4),
        ("4.", 4),
        ("+4", 4),
        ("04", 4),
        ("４", 4),
        ("0", Code.OUT_OF_RANGE),
        ("6", Code.OUT_OF_RANGE),
        ("-1", Code.OUT_OF_RANGE),
        ("7.0", Code.OUT_OF_RANGE),
        ("99999999999999999999", Code.OUT_OF_RANGE),
        ("4.5", Code.NOT_WHOLE),
        ("0.5", Code.NOT_WHOLE),
        ("4,0", Code.NOT_WHOLE),
        ("five", Code.NOT_WHOLE),
        ("1e0", Code.NOT_WHOLE),
        ("0x4", Code.NOT_WHOLE),
        ("4_0", Code.NOT_WHOLE),
        ("nan", Code.NOT_WHOLE),
        ("inf", Code.NOT_WHOLE),
        ("-inf", Code.NOT_WHOLE),
        ("٤", Code.NOT_WHOLE),
        ("四", Code.NOT_WHOLE),
        ("4 4", Code.NOT_WHOLE),
        ("4/5", Code.NOT_WHOLE),
        ("½", Code.NOT_WHOLE),
        ("9" * 5_000, Code.NOT_WHOLE),
    ],
)
def test_it_reads_a_rating(typed: str, read: int | Code | None) -> None:
    assert read_rating(typed) == read


def test_of_all_characters_it_drops_just_those_that_unicode_calls_controls() -> None:
    every = map(chr, range(0x110000))
    wrong = [c for c in every if (without_control_characters(c) == "") != (unicodedata.category(c) in {"Cc", "Cs"})]
    assert wrong == ["\t", "\n", "\r"]


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("plain", "plain"),
        ("tab\there", "tab\there"),
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("nul\x00 bell\x07 escape\x1b[0m", "nul bell escape[0m"),
        ("delete\x7f next\x85", "delete next"),
        ("half a pair \ud83d", "half a pair "),
        ("\u202eright to left\u202c", "\u202eright to left\u202c"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("三文魚 😀", "三文魚 😀"),
    ],
)
def test_it_drops_control_characters_and_nothing_else(typed: str, kept: str) -> None:
    assert without_control_characters(typed) == kept


@pytest.mark.parametrize("words", ["x", " é ", "三", "7", "!a", "שלום"])
def test_words_are_words(words: str) -> None:
    assert has_words(words)


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "...", "—", "\u200b", "\u3164", "\u2800", "\u202e", "\u115f\u1160"])
def test_blanks_are_no_words(blank: str) -> None:
    assert not has_words(blank)


def filing(*, uses_camera: bool = False, **changes: Any) -> Filing:
    version = ScriptVersion(uses_camera=uses_camera)
    return replace(Filing(script_version=version, build=Build(), called_at=NOW, ratings=FIVE), **changes)


def found(said: Filing, **more: Any) -> list[tuple[str, Code]]:
    return [(fault.field, fault.code) for fault in faults_of(said, NOW, **more)]


def test_a_right_filing_has_no_faults() -> None:
    assert found(filing()) == []


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({"uses_camera": True, "camera_used": True, "ratings": SIX}, []),
        ({"uses_camera": True, "camera_used": True}, [("vision", Code.MISSING)]),
        ({"uses_camera": True}, [("camera_note", Code.NEEDS_CAMERA_NOTE)]),
        ({"uses_camera": True, "camera_note": " . "}, [("camera_note", Code.NEEDS_CAMERA_NOTE)]),
        ({"uses_camera": True, "camera_note": "it was broken"}, []),
        ({"uses_camera": True, "needs_camera_note": False}, []),
        ({"camera_note": "x" * 201}, [("camera_note", Code.TOO_LONG)]),
        ({"camera_used": True, "ratings": SIX}, []),
        ({"camera_used": True}, [("vision", Code.MISSING)]),
        ({"ratings": SIX}, [("vision", Code.RATED_WITHOUT_CAMERA)]),
        ({"ratings": replace(FIVE, content=None)}, [("content", Code.MISSING)]),
        ({"ratings": replace(FIVE, content=0)}, [("content", Code.OUT_OF_RANGE)]),
        ({"ratings": replace(FIVE, content=6)}, [("content", Code.OUT_OF_RANGE)]),
        ({"ratings": Ratings()}, [(key, Code.MISSING) for key in list(taxonomy.DIMENSION_BY_KEY)[:5]]),
    ],
)
def test_ratings_and_camera_go_together(changes: dict[str, Any], faults: list[tuple[str, Code]]) -> None:
    assert found(filing(**changes)) == faults


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({"problems": ("stuck_start",)}, []),
        ({"problems": ("long_silence", "stuck_start")}, []),
        ({}, [("problems", Code.MISSING)]),
        ({"problems": ("stuck_start",), "camera_used": True}, [("camera_used", Code.CAMERA_WITHOUT_CALL)]),
        (
            {"problems": ("stuck_start",), "ratings": Ratings(content=1, vision=2)},
            [("content", Code.RATED_WITHOUT_CALL), ("vision", Code.RATED_WITHOUT_CALL)],
        ),
    ],
)
def test_a_call_that_never_started_has_its_tag_and_no_rating(
    changes: dict[str, Any], faults: list[tuple[str, Code]]
) -> None:
    assert found(filing(**{"never_started": True, "ratings": Ratings(), **changes})) == faults


@pytest.mark.parametrize(
    ("problems", "comment", "faults"),
    [
        (("cut_in", "too_fast"), "", []),
        (("no_such_tag",), "", [("problems", Code.UNKNOWN_TAG)]),
        (("Cut in while the user was still talking",), "", [("problems", Code.UNKNOWN_TAG)]),
        (("cut_in", "too_fast", "cut_in"), "", [("problems", Code.DOUBLED_TAG)]),
        (("other_content",), "", [("comment", Code.NEEDS_A_NOTE)]),
        (("other_content",), " \u200b\n", [("comment", Code.NEEDS_A_NOTE)]),
        (("other_content",), "She sang.", []),
        ((), "x" * 20_000, []),
        ((), "x" * 20_001, [("comment", Code.TOO_LONG)]),
    ],
)
def test_problems_and_comment(problems: tuple[str, ...], comment: str, faults: list[tuple[str, Code]]) -> None:
    assert found(filing(problems=problems, comment=comment)) == faults


def test_a_retired_tag_stays_where_it_was_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(taxonomy.TAG_BY_KEY, "cut_in", taxonomy.Tag("cut_in", "Cut in", retired_in=2))
    said = filing(problems=("cut_in",))
    assert found(said) == [("problems", Code.RETIRED_TAG)]
    assert found(said, kept_tags=frozenset({"cut_in"})) == []


@pytest.mark.parametrize(
    ("called_at", "faults"),
    [
        (NOW, []),
        (NOW + timedelta(minutes=5), []),
        (NOW + timedelta(minutes=6), [("called_at", Code.IN_THE_FUTURE)]),
        (NOW + timedelta(days=365), [("called_at", Code.IN_THE_FUTURE)]),
        (datetime(2000, 1, 1, tzinfo=UTC), []),
        (datetime(1999, 12, 31, tzinfo=UTC), [("called_at", Code.LONG_AGO)]),
        (datetime.min.replace(tzinfo=UTC), [("called_at", Code.LONG_AGO)]),
        (datetime.max.replace(tzinfo=UTC), [("called_at", Code.IN_THE_FUTURE)]),
    ],
)
def test_a_call_took_place_between_2000_and_now(called_at: datetime, faults: list[tuple[str, Code]]) -> None:
    assert found(filing(called_at=called_at)) == faults


@pytest.mark.parametrize(
    ("link", "codes"),
    [
        ("", []),
        ("https://example.com/a", []),
        ("javascript:1", [Code.NOT_A_LINK]),
        ("javascript:".ljust(9_000, "1"), [Code.NOT_A_LINK]),
        ("https://example.com/".ljust(9_000, "a"), [Code.LINK_TOO_LONG]),
    ],
)
def test_a_recording_link_may_be_missing_but_not_wrong(link: str, codes: list[Code]) -> None:
    assert found(filing(recording_link=link)) == [("recording_link", code) for code in codes]


@pytest.mark.parametrize(
    ("after_retirement", "faults"),
    [(timedelta(0), []), (timedelta(seconds=1), [("called_at", Code.RETIRED_SCRIPT)]), (timedelta(days=-9), [])],
)
def test_a_retired_script_takes_the_calls_made_before(
    after_retirement: timedelta, faults: list[tuple[str, Code]]
) -> None:
    script = Script(slug="gone", retired_at=NOW - after_retirement)
    assert found(replace(filing(), script_version=ScriptVersion(script=script))) == faults
