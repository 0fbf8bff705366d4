"""Reading a row: dates, labels, order, and every fault in the sheet's own words."""

from __future__ import annotations

from dataclasses import astuple, replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from time import thread_time
from typing import Any

import pytest
from django.test import override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from results.models import ProblemOrder, Result
from results.old_sheet.labels import TAG_OF_LABEL, plain, tags_in
from results.old_sheet.read_row import (
    CAMERA_AGAINST_VISION,
    MOST_OF,
    NOT_IN_ORDER,
    NOT_THE_BIGGEST_FIRST,
    WITHOUT_ITS_TAG,
    BadRow,
    Catalogue,
    GoodRow,
    read_row,
)
from results.old_sheet.read_sheet import COLUMNS, Row
from results.old_sheet.times import time_of
from scripts_catalog import taxonomy
from scripts_catalog.models import Script
from tests import make
from tests.results.old_sheet import sheet

NOW = datetime(2026, 11, 1, tzinfo=UTC)
LABEL = {key: tag.label for key, tag in taxonomy.TAG_BY_KEY.items()}


@pytest.fixture
def catalogue(db: None) -> Catalogue:
    make.script("small-talk")
    make.script("show-an-object", uses_camera=True)
    return Catalogue.seen_by(None, NOW)


UNRATED = dict.fromkeys(["listening", "content", "voice", "face", "fit", "vision"], "")


def read(catalogue: Catalogue, line: int = 2, **said: Any) -> GoodRow | BadRow:
    cells = sheet.row(**said)
    return read_row(Row(line, tuple(str(cells[column.name]) for column in COLUMNS)), catalogue)


def good(catalogue: Catalogue, **said: Any) -> GoodRow:
    found = read(catalogue, **said)
    assert isinstance(found, GoodRow), found
    return found


def reasons(catalogue: Catalogue, **said: Any) -> list[str]:
    found = read(catalogue, **said)
    return found.reasons if isinstance(found, BadRow) else []


# --- dates -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("02/03/2026 15:44:00", "2026-03-02 07:44:00"),
        ("2/3/2026 15:44", "2026-03-02 07:44:00"),
        ("02/03/26 15:44", "2026-03-02 07:44:00"),
        ("02.03.2026 15:44", "2026-03-02 07:44:00"),
        ("02-03-2026, 15:44:00", "2026-03-02 07:44:00"),
        ("02/03/2026 3:44:00 PM", "2026-03-02 07:44:00"),
        ("02/03/2026 12:05 am", "2026-03-01 16:05:00"),
        ("2026-03-02 15:44:00", "2026-03-02 07:44:00"),
        ("2026/03/02 15:44", "2026-03-02 07:44:00"),
        ("2026-03-02T15:44:00", "2026-03-02 07:44:00"),
        ("2026-03-02T15:44:00.250", "2026-03-02 07:44:00.250"),
        ("2026-03-02 15:44:00,123456789+08:00", "2026-03-02 07:44:00.123456"),
        ("2026-03-02T15:44:00+08:00", "2026-03-02 07:44:00"),
        ("2026-03-02T15:44:00Z", "2026-03-02 15:44:00"),
        ("2026-03-02 15:44:00 +0100", "2026-03-02 14:44:00"),
        ("2026-03-02 15:44:00 -05:30", "2026-03-02 21:14:00"),
        ("2026-03-02 15:44:00 GMT+8", "2026-03-02 07:44:00"),
        ("2026-03-02 15:44:00 HKT", "2026-03-02 07:44:00"),
        ("02/03/2026", "2026-03-01 16:00:00"),
        ("46083.655556", "2026-03-02 07:44:00"),
        (" 02/03/2026  15:44:00 ", "2026-03-02 07:44:00"),
    ],
)
def test_times_are_day_first_and_in_hong_kong_unless_they_say_otherwise(text: str, utc: str) -> None:
    assert time_of(text) == datetime.fromisoformat(utc).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "31/02/2026 10:00:00",
        "29/02/2026",
        "03/13/2026 10:00",
        "2026-02-30 10:00:00",
        "2026-13-01",
        "00/01/2026",
        "02/03/2026 24:00:00",
        "02/03/2026 10:60",
        "02/03/2026 13:00 PM",
        "2026-03-02 10:00 +99:00",
        "9999-12-31 23:59 -08:00",
        "yesterday",
        "10:00",
        "1" * 400,
        "٠٢/٠٣/٢٠٢٦x",
    ],
)
def test_no_possible_time_is_none(text: str) -> None:
    assert time_of(text) is None


