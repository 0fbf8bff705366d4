"""Importing a sheet: what the database holds afterwards, and what is left as it was."""

from __future__ import annotations

import json
import threading
import uuid
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from pytest_django.fixtures import DjangoAssertNumQueries

from emma_eval.accounts.models import AuditEntry, User
from results.filing.correct_result import correct_result, filing_of
from results.models import Problem, ProblemOrder, Result
from results.old_sheet.import_sheet import (
    FILED_OTHERWISE,
    REPEATED_OTHERWISE,
    Findings,
    OtherThanShownError,
    RowsAreBadError,
    import_sheet,
    look_through,
)
from results.old_sheet.read_row import RowFault
from scripts_catalog import catalogue_file, taxonomy
from scripts_catalog.load_catalogue import load_catalogue
from scripts_catalog.management.commands.load_catalogue import SHIPPED
from scripts_catalog.models import Build, RunCount, Script, ScriptVersion
from tests import make
from tests.results.old_sheet.sheet import CASES, COLUMNS, GOLDEN, OF_EXPORTS, as_csv, as_xlsx, golden_rows, row
from tests.results.old_sheet.test_read_row import OLD_DIGEST, OLD_ROW

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]
EXPECTED: dict[str, Any] = json.loads((CASES / "results_sheet.expected.json").read_text())
LABEL = {key: tag.label for key, tag in taxonomy.TAG_BY_KEY.items()}


@pytest.fixture
def shipped(db: None) -> None:
    load_catalogue(catalogue_file.read(SHIPPED.read_text(encoding="utf-8")))


@pytest.fixture
def small_talk(db: None) -> Script:
    return make.script("small-talk")


def bad_of(found: Findings) -> list[list[Any]]:
    return [[one.line, one.reasons] for one in found.bad]


def told(found: Findings) -> list[RowFault]:
    return [fault for one in found.bad for fault in one.faults]


def take_in(path: Path, importer: User | None = None) -> Findings:
    return import_sheet(path, importer, path.name, only_good=True)


# --- the team's own sheet ------------------------------------------------------------------------


def test_it_finds_in_the_team_s_sheet_what_a_right_import_finds(shipped: None) -> None:
    found = look_through(GOLDEN, None)
    assert (found.rows, found.good, bad_of(found)) == (EXPECTED["rows"], EXPECTED["good"], EXPECTED["bad"])
    assert not Result.objects.exists()
    assert not User.objects.exists()


def test_the_database_holds_what_a_right_import_holds(shipped: None) -> None:
    take_in(GOLDEN)
    results, problems = Result.objects.all(), Problem.objects.all()
    assert results.count() == EXPECTED["good"]
    assert Counter(problem.label for problem in problems) == EXPECTED["tag_counts"]
    assert Counter(problem.label for problem in problems if problem.is_biggest) == EXPECTED["first_counts"]
    unknown = results.filter(problem_order=ProblemOrder.GROUPS)
    assert unknown.count() == EXPECTED["order_between_groups_unknown"]
    assert not problems.filter(result__in=unknown, rank__isnull=False).exists()
    assert results.filter(vision=None).count() == EXPECTED["vision_na"]
    assert sum(count.runs for count in RunCount.objects.all()) == EXPECTED["good"]


def test_a_workbook_of_the_same_rows_is_the_same_sheet(shipped: None, tmp_path: Path) -> None:
    take_in(GOLDEN)
    rows = [{**said, "Comment": said["Comment"].replace("\x0b", "_x000B_")} for said in golden_rows()]
    for said in rows:
        said["Content"] = float(said["Content"])
        said["Returning user?"] = said["Returning user?"].lower() in {"yes", "true"}
        if "T" in said["Timestamp"]:
            said["Timestamp"] = parse_datetime(said["Timestamp"]).replace(tzinfo=None)  # type: ignore[union-attr]
    found = take_in(as_xlsx(tmp_path / "s.xlsx", rows))
    assert (found.new, found.here, bad_of(found)) == (0, EXPECTED["good"], EXPECTED["bad"])


