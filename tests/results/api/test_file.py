"""Filing by a program: once for each UUID, however often and from however many places at once."""

from __future__ import annotations

import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from results.filing.save_draft import save_draft
from results.models import Draft, Problem, Result
from scripts_catalog.models import Build, RunCount, Script, ScriptVersion
from tests import make
from tests.programs import Program
from tests.results.filing.sent import fields, file

from .sent import a_filing

pytestmark = pytest.mark.data_layer


@pytest.fixture
def script(db: None) -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.43", is_current=True)


@pytest.fixture
def program(tester: User) -> Program:
    return Program(tester)


def put(program: Program, body: Any, key: uuid.UUID | str | None = None, **headers: str) -> Any:
    return program.send(f"/api/v1/results/{key or uuid.uuid4()}/", body, **headers)


def faults(answer: Any) -> dict[str, str]:
    assert answer.status_code == 422, answer.text
    return {fault["pointer"]: fault["detail"] for fault in answer.json()["errors"]}


def test_it_files_and_says_where_it_stands(program: Program, tester: User, script: Script, build: Build) -> None:
    answer = put(program, a_filing(script, build, comment="A\r\nB\x00 ", met_emma_before=True))
    result = Result.objects.get()
    assert answer.status_code == 201
    assert answer["Location"] == f"/api/v1/results/{result.pk}/"
    assert answer["ETag"] == program.get(answer["Location"])["ETag"]
    assert (result.tester, result.comment, result.met_emma_before, result.script_version) == (
        *(tester, "A\nB", True),
        script.latest,
    )
    assert list(Problem.objects.values_list("tag", "position", "rank")) == [("too_fast", 1, 1), ("cut_in", 2, 2)]
    assert RunCount.objects.get().runs == 1
    assert AuditEntry.objects.filter(action="filed a result", actor=tester, target=str(result.pk)).count() == 1


def test_the_same_again_is_the_same_result(program: Program, script: Script, build: Build) -> None:
    key, body = uuid.uuid4(), a_filing(script, build)
    answers = [put(program, body, key) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 200, 200]
    assert len({answer.content for answer in answers}) == 1
    assert RunCount.objects.get().runs == 1


def test_other_content_under_the_same_uuid_changes_nothing(program: Program, script: Script, build: Build) -> None:
    key = uuid.uuid4()
    put(program, a_filing(script, build), key)
    result = Result.objects.get()
    for other in (a_filing(script, build, comment="Other."), a_filing(script, build, build="none"), {}):
        answer = put(program, other, key)
        assert answer.status_code == 409
        assert answer.json()["result"] == str(result.pk)
    assert Result.objects.get().comment == ""


def test_two_testers_may_have_one_uuid(program: Program, trained_tester: User, script: Script, build: Build) -> None:
    key = uuid.uuid4()
    answers = [put(one, a_filing(script, build), key) for one in (program, Program(trained_tester))]
    assert [answer.status_code for answer in answers] == [201, 201]


def test_what_the_form_filed_is_the_same_to_a_program(
    program: Program, tester: User, script: Script, build: Build
) -> None:
    key = uuid.uuid4()
    file(make.client_of(tester), fields(script, build, problems=("too_fast", "cut_in")), key)
    assert put(program, a_filing(script, build), key).status_code == 200
    assert Result.objects.count() == 1


def test_filing_ends_the_draft_of_this_uuid(program: Program, tester: User, script: Script, build: Build) -> None:
    key = uuid.uuid4()
    save_draft(tester, key, script, {"comment": "Begun."}, based_on=0)
    put(program, a_filing(script, build), key)
    assert not Draft.objects.exists()


def test_a_draft_that_is_kept_from_its_tester_is_not_written_over(
    program: Program, tester: User, script: Script, build: Build
) -> None:
    key, hidden = uuid.uuid4(), make.script("quiet-hint", area="safety")
    save_draft(tester, key, hidden, {"comment": "Begun."}, based_on=0)
    assert put(program, a_filing(script, build), key).status_code == 404
    assert Draft.objects.count() == 1