# --- labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", list(LABEL))
def test_every_label_is_found_alone_and_between_others(key: str) -> None:
    assert tags_in(LABEL[key]) == ((key,), ())
    for other, label in LABEL.items():
        assert tags_in(f"{LABEL[key]}, {label}") == ((key, other), ())


def test_no_list_of_labels_can_be_read_in_two_ways() -> None:
    """No label begins with another one and a comma, so the longest label that fits is the only one."""
    for one, other in permutations(TAG_OF_LABEL, 2):
        assert not one.startswith((f"{other},", f"{other};"))


@pytest.mark.parametrize(
    "text",
    [
        "didn’t stop when interrupted",
        "DIDN'T STOP  WHEN INTERRUPTED",
        " Didn`t stop when interrupted ,",
        "Didn't stop\xa0when interrupted",
    ],
)
def test_case_spaces_and_apostrophes_make_no_difference(text: str) -> None:
    assert tags_in(text) == (("did_not_stop",), ())


def test_a_list_may_be_joined_in_other_ways() -> None:
    expected = (("too_long", "audio_glitches", "weird_gaze"), ())
    labels = [LABEL[key] for key in expected[0]]
    for joint in (", ", ",", "; ", "\n", ",\n", " , "):
        assert tags_in(joint.join(labels)) == expected


def test_all_tags_fit_in_one_cell() -> None:
    assert set(tags_in(", ".join(LABEL.values()))[0]) == set(LABEL)


