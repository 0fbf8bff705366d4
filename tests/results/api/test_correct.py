"""Correcting by a program: what was read is named, and nobody's newer words are written over."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.utils import timezone

from emma_eval.accounts.models import User
from results.models import Change, Result
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script
from tests import make
from tests.programs import Program

from .sent import a_filing

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
LINK = "https://recordings.example/7"


@pytest.fixture
def script(db: None) -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.43", is_current=True)


@pytest.fixture
def program(tester: User) -> Program:
    return Program(tester)


@pytest.fixture
def path(program: Program, script: Script, build: Build) -> str:
    """Where a result stands that this program filed."""
    return str(program.send(f"/api/v1/results/{uuid.uuid4()}/", a_filing(script, build))["Location"])


def correct(program: Program, path: str, body: Any, etag: str | None = None) -> Any:
    return program.send(path, body, **{"If-Match": etag or program.get(path)["ETag"]})


def test_it_corrects_what_was_read(program: Program, path: str, script: Script, build: Build) -> None:
    before = program.get(path)
    answer = correct(program, path, a_filing(script, build, comment="Mended.", problems=["cut_in"]))
    result = Result.objects.get()
    assert answer.status_code == 200
    assert (result.comment, result.version) == ("Mended.", 2)
    assert list(result.problems.values_list("tag", flat=True)) == ["cut_in"]
    assert set(Change.objects.get().fields) == {"comment", "problems"}
    assert answer["ETag"] != before["ETag"]
    assert answer["ETag"] == program.get(path)["ETag"]


def test_by_its_uuid_too(program: Program, path: str, script: Script, build: Build) -> None:
    by_uuid = f"/api/v1/results/{Result.objects.get().draft_uuid}/"
    assert correct(program, by_uuid, a_filing(script, build, comment="Mended.")).status_code == 200
    assert Result.objects.get().comment == "Mended."


def test_what_was_changed_since_is_not_written_over(program: Program, path: str, script: Script, build: Build) -> None:
    old = program.get(path)["ETag"]
    correct(program, path, a_filing(script, build, comment="First."))
    answer = correct(program, path, a_filing(script, build, comment="Second."), old)
    assert answer.status_code == 412
    assert Result.objects.get().comment == "First."


@pytest.mark.parametrize("etag", ['"none"', "none", 'W/"x"', '""', ","])
def test_a_wrong_etag_matches_nothing(program: Program, path: str, script: Script, build: Build, etag: str) -> None:
    assert correct(program, path, a_filing(script, build, comment="Mended."), etag).status_code == 412


def test_a_star_matches_whatever_is_there(program: Program, path: str, script: Script, build: Build) -> None:
    assert correct(program, path, a_filing(script, build, comment="Mended."), "*").status_code == 200
    assert correct(program, f"/api/v1/results/{uuid.uuid4()}/", a_filing(script, build), "*").status_code == 412


def test_a_result_by_its_number_is_not_corrected_blindly(
    program: Program, path: str, script: Script, build: Build
) -> None:
    assert program.send(path, a_filing(script, build, comment="Mended.")).status_code == 428


def test_the_same_again_changes_nothing(program: Program, path: str, script: Script, build: Build) -> None:
    body = a_filing(script, build, comment="Mended.")
    answers = [correct(program, path, body) for _ in range(2)]
    assert [answer.json()["version"] for answer in answers] == [2, 2]


def test_it_stays_with_its_script_and_its_call(program: Program, path: str, script: Script, build: Build) -> None:
    make.script("noisy-room")
    body = a_filing(script, build, script="noisy-room", script_version=2, call=str(uuid.uuid4()))
    answer = correct(program, path, body)
    assert answer.status_code == 422
    places = {fault["pointer"] for fault in answer.json()["errors"]}
    assert places == {"/script", "/script_version", "/call"}


def test_another_testers_result_is_theirs(
    path: str, trained_tester: User, script: Script, build: Build, program: Program
) -> None:
    etag = program.get(path)["ETag"]
    assert correct(Program(trained_tester), path, a_filing(script, build, comment="X"), etag).status_code == 403


def test_a_reviewed_result_stays_as_it_is(program: Program, path: str, script: Script, build: Build) -> None:
    Result.objects.update(reviewed_at=timezone.now())
    answer = correct(program, path, a_filing(script, build, comment="Mended."))
    assert answer.status_code == 409
    assert answer.json()["detail"] == "It was reviewed, so it stays as it is."
    assert program.send(f"{path}recording-link/", {"recording_link": LINK}).status_code == 409


def test_the_facts_of_the_call_are_changed_on_its_other_results(program: Program, script: Script, build: Build) -> None:
    call, other = str(uuid.uuid4()), make.build("2026.44")
    first, _ = (
        program.send(f"/api/v1/results/{uuid.uuid4()}/", a_filing(each, build, call=call))["Location"]
        for each in (script, make.script("noisy-room"))
    )
    correct(program, first, a_filing(script, other, call=call))
    assert set(Result.objects.values_list("build__name", flat=True)) == {"2026.44"}


def test_an_order_that_a_sheet_left_open_stays_open(
    program: Program, tester: User, script: Script, build: Build
) -> None:
    result = make.result(
        tester,
        script,
        build,
        problems=("too_fast", "cut_in"),
        ranks=(None, None),
        problem_order="groups",
        sheet_digest="x",
    )
    path = f"/api/v1/results/{result.pk}/"
    correct(program, path, a_filing(script, build, comment="Mended."))
    assert Result.objects.get().problem_order == "groups"
    correct(program, path, a_filing(script, build, problems=["cut_in", "too_fast"]))
    assert Result.objects.get().problem_order == "overall"


def test_a_retired_problem_may_stay_and_none_may_come(
    program: Program, path: str, script: Script, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tag in ("cut_in", "weird_gaze"):
        monkeypatch.setitem(taxonomy.TAG_BY_KEY, tag, taxonomy.Tag(tag, tag, retired_in=2))
    assert correct(program, path, a_filing(script, build, comment="Mended.")).status_code == 200
    assert correct(program, path, a_filing(script, build, problems=["weird_gaze"])).status_code == 422
    assert program.send(f"/api/v1/results/{uuid.uuid4()}/", a_filing(script, build)).status_code == 422


# --- the link ----------------------------------------------------------------------------------------


def test_the_link_comes_later(program: Program, path: str) -> None:
    answers = [program.send(f"{path}recording-link/", {"recording_link": f" {LINK} "}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert {answer.json()["recording_link"] for answer in answers} == {LINK}
    assert Result.objects.get().version == 2


@pytest.mark.parametrize("body", [{}, {"recording_link": ""}, {"recording_link": "ftp://a.example"}, {"link": LINK}])
def test_what_is_no_link_is_refused(program: Program, path: str, body: dict[str, str]) -> None:
    assert program.send(f"{path}recording-link/", body).status_code == 422
    assert Result.objects.get().recording_link == ""


def test_a_link_for_what_was_not_filed_is_refused(program: Program) -> None:
    path = f"/api/v1/results/{uuid.uuid4()}/recording-link/"
    assert program.send(path, {"recording_link": LINK}).status_code == 404


# --- the call ----------------------------------------------------------------------------------------


def test_what_was_kept_of_the_call_is_told(program: Program, tester: User, script: Script, build: Build) -> None:
    call = make.call(tester, script, build=build, moments=("She waited.", ""), ended_at_ms=95_000)
    call.moments.filter(words="").update(is_withdrawn=True)
    call.runs.update(ticks={"1": 4_000}, off_script_from_ms=60_000)
    result = make.result(tester, script, build, call_uuid=call.uuid)
    said = program.get(f"/api/v1/results/{result.pk}/call/").json()
    assert said["moments"] == [{"at_ms": 30_500, "words": "She waited."}]
    assert [(step["number"], step["at_ms"]) for step in said["steps"]] == [(1, 4_000), (2, None)]
    assert (said["call"], said["ended_at_ms"], said["off_script_from_ms"]) == (str(call.uuid), 95_000, 60_000)


def test_a_call_that_also_ran_a_safety_script_is_not_told(
    program: Program, tester: User, script: Script, build: Build
) -> None:
    call = make.call(tester, script, make.script("quiet-hint", area="safety"), moments=("Hidden.",))
    result = make.result(tester, script, build, call_uuid=call.uuid)
    assert program.get(f"/api/v1/results/{result.pk}/call/").status_code == 404