def test_a_safety_result_of_ones_own_is_gone_with_the_training(
    trained_tester: User, build: Build, script: Script
) -> None:
    hidden, key = make.script("quiet-hint", area="safety"), uuid.uuid4()
    program = Program(trained_tester)
    assert put(program, a_filing(hidden, build), key).status_code == 201
    assert Result.objects.get().filed_as_safety
    trained_tester.trainings.all().delete()
    assert "/script" in faults(put(program, a_filing(hidden, build)))
    for answer in (put(program, a_filing(hidden, build), key), put(program, a_filing(script, build), key)):
        assert answer.status_code == 404
    assert program.get(f"/api/v1/results/{key}/").status_code == 404


# --- the version, the call ---------------------------------------------------------------------------


def test_the_version_that_was_run_can_be_named(program: Program, script: Script, build: Build) -> None:
    assert script.latest is not None
    old = script.latest
    values = {field: getattr(old, field) for field in ("title", "area", "main_dimension", "summary", "what_to_do")}
    script.latest = ScriptVersion.objects.create(script=script, number=2, steps=["Say hello."], **values)
    script.save()
    put(program, a_filing(script, build, script_version=1))
    assert Result.objects.get().script_version == old
    assert faults(put(program, a_filing(script, build, script_version=3))) == {
        "/script_version": "This script has no such version."
    }


def test_scripts_of_one_call_share_it_and_its_link(program: Program, script: Script, build: Build) -> None:
    call, other = str(uuid.uuid4()), make.script("noisy-room")
    put(program, a_filing(script, build, call=call))
    answer = put(program, a_filing(other, build, call=call, recording_link="https://a.example/1"))
    assert answer.status_code == 201
    assert set(Result.objects.values_list("recording_link", flat=True)) == {"https://a.example/1"}
    assert {str(uuid) for uuid in Result.objects.values_list("call_uuid", flat=True)} == {call}


def test_what_is_at_odds_with_the_call_is_refused_with_its_fields(
    program: Program, script: Script, build: Build
) -> None:
    call, other = str(uuid.uuid4()), make.script("noisy-room")
    put(program, a_filing(script, build, call=call))
    said = faults(put(program, a_filing(other, make.build("2026.44"), call=call, met_emma_before=True)))
    assert set(said) == {"/build", "/met_emma_before"}
    assert "This call is filed with build 2026.43." in said["/build"]


def test_a_script_is_filed_once_for_a_call(program: Program, script: Script, build: Build) -> None:
    call = str(uuid.uuid4())
    put(program, a_filing(script, build, call=call))
    answer = put(program, a_filing(script, build, call=call, comment="Again."))
    assert answer.status_code == 409
    assert answer.json()["result"] == str(Result.objects.get().pk)