@pytest.mark.parametrize("piece", ["x,", ",", LABEL["too_fast"] + ","])
def test_an_endless_cell_is_no_list_of_tags_and_costs_no_time(catalogue: Catalogue, piece: str) -> None:
    endless = piece * (2_000_000 // len(piece))
    start = thread_time()
    assert reasons(catalogue, voice_problems=endless) == ["unknown tag"]
    assert reasons(catalogue, tester=endless, script=endless) == ["not an e-mail address", "unknown script"]
    assert thread_time() - start < 5


def test_unknown_words_hide_no_tag() -> None:
    found = tags_in(f"Talks too much, {LABEL['weird_gaze']}, Hums")
    assert found == (("weird_gaze",), ("talkstoomuch", "hums"))


# --- faults ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, []),
        ({"script": "no-such-script"}, ["unknown script"]),
        ({"script": ""}, ["unknown script"]),
        ({"link": "javascript:alert(1)"}, ["not a link"]),
        ({"link": "https://user:secret@example.test/x"}, ["not a link"]),
        ({"link": "http://169.254.169.254/"}, ["not a link"]),
        ({"link": "none yet"}, ["not a link"]),
        ({"link": "https://example.test/".ljust(9_000, "a")}, ["not a link"]),
        ({"link": ""}, []),
        ({"biggest": LABEL["too_slow"]}, ["biggest problem not among the picked"]),
        ({"biggest": "Talks too much"}, ["biggest problem not among the picked"]),
        ({"listening": "6"}, ["score out of range"]),
        ({"listening": "0"}, ["score out of range"]),
        ({"listening": "-1"}, ["score out of range"]),
        ({"listening": "6", "content": "0"}, ["score out of range"]),
        ({"vision": "7"}, ["score out of range"]),
        ({"content": "4.5"}, ["score not whole"]),
        ({"content": "4,5"}, ["score not whole"]),
        ({"content": "five"}, ["score not whole"]),
        ({"content": "nan"}, ["score not whole"]),
        ({"content": "4.0"}, []),
        ({"content": "4,0"}, []),
        ({"voice": ""}, ["missing score"]),
        ({"voice": "N/A"}, ["missing score"]),
        ({"content_problems": "Talks too much"}, ["unknown tag"]),
        ({"content_problems": "Talks too much", "biggest": "Talks too much"}, ["unknown tag"]),
        ({"content_problems": LABEL["too_slow"]}, ["unknown tag"]),
        ({"content_problems": f"{LABEL['too_long']}, {LABEL['too_long']}"}, ["tag picked twice"]),
        ({"listening_problems": LABEL["other_listening"], "comment": " "}, ["Other without a note"]),
        ({"listening_problems": LABEL["other_listening"], "comment": "\x0b…"}, ["Other without a note"]),
        ({"listening_problems": LABEL["other_listening"], "comment": "講"}, []),
        ({"time": "31/02/2026 10:00:00"}, ["impossible date"]),
        ({"time": "01/01/1970 10:00"}, ["impossible date"]),
        ({"time": ""}, ["missing date"]),
        ({"time": "02/11/2026 10:00:00"}, ["date in the future"]),
        ({"tester": ""}, ["missing tester"]),
        ({"tester": "Ana"}, ["not an e-mail address"]),
        ({"tester": "an\u212a@example.test"}, ["not an e-mail address"]),
        ({"build": " "}, ["missing build"]),
        ({"build": "1." * 40}, ["build name too long"]),
        ({"build": "any"}, ["no name for a build"]),
        ({"build": "2026.9\u200b"}, ["no name for a build"]),
        ({"build": "\u202e2026.9"}, ["no name for a build"]),
        ({"returning": "perhaps"}, ["not a yes or no"]),
        ({"comment": "x" * 20_001}, ["comment too long"]),
        ({"worst": "x" * 5_001}, ["text too long"]),
    ],
)
def test_a_fault_has_its_word(catalogue: Catalogue, said: dict[str, str], expected: list[str]) -> None:
    assert reasons(catalogue, **said) == expected


def test_every_reason_is_listed_once_in_the_order_of_the_columns(catalogue: Catalogue) -> None:
    said = {
        "returning": "perhaps",
        "comment": "",
        "voice_problems": LABEL["other_speech"],
        "content_problems": "Talks too much",
        "biggest": LABEL["too_slow"],
        "face": "",
        "voice": "4.5",
        "content": "9",
        "listening": "0",
        "link": "ftp://example.test/x",
        "script": "no-such-script",
        "time": "31/02/2026",
        "tester": "ana",
        "build": "",
    }
    assert reasons(catalogue, **said) == [
        "impossible date",
        "not an e-mail address",
        "unknown script",
        "missing build",
        "not a link",
        "score out of range",
        "score not whole",
        "missing score",
        "unknown tag",
        "biggest problem not among the picked",
        "Other without a note",
        "not a yes or no",
    ]


def test_a_fault_says_where_and_what(catalogue: Catalogue) -> None:
    found = read(catalogue, 17, content="4.5", link="javascript:alert(1)")
    assert isinstance(found, BadRow)
    assert [(fault.line, fault.column, fault.value) for fault in found.faults] == [
        (17, "Recording link", "javascript:alert(1)"),
        (17, "Content", "4.5"),
    ]


# --- what a good row says ------------------------------------------------------------------------


@pytest.mark.parametrize("spelled", ["N/A", "NA", "n/a", " - ", "n.a.", "#N/A"])
@pytest.mark.parametrize("script", ["small-talk", "show-an-object"])
def test_vision_that_is_not_applicable_means_that_the_camera_was_not_used(
    catalogue: Catalogue, spelled: str, script: str
) -> None:
    filing = good(catalogue, script=script, vision=spelled).filing
    assert (filing.ratings.vision, filing.camera_used) == (None, False)


def test_vision_may_be_left_empty_only_where_the_script_has_no_use_for_the_camera(catalogue: Catalogue) -> None:
    filing = good(catalogue, script="small-talk", vision=" ").filing
    assert (filing.ratings.vision, filing.camera_used) == (None, False)
    assert reasons(catalogue, script="show-an-object", vision=" ") == ["missing score"]