def test_importing_the_same_file_twice_adds_nothing(shipped: None) -> None:
    take_in(GOLDEN)
    before = [list(model.objects.order_by("pk").values()) for model in (Result, Problem, RunCount, Build, User)]
    found = take_in(GOLDEN)
    assert (found.new, found.here, found.good) == (0, 215, 215)
    assert [list(model.objects.order_by("pk").values()) for model in (Result, Problem, RunCount, Build, User)] == before


# --- one row ---------------------------------------------------------------------------------------


def test_a_row_becomes_a_result_with_all_it_said(small_talk: Script, tmp_path: Path) -> None:
    said = row(
        vision="2",
        content="5",
        listening_problems=LABEL["did_not_stop"],
        voice_problems=f"{LABEL['too_fast']}, {LABEL['audio_glitches']}",
        biggest=LABEL["audio_glitches"],
        returning="yes",
        worst="when she froze",
        minute="2:13",
    )
    take_in(as_csv(tmp_path / "s.csv", [said]))
    result = Result.objects.get()
    assert (result.tester.email, result.script, result.build.name) == ("ana@example.test", small_talk, "2026.10")
    assert result.script_version == small_talk.latest
    assert result.called_at.isoformat() == "2026-03-02T07:44:00+00:00"
    assert (result.listening_timing, result.content, result.vision) == (4, 5, 2)
    assert result.vision_off_script
    assert [(p.tag, p.rank) for p in result.problems.all()] == [
        ("audio_glitches", 1),
        ("did_not_stop", None),
        ("too_fast", None),
    ]
    assert result.problem_order == ProblemOrder.BIGGEST
    assert (result.comment, result.met_emma_before) == ("She waited for me.", True)
    assert (result.sheet_worst_moment, result.sheet_minute_in_call) == ("when she froze", "2:13")
    assert result.recording_link == "https://recordings.example.test/call-1.webm"


def test_unknown_testers_are_invited_accounts_and_unknown_builds_are_made(small_talk: Script, tmp_path: Path) -> None:
    known = make.user("Ana@example.test")
    make.build("2026.10")
    rows = [row(), row(tester="bo@example.test", build="2026.11"), row(tester="BO@example.test", time="1/1/2026 10:00")]
    found = take_in(as_csv(tmp_path / "s.csv", rows))
    assert (found.new_testers, found.new_builds) == (["bo@example.test"], ["2026.11"])
    bo = User.objects.get(email="bo@example.test")
    assert not bo.has_usable_password()
    assert bo.results.count() == 2
    assert known.results.count() == 1
    assert not Build.objects.filter(is_current=True).exists()


def test_a_call_that_never_started_is_filed_and_is_no_run(small_talk: Script, tmp_path: Path) -> None:
    unrated = dict.fromkeys(["listening", "content", "voice", "face", "fit", "vision"], "")
    take_in(as_csv(tmp_path / "s.csv", [row(**unrated, live_problems=LABEL["stuck_start"])]))
    assert Result.objects.get().never_started
    assert not RunCount.objects.exists()


def test_runs_are_added_to_those_that_were_counted_before(small_talk: Script, tmp_path: Path) -> None:
    other, build = make.script("other"), make.build("2026.10")
    RunCount.objects.add(small_talk, build, filed_as_safety=False, runs=4)
    RunCount.objects.add(other, build, filed_as_safety=True, runs=2)
    rows = [row(script=slug, time=f"{day}/3/2026 10:00") for slug in ("small-talk", "other") for day in range(1, 4)]
    take_in(as_csv(tmp_path / "s.csv", rows))
    counted = RunCount.objects.values_list("script__slug", "filed_as_safety", "runs")
    assert set(counted) == {("small-talk", False, 7), ("other", True, 2), ("other", False, 3)}


def test_a_missing_link_is_waited_for(small_talk: Script, tmp_path: Path) -> None:
    take_in(as_csv(tmp_path / "s.csv", [row(link="")]))
    assert Result.objects.get().recording_link == ""