# --- what is sent ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"script": ...}, "/script"),
        ({"script": 7}, "/script"),
        ({"script": "a\x00b"}, "/script"),
        ({"script_version": 0}, "/script_version"),
        ({"script_version": True}, "/script_version"),
        ({"script_version": 10**30}, "/script_version"),
        ({"build": ...}, "/build"),
        ({"build": None}, "/build"),
        ({"build": "2026.043"}, "/build"),
        ({"build": "\x00"}, "/build"),
        ({"call": "1"}, "/call"),
        ({"call": 12}, "/call"),
        ({"call": "{0190b5a0-0000-4000-8000-000000000001}"}, "/call"),
        ({"called_at": ...}, "/called_at"),
        ({"called_at": "2026-03-02"}, "/called_at"),
        ({"called_at": "2026-03-02T14:36:00"}, "/called_at"),
        ({"called_at": "2026-03-02 14:36:00+08:00"}, "/called_at"),
        ({"called_at": "2026-02-30T14:36:00Z"}, "/called_at"),
        ({"called_at": "0001-01-01T00:00:00+14:00"}, "/called_at"),
        ({"called_at": "9999-12-31T23:59:59-12:00"}, "/called_at"),
        ({"called_at": 1772433360}, "/called_at"),
        ({"never_started": "no"}, "/never_started"),
        ({"camera_used": 1}, "/camera_used"),
        ({"camera_used": None}, "/camera_used"),
        ({"met_emma_before": ...}, "/met_emma_before"),
        ({"ratings": ...}, "/ratings/content"),
        ({"ratings": []}, "/ratings"),
        ({"ratings": {"content": "4"}}, "/ratings/content"),
        ({"ratings": {"content": True}}, "/ratings/content"),
        ({"ratings": {"content": 4.5}}, "/ratings/content"),
        ({"ratings": {"content": 1e300}}, "/ratings/content"),
        ({"ratings": {"content": -(10**40)}}, "/ratings/content"),
        ({"ratings": {"contents": 4}}, "/ratings/contents"),
        ({"problems": "cut_in"}, "/problems"),
        ({"problems": ["cut_in", 1]}, "/problems"),
        ({"problems": ["cut_in", "cut_in"]}, "/problems"),
        ({"problems": ["none"]}, "/problems"),
        ({"comment": 1}, "/comment"),
        ({"comment": None}, "/comment"),
        ({"comment": "x" * 20_001}, "/comment"),
        ({"recording_link": "javascript:alert(1)"}, "/recording_link"),
        ({"recording_link": "https://a.example/" + "x" * 2000}, "/recording_link"),
        ({"notes": "x"}, "/notes"),
    ],
)
def test_a_wrong_field_is_named(
    program: Program, script: Script, build: Build, changes: dict[str, Any], place: str
) -> None:
    assert place in faults(put(program, a_filing(script, build, **changes)))
    assert Result.objects.count() == 0


def test_the_words_are_those_of_the_form(program: Program, script: Script, build: Build) -> None:
    ratings = {"listening_timing": 0, "content": 4.5, "voice_audio": 4, "emotional_fit": 4, "vision": 3}
    said = faults(put(program, a_filing(script, build, ratings=ratings, problems=["other_content"])))
    assert said == {
        "/ratings/listening_timing": "Listening & timing must be from 1 to 5, not 0.",
        "/ratings/content": "Content must be a whole number from 1 to 5, not “4.5”.",
        "/ratings/face_video": "Rate Face & video from 1 to 5.",
        "/ratings/vision": "Vision is rated, but you say the camera was not used: take one of the two back.",
        "/comment": "You picked “Other content problem (describe in a note)”: "
        "write a few words about it in the comment.",
    }


def test_a_whole_number_may_be_written_as_one_of_the_other_kind(program: Program, script: Script, build: Build) -> None:
    ratings = {**a_filing(script, build)["ratings"], "content": 4.0}
    assert put(program, a_filing(script, build, ratings=ratings)).status_code == 201
    assert Result.objects.get().content == 4


# --- many at once ------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("differs", [False, True], ids=["the same content", "two contents"])
def test_of_twenty_at_once_one_files_and_all_are_told_the_same(differs: bool) -> None:
    tester = make.user("tess@example.test", Role.TESTER)
    script, build = make.script("bad-news-day"), make.build("2026.43", is_current=True)
    program, key, together = Program(tester), uuid.uuid4(), Barrier(20)
    bodies = [a_filing(script, build, comment="Other." if differs and number % 2 else "") for number in range(20)]

    def send(body: dict[str, Any]) -> Any:
        try:
            mine = Program.__new__(Program)
            mine.__dict__.update(program.__dict__)
            together.wait()
            return put(mine, body, key)
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(send, bodies))
    result = Result.objects.get()
    expected = {201: 1, 200: 9, 409: 10} if differs else {201: 1, 200: 19}
    assert Counter(answer.status_code for answer in answers) == expected
    assert len({answer.content for answer in answers if answer.status_code < 300}) == 1
    assert {answer.json()["result"] for answer in answers if answer.status_code == 409} <= {str(result.pk)}
    assert RunCount.objects.get().runs == 1
    assert Problem.objects.count() == 2