@pytest.mark.parametrize("script", ["small-talk", "show-an-object"])
def test_vision_that_is_rated_means_that_the_camera_was_used(catalogue: Catalogue, script: str) -> None:
    filing = good(catalogue, script=script, vision="3").filing
    assert (filing.ratings.vision, filing.camera_used) == (3, True)


@pytest.mark.parametrize(
    ("answer", "met_before"),
    [("yes", True), ("TRUE", True), ("Y", True), ("1", True), ("No", False), ("FALSE", False), ("", False)],
)
def test_returning_is_a_yes_or_no(catalogue: Catalogue, answer: str, met_before: bool) -> None:
    assert good(catalogue, returning=answer).filing.met_emma_before is met_before


@pytest.mark.parametrize("spelled", ["small-talk", "Small talk", " SMALL-TALK ", "small_talk"])
def test_a_script_is_known_by_its_slug_however_it_is_spelled(catalogue: Catalogue, spelled: str) -> None:
    assert good(catalogue, script=spelled).filing.script_version.script.slug == "small-talk"


def test_control_characters_are_removed_and_old_words_kept(catalogue: Catalogue) -> None:
    found = good(catalogue, comment="Mixed \x0b control\r\nchar\t", worst="when she\x00 froze", minute="2:13")
    assert found.filing.comment == "Mixed  control\nchar"
    assert (found.sheet_row.worst_moment, found.sheet_row.minute_in_call) == ("when she froze", "2:13")


def test_a_named_biggest_goes_first_and_the_rest_keep_their_order(catalogue: Catalogue) -> None:
    filing = good(
        catalogue,
        content_problems=f"{LABEL['too_long']}, {LABEL['off_topic']}",
        voice_problems=f"{LABEL['audio_glitches']}, {LABEL['too_fast']}",
        biggest=LABEL["too_fast"],
    ).filing
    assert filing.problems == ("too_fast", "too_long", "off_topic", "audio_glitches")
    assert filing.problem_order == ProblemOrder.BIGGEST


def test_tags_of_several_groups_without_a_named_biggest_have_no_biggest(catalogue: Catalogue) -> None:
    filing = good(catalogue, content_problems=LABEL["too_long"], voice_problems=LABEL["too_fast"]).filing
    assert filing.problem_order == ProblemOrder.GROUPS


def test_in_one_group_the_first_is_the_biggest_unless_another_is_named(catalogue: Catalogue) -> None:
    tags = f"{LABEL['off_topic']}, {LABEL['too_long']}"
    filing = good(catalogue, content_problems=tags).filing
    assert (filing.problems, filing.problem_order) == (("off_topic", "too_long"), ProblemOrder.OVERALL)
    filing = good(catalogue, content_problems=tags, biggest=LABEL["too_long"]).filing
    assert (filing.problems, filing.problem_order) == (("too_long", "off_topic"), ProblemOrder.OVERALL)


def test_no_ratings_and_a_stuck_start_is_a_call_that_never_started(catalogue: Catalogue) -> None:
    unrated = dict.fromkeys(["listening", "content", "voice", "face", "fit", "vision"], "")
    assert good(catalogue, **unrated, live_problems=LABEL["stuck_start"]).filing.never_started
    assert reasons(catalogue, **unrated) == ["missing score"]
    begun = {**unrated, "content": "9"}
    assert reasons(catalogue, **begun, live_problems=LABEL["stuck_start"]) == ["missing score", "score out of range"]
    assert not good(catalogue, live_problems=LABEL["stuck_start"]).filing.never_started