def test_what_an_export_says_beside_is_kept(small_talk: Script, tmp_path: Path) -> None:
    said = row(
        camera_used="no",
        camera_note="Not asked for.",
        content_problems=f"{LABEL['too_long']}, {LABEL['off_topic']}",
        voice_problems=LABEL["too_fast"],
        order=f"{LABEL['off_topic']}, {LABEL['too_fast']}, {LABEL['too_long']}",
        browser="Safari",
        device="Tablet",
        connection="wifi",
        time="2026-03-02T15:44:12.345678+08:00",
    )
    take_in(as_csv(tmp_path / "s.csv", [said], columns=(*COLUMNS, *OF_EXPORTS)))
    result = Result.objects.get()
    assert [(p.tag, p.rank) for p in result.problems.all()] == [("off_topic", 1), ("too_fast", 2), ("too_long", 3)]
    assert (result.problem_order, result.camera_note) == (ProblemOrder.OVERALL, "Not asked for.")
    assert (result.browser, result.device, result.connection) == ("Safari", "tablet", "wifi")
    assert result.called_at.isoformat() == "2026-03-02T07:44:12.345678+00:00"


# --- all good rows or nothing ------------------------------------------------------------------------


def test_with_a_bad_row_nothing_is_imported_unless_only_the_good_are_asked_for(
    small_talk: Script, tmp_path: Path
) -> None:
    path = as_csv(tmp_path / "s.csv", [row(), row(time="3/3/2026 10:00", content="9")])
    with pytest.raises(RowsAreBadError) as caught:
        import_sheet(path, None, "s.csv")
    assert caught.value.findings.good == 1
    for model in (Result, User, Build, RunCount, AuditEntry):
        assert not model._default_manager.exists()
    assert take_in(path).new == 1
    assert Result.objects.count() == 1


def test_what_was_agreed_to_is_what_is_added(small_talk: Script, tmp_path: Path) -> None:
    path = as_csv(tmp_path / "s.csv", [row(), row(time="3/3/2026 10:00")])
    with pytest.raises(OtherThanShownError):
        import_sheet(path, None, "s.csv", agreed=1)
    assert not Result.objects.exists()
    assert import_sheet(path, None, "s.csv", agreed=2).new == 2