def test_retired_tags_may_stand_on_old_rows(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    retired = replace(taxonomy.TAG_BY_KEY["too_long"], retired_in=2)
    monkeypatch.setitem(taxonomy.TAG_BY_KEY, "too_long", retired)
    monkeypatch.setattr("results.old_sheet.read_row.RETIRED_TAGS", frozenset({"too_long"}))
    assert good(catalogue, content_problems=LABEL["too_long"]).filing.problems == ("too_long",)


def test_the_version_in_force_at_the_time_is_the_one_that_was_run(catalogue: Catalogue) -> None:
    first, second = catalogue.versions["small-talk"][0], catalogue.versions["show-an-object"][0]
    first.created_at, second.created_at = NOW - timedelta(days=90), NOW - timedelta(days=30)
    catalogue.versions["small-talk"] = [first, second]
    by_time = {
        "01/01/2026 10:00": first,  # older than every version: the first
        "15/08/2026 10:00": first,
        "20/10/2026 10:00": second,
    }
    for time, version in by_time.items():
        assert good(catalogue, time=time).filing.script_version == version


def test_a_build_that_looks_like_one_that_is_known_is_that_one(db: None) -> None:
    make.script("small-talk")
    old, odd = make.build("2026.9-beta"), make.build("2026.8\u200b")
    known = Catalogue.seen_by(None, NOW)
    assert good(known, build="\uff12026.9-BETA").filing.build == old
    assert good(known, build="2026.8\u200b").filing.build == odd, "kept before the rule"
    assert good(known, build="2026.7\uff0dx").filing.build is good(known, build="2026.7-X").filing.build


def test_builds_of_one_number_are_one_build(catalogue: Catalogue) -> None:
    spelled = [good(catalogue, build=name).filing.build for name in ("2026.9", " 2026.09", "2026.9")]
    assert spelled[0] is spelled[1] is spelled[2]
    assert good(catalogue, build="2026.10").filing.build is not spelled[0]


# --- what our exports say beside ------------------------------------------------------------------

THREE = {"content_problems": f"{LABEL['too_long']}, {LABEL['off_topic']}", "voice_problems": LABEL["too_fast"]}


def in_order(*tags: str) -> str:
    return ", ".join(LABEL[tag] for tag in tags)


def test_the_overall_order_is_taken_as_it_is_named(catalogue: Catalogue) -> None:
    order = ("off_topic", "too_fast", "too_long")
    for biggest in ("", LABEL["off_topic"]):
        filing = good(catalogue, **THREE, order=in_order(*order), biggest=biggest).filing
        assert (filing.problems, filing.problem_order) == (order, ProblemOrder.OVERALL)


@pytest.mark.parametrize("empty", ["", " ", "n/a", ", "])
def test_without_an_order_that_is_named_groups_and_biggest_tell_it(catalogue: Catalogue, empty: str) -> None:
    filing = good(catalogue, **THREE, order=empty).filing
    assert (filing.problems, filing.problem_order) == (("too_long", "off_topic", "too_fast"), ProblemOrder.GROUPS)
    filing = good(catalogue, **THREE, order=empty, biggest=LABEL["too_fast"]).filing
    assert (filing.problems[0], filing.problem_order) == ("too_fast", ProblemOrder.BIGGEST)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"order": in_order("too_fast", "too_long")}, [NOT_IN_ORDER]),
        ({"order": in_order("too_fast", "too_long", "off_topic", "weird_gaze")}, [NOT_IN_ORDER]),
        ({"order": in_order("too_fast", "too_long", "off_topic", "off_topic")}, [NOT_IN_ORDER]),
        ({"order": in_order("too_fast", "too_long", "off_topic") + ", Hums"}, [NOT_IN_ORDER]),
        (
            {"order": in_order("too_fast", "too_long", "off_topic"), "biggest": LABEL["too_long"]},
            [NOT_THE_BIGGEST_FIRST],
        ),
        ({"order": "Hums", "voice_problems": "Hums"}, ["unknown tag"]),
    ],
)
def test_an_order_holds_just_the_picked_tags_and_the_biggest_first(
    catalogue: Catalogue, said: dict[str, str], expected: list[str]
) -> None:
    assert reasons(catalogue, **{**THREE, **said}) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"camera_used": "yes", "vision": "3"}, []),
        ({"camera_used": "no", "vision": "N/A"}, []),
        ({"camera_used": "no", "vision": "", "script": "show-an-object"}, []),
        ({"camera_used": "yes", "vision": "N/A"}, [CAMERA_AGAINST_VISION]),
        ({"camera_used": "yes", "vision": ""}, [CAMERA_AGAINST_VISION]),
        ({"camera_used": "no", "vision": "3"}, [CAMERA_AGAINST_VISION]),
        ({"camera_used": "yes", "vision": "9"}, ["score out of range"]),
        ({"camera_used": "perhaps"}, ["not a yes or no"]),
    ],
)
def test_the_camera_and_vision_tell_the_same(catalogue: Catalogue, said: dict[str, str], expected: list[str]) -> None:
    found = read(catalogue, **said)
    assert (found.reasons if isinstance(found, BadRow) else []) == expected
    if isinstance(found, GoodRow):
        assert found.filing.camera_used is (said["camera_used"] == "yes")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({**UNRATED, "never_started": "yes", "live_problems": LABEL["stuck_start"]}, []),
        ({**UNRATED, "never_started": "yes"}, [WITHOUT_ITS_TAG]),
        (
            {**UNRATED, "never_started": "yes", "live_problems": LABEL["stuck_start"], "camera_used": "yes"},
            ["camera on a call that never started"],
        ),
        ({"never_started": "yes", "live_problems": LABEL["stuck_start"]}, ["score on a call that never started"]),
        ({**UNRATED, "never_started": "no", "live_problems": LABEL["stuck_start"]}, ["missing score"]),
        ({"never_started": "no", "live_problems": LABEL["stuck_start"]}, []),
        ({"never_started": "perhaps"}, ["not a yes or no"]),
    ],
)
def test_a_call_that_never_started_is_one_in_every_column(
    catalogue: Catalogue, said: dict[str, str], expected: list[str]
) -> None:
    found = read(catalogue, **said)
    assert (found.reasons if isinstance(found, BadRow) else []) == expected
    if isinstance(found, GoodRow):
        assert found.filing.never_started is (said["never_started"] == "yes")


def test_camera_note_and_machine_are_kept(catalogue: Catalogue) -> None:
    found = good(catalogue, camera_note=" It was\x0b broken. ", browser="Firefox", device="Phone", connection="4g")
    assert found.filing.camera_note == "It was broken."
    row = found.sheet_row
    assert (row.browser, row.device, row.connection) == ("Firefox", "phone", "4g")
    assert good(catalogue, device="computer", browser="Konqueror").sheet_row.browser == "Konqueror"


@pytest.mark.parametrize(("key", "most"), [("camera_note", 200), ("browser", 40), ("device", 10), ("connection", 20)])
def test_what_does_not_fit_is_a_fault(catalogue: Catalogue, key: str, most: int) -> None:
    assert reasons(catalogue, **{key: "x" * most}) == []
    assert reasons(catalogue, **{key: "x" * (most + 1)}) == ["text too long"]


def test_as_much_of_a_machine_is_taken_as_a_result_holds() -> None:
    assert {key: Result._meta.get_field(key).max_length for key in MOST_OF} == MOST_OF  # type: ignore[union-attr]


# --- the key and the digest ----------------------------------------------------------------------


OLD_ROW = {
    "time": "2026-03-02T15:44:00.250",
    "vision": "2",
    **THREE,
    "biggest": LABEL["too_fast"],
    "comment": "'=1+1 she said",
    "worst": "'+1",
    "minute": "2:13",
    "returning": "yes",
}


def test_digests_and_keys_are_those_of_the_first_release(catalogue: Catalogue) -> None:
    """Made by the code that was released first: another one would import every old sheet a second time."""
    one, other = good(catalogue), good(catalogue, **OLD_ROW)
    assert str(one.key) == str(other.key) == "72504b01-ae6f-54b5-b2aa-f4ea41ec72c7"
    assert one.sheet_row.digest == "7d427cfaf092a7437ee18d3c9f17ca7599255ec2fb5ccf301550ebd9798e951d"
    assert other.sheet_row.digest == OLD_DIGEST