def test_a_failure_midway_leaves_nothing(small_talk: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("results.old_sheet.import_sheet.ROWS_IN_A_BATCH", 1)
    path = as_csv(tmp_path / "s.csv", [row(), row(time="3/3/2026 10:00")])
    text = path.read_text()
    path.write_text(text + '"never closed')
    with pytest.raises(Exception, match="Row 4"):
        take_in(path)
    assert not Result.objects.exists()
    assert not User.objects.exists()


def test_batches_add_up(small_talk: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("results.old_sheet.import_sheet.ROWS_IN_A_BATCH", 2)
    rows = [row(time=f"{day}/3/2026 10:00", content="9" if day == 3 else "4") for day in range(1, 8)]
    found = take_in(as_csv(tmp_path / "s.csv", [*rows, rows[0], {**rows[1], "Content": "1"}]))
    assert (found.rows, found.new, found.here) == (9, 6, 1)
    assert bad_of(found) == [[4, ["score out of range"]], [10, [REPEATED_OTHERWISE]]]
    assert RunCount.objects.get().runs == 6


def test_looking_and_importing_find_the_same(shipped: None, tmp_path: Path) -> None:
    rows = golden_rows()
    rows += [rows[0], {**rows[1], "Content": "1"}]
    path = as_csv(tmp_path / "s.csv", rows)
    assert look_through(path, None) == take_in(path)


def test_the_queries_do_not_grow_with_the_rows(
    small_talk: Script, tmp_path: Path, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    make.user("ana@example.test")
    make.build("2026.10")
    rows = [row(time=f"{1 + n % 28}/{1 + n // 28}/2026 10:00", content_problems=LABEL["too_long"]) for n in range(250)]
    with django_assert_max_num_queries(25):
        assert take_in(as_csv(tmp_path / "s.csv", rows)).new == 250


# --- the same row again ------------------------------------------------------------------------------


def test_the_same_row_with_other_content_is_a_conflict_and_changes_nothing(small_talk: Script, tmp_path: Path) -> None:
    take_in(as_csv(tmp_path / "s.csv", [row()]))
    filed = Result.objects.get()
    found = take_in(as_csv(tmp_path / "s.csv", [row(content="1"), row(time="3/3/2026 10:00")]))
    assert bad_of(found) == [[2, [FILED_OTHERWISE]]]
    assert [
        (fault.column, fault.value, fault.before, fault.before_is_in, fault.result_pk) for fault in told(found)
    ] == [("Content", "1", "4", "imported before", filed.pk)]
    assert (found.conflicts, found.faulty, found.new) == (1, 0, 1)
    filed.refresh_from_db()
    assert filed.content == 4


def test_in_one_sheet_a_repeated_row_adds_nothing_and_another_content_is_a_conflict(
    small_talk: Script, tmp_path: Path
) -> None:
    found = take_in(as_csv(tmp_path / "s.csv", [row(), row(), row(content="1")]))
    assert (found.new, found.here) == (1, 1)
    assert bad_of(found) == [[4, [REPEATED_OTHERWISE]]]
    assert [(fault.column, fault.value, fault.before, fault.before_is_in) for fault in told(found)] == [
        ("Content", "1", "4", "row 2")
    ]
    assert Result.objects.get().content == 4


@pytest.mark.parametrize(
    ("said", "column", "value", "before"),
    [
        ({"build": "2026.11"}, "Emma build", "2026.11", "2026.10"),
        ({"link": ""}, "Recording link", "", "https://recordings.example.test/call-1.webm"),
        ({"vision": "3"}, "Vision", "3", "N/A"),
        ({"content_problems": "Repeated itself"}, "Problems: Content", "Repeated itself", ""),
        ({"comment": "Other words."}, "Comment", "Other words.", "She waited for me."),
        ({"returning": "yes"}, "Returning user?", "yes", "no"),
        ({"worst": "The start."}, "Worst moment", "The start.", ""),
        ({"minute": "3"}, "Minute in call", "3", ""),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_conflict_names_the_column_and_says_what_stood_there(
    small_talk: Script, tmp_path: Path, said: dict[str, str], column: str, value: str, before: str
) -> None:
    take_in(as_csv(tmp_path / "s.csv", [row()]))
    for found in (
        take_in(as_csv(tmp_path / "s.csv", [row(**said)])),
        take_in(as_csv(tmp_path / "s.csv", [row(time="4/3/2026 9:00"), row(time="4/3/2026 9:00", **said)])),
    ):
        assert [(fault.column, fault.value, fault.before) for fault in told(found)] == [(column, value, before)]


def test_a_conflict_over_the_biggest_problem_says_which_it_was(small_talk: Script, tmp_path: Path) -> None:
    two = {"content_problems": "Repeated itself", "voice_problems": "Flat or robotic delivery"}
    take_in(as_csv(tmp_path / "s.csv", [row(**two, biggest="Repeated itself")]))
    for biggest in ("Flat or robotic delivery", ""):
        found = take_in(as_csv(tmp_path / "s.csv", [row(**two, biggest=biggest)]))
        assert [(fault.column, fault.value, fault.before) for fault in told(found)] == [
            ("Biggest problem", biggest, "Repeated itself")
        ]


def test_a_conflict_late_in_a_long_comment_shows_where_the_words_part(small_talk: Script, tmp_path: Path) -> None:
    words = "She said it again. " * 100
    take_in(as_csv(tmp_path / "s.csv", [row(comment=f"{words}And smiled.")]))
    (fault,) = told(take_in(as_csv(tmp_path / "s.csv", [row(comment=f"{words}And laughed.")])))
    assert fault.value.startswith("…")
    assert fault.value.endswith("And laughed.")
    assert fault.before.endswith("And smiled.")


def test_of_a_result_corrected_since_a_conflict_tells_what_the_sheet_said_then(
    small_talk: Script, tmp_path: Path
) -> None:
    take_in(as_csv(tmp_path / "s.csv", [row()]))
    filed = Result.objects.get()
    corrected = replace(
        filing_of(filed), comment="On second thought.", ratings=replace(filing_of(filed).ratings, content=2)
    )
    correct_result(filed.tester, filed, corrected, based_on=1)
    found = take_in(as_csv(tmp_path / "s.csv", [row(content="1")]))
    assert [(fault.column, fault.value, fault.before) for fault in told(found)] == [("Content", "1", "4")]


def test_a_note_that_no_sheet_has_a_column_for_makes_no_conflict(tmp_path: Path) -> None:
    script, build = make.script("show-it", uses_camera=True), make.build("2026.10")
    make.result(
        make.user("ana@example.test"),
        script,
        build,
        called_at=parse_datetime("2026-03-02T15:44:00+08:00"),
        comment="She waited for me.",
        recording_link="https://recordings.example.test/call-1.webm",
        camera_used=False,
        camera_note="It was broken.",
    )
    assert take_in(as_csv(tmp_path / "s.csv", [row(script="show-it")])).here == 1
    (fault,) = told(take_in(as_csv(tmp_path / "s.csv", [row(script="show-it", comment="Else.")])))
    assert (fault.column, fault.before, fault.before_is_in) == ("Comment", "She waited for me.", "filed here")


def test_conflicts_ask_the_database_as_often_for_many_as_for_few(
    small_talk: Script, tmp_path: Path, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    rows = [row(time=f"1/3/2026 10:{n:02}", content_problems="Repeated itself") for n in range(40)]
    take_in(as_csv(tmp_path / "s.csv", rows))
    path = as_csv(tmp_path / "s.csv", [{**each, "Comment": "Else."} for each in rows])
    with django_assert_max_num_queries(12):
        assert look_through(path, None).conflicts == 40


def test_a_row_that_was_imported_with_its_apostrophes_is_still_the_same_row(small_talk: Script, tmp_path: Path) -> None:
    """The first release took every apostrophe for a part of the words, and fractions of seconds away."""
    path = as_csv(tmp_path / "s.csv", [row(**OLD_ROW)])
    take_in(path)
    filed = Result.objects.get()
    assert (filed.comment, filed.sheet_worst_moment) == ("=1+1 she said", "'+1")
    Result.objects.update(
        comment="'=1+1 she said", called_at=filed.called_at.replace(microsecond=0), sheet_digest=OLD_DIGEST
    )
    found = take_in(path)
    assert (found.new, found.here, found.bad) == (0, 1, [])


def test_a_row_that_says_what_its_result_says_by_now_is_no_conflict(small_talk: Script, tmp_path: Path) -> None:
    take_in(as_csv(tmp_path / "s.csv", [row()]))
    filed = Result.objects.get()
    corrected = replace(filing_of(filed), comment="On second thought.")
    correct_result(filed.tester, filed, corrected, based_on=1)
    assert take_in(as_csv(tmp_path / "s.csv", [row(comment="On second thought.")])).here == 1
    assert take_in(as_csv(tmp_path / "s.csv", [row(comment="Else.")])).conflicts == 1


def test_a_column_that_a_sheet_does_not_have_makes_no_conflict(small_talk: Script, tmp_path: Path) -> None:
    take_in(as_csv(tmp_path / "s.csv", [row(order="", browser="Safari")], columns=(*COLUMNS, *OF_EXPORTS)))
    without = [column for column in COLUMNS if column != "Comment"]
    assert take_in(as_csv(tmp_path / "s.csv", [row()], columns=without)).here == 1
    (fault,) = told(take_in(as_csv(tmp_path / "s.csv", [row(browser="Opera")], columns=(*COLUMNS, *OF_EXPORTS))))
    assert (fault.column, fault.value, fault.before) == ("Browser", "Opera", "Safari")


def test_a_script_that_its_tester_filed_twice_for_one_time_is_found_by_what_it_says(
    small_talk: Script, tmp_path: Path
) -> None:
    at = {"called_at": parse_datetime("2026-03-02T15:44:00+08:00"), "recording_link": row()["Recording link"]}
    ana, build = make.user("ana@example.test"), make.build("2026.10")
    for comment in ("Once.", "Twice."):
        make.result(ana, small_talk, build, comment=comment, **at)
    found = take_in(as_csv(tmp_path / "s.csv", [row(comment="Twice."), row(comment="Once.")]))
    assert (found.here, found.bad) == (2, [])
    assert take_in(as_csv(tmp_path / "s.csv", [row(comment="Never.")])).conflicts == 1


def test_a_correction_since_is_no_conflict(small_talk: Script, tmp_path: Path) -> None:
    path = as_csv(tmp_path / "s.csv", [row()])
    take_in(path)
    Result.objects.update(content=1, comment="On second thought.", called_at=timezone.now())
    found = take_in(path)
    assert (found.new, found.here, found.bad) == (0, 1, [])
    assert Result.objects.get().content == 1


def test_a_new_address_of_the_tester_makes_no_new_row(small_talk: Script, tmp_path: Path) -> None:
    path = as_csv(tmp_path / "s.csv", [row()])
    take_in(path)
    User.objects.update(email="ana.lee@example.test")
    assert take_in(path).here == 1
    assert (Result.objects.count(), User.objects.count()) == (1, 1)


def test_a_result_filed_here_of_the_same_call_is_the_same_row(small_talk: Script, tmp_path: Path) -> None:
    ana, build = make.user("ana@example.test"), make.build("2026.10")
    filed = make.result(
        ana,
        small_talk,
        build,
        called_at=parse_datetime("2026-03-02T15:44:00+08:00"),
        comment="She waited for me.",
        recording_link="https://recordings.example.test/call-1.webm",
    )
    assert take_in(as_csv(tmp_path / "s.csv", [row()])).here == 1
    found = take_in(as_csv(tmp_path / "s.csv", [row(content="1")]))
    assert bad_of(found) == [[2, [FILED_OTHERWISE]]]
    assert Result.objects.get() == filed


def key_of_row(tmp_path: Path) -> uuid.UUID:
    """The key of the right row, which anybody can work out."""
    with transaction.atomic():
        take_in(as_csv(tmp_path / "key.csv", [row()]))
        key: uuid.UUID = Result.objects.get().draft_uuid
        transaction.set_rollback(True)
    return key


def test_nobody_can_hold_the_place_of_somebody_else_s_row(small_talk: Script, tester: User, tmp_path: Path) -> None:
    key = key_of_row(tmp_path)
    make.result(tester, small_talk, make.build(), draft_uuid=key)
    path = as_csv(tmp_path / "s.csv", [row()])
    assert take_in(path).new == 1
    assert take_in(path).here == 1
    assert Result.objects.filter(draft_uuid=key).count() == 2


def test_what_its_own_tester_filed_under_the_key_of_a_row_is_that_row(small_talk: Script, tmp_path: Path) -> None:
    key = key_of_row(tmp_path)
    make.result(make.user("ana@example.test"), small_talk, make.build(), draft_uuid=key)
    found = take_in(as_csv(tmp_path / "s.csv", [row()]))
    assert (found.new, found.conflicts) == (0, 1)


# --- Safety ------------------------------------------------------------------------------------------


def test_a_safety_script_is_unknown_to_who_is_not_trained(
    small_talk: Script, eval_member: User, tmp_path: Path
) -> None:
    make.script("dark-hour", area=taxonomy.SAFETY)
    path = as_csv(tmp_path / "s.csv", [row(script="dark-hour"), row(script="no-such-script"), row()])
    found = take_in(path, eval_member)
    assert bad_of(found) == [[2, ["unknown script"]], [3, ["unknown script"]]]
    assert [fault.value for one in found.bad for fault in one.faults] == ["dark-hour", "no-such-script"]
    assert not AuditEntry.objects.get().is_safety


@pytest.mark.parametrize("is_operator", [True, False])
def test_the_trained_and_the_operator_import_safety_rows_as_such(
    small_talk: Script, trained_eval_member: User, tmp_path: Path, is_operator: bool
) -> None:
    make.script("dark-hour", area=taxonomy.SAFETY)
    path = as_csv(tmp_path / "s.csv", [row(script="dark-hour"), row()])
    found = take_in(path, None if is_operator else trained_eval_member)
    assert found.new == 2
    assert set(Result.objects.filter(filed_as_safety=True).values_list("script", flat=True)) == {"dark-hour"}
    assert RunCount.objects.filter(filed_as_safety=True).get().script.slug == "dark-hour"
    assert AuditEntry.objects.get().is_safety


def test_a_sheet_of_the_trained_without_safety_rows_is_in_everybodys_audit_trail(
    small_talk: Script, trained_eval_member: User, tmp_path: Path
) -> None:
    make.script("dark-hour", area=taxonomy.SAFETY)
    take_in(as_csv(tmp_path / "s.csv", [row()]), trained_eval_member)
    assert not AuditEntry.objects.get().is_safety


def test_a_row_of_the_time_when_the_script_was_safety_is_filed_under_the_version_its_importer_may_know(
    eval_member: User, trained_eval_member: User, tmp_path: Path
) -> None:
    script = make.script("small-talk", area=taxonomy.SAFETY)
    later = ScriptVersion.objects.get(script=script)
    later.pk, later.number, later.area = None, 2, "everyday"
    later.save(force_insert=True)
    script.latest, script.area = later, "everyday"
    script.save()
    take_in(as_csv(tmp_path / "s.csv", [row()]), trained_eval_member)
    filed = Result.objects.get()
    assert (filed.script_version.number, filed.filed_as_safety) == (1, True)
    assert not Result.objects.visible_to(eval_member).exists()
    take_in(as_csv(tmp_path / "t.csv", [row(time="3/3/2026 10:00")]), eval_member)
    seen = Result.objects.visible_to(eval_member).get()
    assert (seen.script_version, seen.filed_as_safety) == (later, False)


def test_a_conflict_does_not_tell_of_a_result_filed_as_safety(
    small_talk: Script, eval_member: User, trained_eval_member: User, tmp_path: Path
) -> None:
    take_in(as_csv(tmp_path / "s.csv", [row()]))
    Result.objects.update(filed_as_safety=True)
    path = as_csv(tmp_path / "s.csv", [row(content="1")])
    assert bad_of(look_through(path, eval_member)) == [[2, ["unknown script"]]]
    assert bad_of(look_through(path, trained_eval_member)) == [[2, [FILED_OTHERWISE]]]


# --- the trail, and two at once ----------------------------------------------------------------------


def test_one_line_of_the_audit_trail_tells_of_an_import(small_talk: Script, eval_member: User, tmp_path: Path) -> None:
    take_in(as_csv(tmp_path / "s.csv", [row(), row(time="3/3/2026 10:00", content="9")]), eval_member)
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.target) == (eval_member, "imported a sheet", "s.csv")
    counts = {"rows": 2, "added": 1, "here_already": 0, "bad": 1}
    assert entry.details == {**counts, "new_testers": ["ana@example.test"], "new_builds": ["2026.10"]}


@pytest.mark.django_db(transaction=True)
def test_two_imports_at_once_add_every_row_once(tmp_path: Path) -> None:
    make.script("small-talk")
    path = as_csv(tmp_path / "s.csv", [row(time=f"{day}/3/2026 10:00") for day in range(1, 29)])
    start, new, failed = threading.Barrier(3), [], []

    def run() -> None:
        try:
            start.wait()
            new.append(take_in(path).new)
        except Exception as cause:
            failed.append(cause)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(new) == [0, 0, 28]
    assert Result.objects.count() == 28
    assert RunCount.objects.get().runs == 28