OLD_DIGEST = "7bc5ef9f9c2f3f624e8154d708db85bae940a6100580efe4c4a643be1983c455"


def test_what_exports_say_beside_is_part_of_the_digest(catalogue: Catalogue) -> None:
    said: list[dict[str, str]] = [{"camera_note": "x"}, {"browser": "x"}, {"device": "x"}, {"connection": "x"}]
    assert len({good(catalogue, **each).sheet_row.digest for each in [{}, *said]}) == 5


def test_the_same_time_tester_and_script_are_one_key_however_spelled(catalogue: Catalogue) -> None:
    one = good(catalogue)
    other = good(catalogue, time="2026-03-02T07:44:00Z", tester=" ANA@example.test", script="Small talk", content="5")
    assert one.key == other.key
    assert one.sheet_row.digest != other.sheet_row.digest
    for said in ({"time": "02/03/2026 15:45:00"}, {"tester": "bo@example.test"}, {"script": "show-an-object"}):
        assert good(catalogue, **said).key != one.key


def test_another_spelling_of_the_same_is_no_other_content(catalogue: Catalogue) -> None:
    said = {"content_problems": LABEL["missed_feelings"], "vision": "N/A", "content": "4", "returning": "no"}
    other = {"content_problems": "missed the caller’s feelings", "vision": "", "content": "4.0", "returning": "FALSE"}
    assert good(catalogue, **said).sheet_row.digest == good(catalogue, **other).sheet_row.digest


def test_rows_of_one_recording_are_of_one_call(catalogue: Catalogue) -> None:
    one, other = good(catalogue), good(catalogue, script="show-an-object", time="02/03/2026 15:50:00")
    assert one.call == other.call
    assert one.call != good(catalogue, tester="bo@example.test").call
    assert good(catalogue, link="").call != good(catalogue, link="", script="show-an-object").call


def test_a_call_is_named_alike_in_every_import_here_and_otherwise_elsewhere(
    catalogue: Catalogue,
) -> None:
    for said in ({}, {"link": ""}):
        here = good(catalogue, **said)
        assert good(catalogue, **said).call == here.call
        with override_settings(SECRET_KEY="another " * 10):
            elsewhere = good(catalogue, **said)
        assert elsewhere.call != here.call
        assert elsewhere.key == here.key


def test_labels_are_plain_in_one_way() -> None:
    assert len(TAG_OF_LABEL) == len(taxonomy.TAG_BY_KEY) == 34
    assert plain("Emma’s own ‘oh / mm‑hmm’ sounds wrong") == plain(LABEL["own_backchannel_wrong"])


@settings(max_examples=500, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.dictionaries(
        st.sampled_from(sorted(sheet.SHORT)),
        st.text(st.characters(), max_size=40)
        | st.sampled_from(
            ["\x00", "\ud800", "٤", "４", "1e400", "9" * 5000, "İ@İ.İ", "http://[", "-1/-1/-1", "a@b.c\x00"]
        ),
        max_size=4,
    )
)
def test_any_text_in_any_cell_is_read_or_faulted(catalogue: Catalogue, said: dict[str, str]) -> None:
    found = read(catalogue, **said)
    if isinstance(found, BadRow):
        assert found.reasons
    else:
        kept = (found.email, found.filing.build.name, found.filing.comment, *astuple(found.sheet_row))
        assert "\x00" not in "".join([*kept, found.filing.recording_link])
        "".join(kept).encode()  # nothing that a database could not hold


def test_a_script_that_was_retired_takes_the_calls_before(catalogue: Catalogue) -> None:
    script = Script.objects.get(slug="small-talk")
    for retired_at, found in (("2026-01-01T00:00Z", ["script retired before"]), ("2026-10-01T00:00Z", [])):
        Script.objects.filter(pk=script.pk).update(retired_at=retired_at)
        assert reasons(Catalogue.seen_by(None, NOW), script="small-talk") == found
