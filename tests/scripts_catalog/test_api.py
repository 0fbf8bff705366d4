"""Scripts, builds and the taxonomy for programs."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, RunCount, Script, ScriptVersion
from tests import make
from tests.programs import Program

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
SCRIPTS, BUILDS, CURRENT = "/api/v1/scripts/", "/api/v1/builds/", "/api/v1/current-build/"


@pytest.fixture
def program(tester: User) -> Program:
    return Program(tester)


@pytest.fixture
def registrar(eval_member: User) -> Program:
    return Program(eval_member)


def slugs(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [item["slug"] for item in answer.json()["items"]]


def newer_version(script: Script, number: int, **changes: Any) -> ScriptVersion:
    assert script.latest is not None
    old = script.latest
    said = {name: getattr(old, name) for name in ("title", "area", "main_dimension", "summary", "what_to_do", "steps")}
    script.latest = ScriptVersion.objects.create(script=script, number=number, **{**said, **changes})
    script.save()
    return script.latest


# --- scripts -----------------------------------------------------------------------------------------


def test_a_script_is_told_whole(program: Program) -> None:
    make.script("bad-news-day", title="Bad news day")
    said = program.get(f"{SCRIPTS}bad-news-day/").json()
    latest = said["latest"]
    assert (said["slug"], said["retired_at"], latest["version"], latest["title"]) == (
        *("bad-news-day", None),
        *(1, "Bad news day"),
    )
    assert latest["steps"] == ["Say hello.", "Ask her a question."]
    assert latest["anchors"] == [{"dimension": "content", "five": "Answers it well.", "one": "Makes it up."}]
    assert said["url"].endswith("/scripts/bad-news-day/")
    assert program.get(SCRIPTS).json()["items"] == [said]


def test_the_list_is_in_the_order_of_the_slugs_and_goes_on(program: Program) -> None:
    names = [f"script-{letter}" for letter in "edcba"]
    for name in names:
        make.script(name)
    answer, seen = program.get(f"{SCRIPTS}?page_size=2"), []
    seen.append(slugs(answer))
    while answer.json()["next"]:
        answer = program.get(answer.json()["next"])
        seen.append(slugs(answer))
    assert seen == [["script-a", "script-b"], ["script-c", "script-d"], ["script-e"]]


def test_it_is_narrowed_as_the_tab_is(program: Program, tester: User) -> None:
    build = make.build("2026.43", is_current=True)
    script = make.script("bad-news-day", summary="How she takes bad news.")
    make.script("show-an-object", area="feelings", uses_camera=True, main_dimension="vision")
    RunCount.objects.add(script, build, filed_as_safety=False)
    for query in ("q=BAD+news", "area=everyday", "dimension=content", "camera=no"):
        assert slugs(program.get(f"{SCRIPTS}?{query}")) == ["bad-news-day"], query
    assert slugs(program.get(f"{SCRIPTS}?unrun=yes")) == ["show-an-object"]


def test_retired_scripts_are_listed_for_the_eval_team_and_read_by_everybody(
    program: Program, registrar: Program
) -> None:
    make.script("old-one")
    Script.objects.update(retired_at=datetime(2026, 3, 1, tzinfo=UTC))
    assert slugs(program.get(SCRIPTS)) == []
    assert slugs(registrar.get(f"{SCRIPTS}?retired=yes")) == ["old-one"]
    assert program.get(f"{SCRIPTS}?retired=yes").status_code == 422
    assert program.get(f"{SCRIPTS}old-one/").json()["retired_at"] == "2026-03-01T00:00:00Z"


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("area=safety", "area"),
        ("area=none", "area"),
        ("dimension=none", "dimension"),
        ("camera=perhaps", "camera"),
        ("unrun=no", "unrun"),
        ("q=", "q"),
        ("q=" + "x" * 101, "q"),
        ("page_size=0", "page_size"),
        ("page_size=%EF%BC%91", "page_size"),
        ("before=a", "before"),
    ],
)
def test_what_is_not_understood_is_refused(program: Program, query: str, parameter: str) -> None:
    answer = program.get(f"{SCRIPTS}?{query}")
    assert answer.status_code == 422
    assert [fault["parameter"] for fault in answer.json()["errors"]] == [parameter]


def test_versions_are_told_by_the_numbers_that_their_reader_knows(program: Program, trained_tester: User) -> None:
    script = make.script("moved-out", area="safety", title="Once hidden")
    newer_version(script, 2, area="everyday", title="Open")
    newer_version(script, 3, area="everyday", title="Open again")
    script.area = "everyday"
    script.save()
    path = f"{SCRIPTS}moved-out/versions/"
    for reader, numbers in ((program, [2, 1]), (Program(trained_tester), [3, 2, 1])):
        assert [item["version"] for item in reader.get(path).json()["items"]] == numbers
        assert reader.get(f"{path}{numbers[0]}/").json()["title"] == "Open again"
    assert "Once hidden" not in program.get(path).text
    assert program.get(f"{path}3/").status_code == 404
    first = program.get(f"{path}?page_size=1").json()
    assert [item["version"] for item in program.get(first["next"]).json()["items"]] == [1]


@pytest.mark.parametrize("after", ["0", "x", "-1", "9999999999"])
def test_a_place_that_is_none_is_refused(program: Program, after: str) -> None:
    make.script("bad-news-day")
    assert program.get(f"{SCRIPTS}bad-news-day/versions/?after={after}").status_code == 422


def test_no_script_costs_a_query_more(program: Program) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert program.get(SCRIPTS).status_code == 200
        return len([query for query in found.captured_queries if "busy_timeout" not in query["sql"]])

    make.script()
    program.get(SCRIPTS)
    before = queries()
    for _ in range(20):
        make.script()
    assert queries() == before


def test_the_taxonomy_is_the_one_of_the_forms(program: Program) -> None:
    said = program.get("/api/v1/taxonomy/").json()
    assert [dimension["key"] for dimension in said["dimensions"]] == [one.key for one in taxonomy.DIMENSIONS]
    assert [tag["key"] for group in said["groups"] for tag in group["tags"]] == list(taxonomy.TAG_BY_KEY)
    assert [step["rating"] for step in said["scale"]] == [rating for rating, _ in taxonomy.SCALE]
    assert said["edition"] == taxonomy.EDITION


# --- builds ------------------------------------------------------------------------------------------


def test_a_build_is_registered_once_under_its_name(registrar: Program, eval_member: User) -> None:
    body = {"released_on": "2026-10-21", "note": "Waits longer.", "call_link": "https://emma.example/43"}
    answers = [registrar.send(f"{BUILDS}2026.43/", body) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 200, 200]
    build = Build.objects.get()
    assert (build.released_on, build.note, build.call_link) == (date(2026, 10, 21), *list(body.values())[1:])
    assert answers[0].json() == {"name": "2026.43", "is_current": True, **body}
    assert answers[0]["Location"] == f"{BUILDS}2026.43/"
    assert AuditEntry.objects.filter(action="registered a build", actor=eval_member).count() == 1
    assert not AuditEntry.objects.filter(action="changed a build").exists()


def test_what_is_left_out_stays_as_it_is(registrar: Program) -> None:
    registrar.send(f"{BUILDS}2026.43/", {"released_on": "2026-10-21", "note": "Waits longer."})
    assert registrar.send(f"{BUILDS}2026.43/", {}).json()["note"] == "Waits longer."
    said = registrar.send(f"{BUILDS}2026.43/", {"released_on": None, "note": "Other."}).json()
    assert (said["released_on"], said["note"]) == (None, "Other.")


def test_the_first_build_is_current_and_a_later_one_is_made_so(registrar: Program) -> None:
    assert registrar.get(CURRENT).status_code == 404
    registrar.send(f"{BUILDS}2026.43/", {})
    assert registrar.send(f"{BUILDS}2026.44/", {}).json()["is_current"] is False
    assert registrar.get(CURRENT).json()["name"] == "2026.43"
    for _ in range(2):
        assert registrar.send(CURRENT, {"name": "2026.44"}).json()["is_current"] is True
    assert registrar.get(CURRENT).json()["name"] == "2026.44"
    assert AuditEntry.objects.filter(action="made a build current").count() == 2


def test_a_build_that_is_not_registered_is_not_made_current(registrar: Program) -> None:
    assert registrar.send(CURRENT, {"name": "1999.1"}).json()["errors"][0]["pointer"] == "/name"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("2026.43 beta", "2026.43%20beta"),
        ("release/2026.43", "release/2026.43"),
        ("ビルド 1", "%E3%83%93%E3%83%AB%E3%83%89%201"),
    ],
)
def test_any_name_of_the_form_will_do(registrar: Program, name: str, path: str) -> None:
    answer = registrar.send(f"{BUILDS}{path}/", {})
    assert (answer.status_code, answer.json()["name"]) == (201, name)
    assert registrar.get(f"{BUILDS}{path}/").json()["name"] == name
    assert registrar.get(answer["Location"]).status_code == 200


@pytest.mark.parametrize("path", ["any", "ANY", "2026.9%E2%80%8B", "%E2%80%AE2026.9"])
def test_a_name_that_deceives_is_refused_with_its_place(registrar: Program, path: str) -> None:
    answer = registrar.send(f"{BUILDS}{path}/", {})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/name")
    assert not Build.objects.exists()


def test_a_name_that_looks_like_another_is_refused_with_that_one(registrar: Program) -> None:
    registrar.send(f"{BUILDS}2026.9/", {})
    answer = registrar.send(f"{BUILDS}%EF%BC%92026.9/", {})
    assert (answer.status_code, answer.json()["name"]) == (409, "2026.9")


def test_a_name_that_sorts_like_another_is_refused_with_that_one(registrar: Program) -> None:
    registrar.send(f"{BUILDS}2026.9/", {})
    answer = registrar.send(f"{BUILDS}2026.09/", {})
    assert (answer.status_code, answer.json()["name"]) == (409, "2026.9")
    assert Build.objects.count() == 1


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("2026.43", {"released_on": "yesterday"}, "/released_on"),
        ("2026.43", {"released_on": 2026}, "/released_on"),
        ("2026.43", {"call_link": "javascript:alert(1)"}, "/call_link"),
        ("2026.43", {"call_link": "https://me:pw@emma.example"}, "/call_link"),
        ("2026.43", {"note": "x" * 2001}, "/note"),
        ("2026.43", {"note": None}, "/note"),
        ("2026.43", {"is_current": True}, "/is_current"),
        ("x" * 61, {}, "/name"),
        ("1." * 30, {}, "/name"),
        ("%20", {}, "/name"),
    ],
)
def test_what_the_form_refuses_is_refused(registrar: Program, path: str, body: Any, pointer: str) -> None:
    answer = registrar.send(f"{BUILDS}{path}/", body)
    assert answer.status_code == 422
    assert [fault["pointer"] for fault in answer.json()["errors"]] == [pointer]
    assert not Build.objects.exists()


def test_what_is_said_of_builds_is_for_the_eval_team(program: Program, registrar: Program) -> None:
    registrar.send(f"{BUILDS}2026.43/", {"note": "Waits longer."})
    assert program.get(f"{BUILDS}2026.43/").json() == {"name": "2026.43", "is_current": True}
    assert "Waits longer." not in program.get(BUILDS).text
    assert program.send(f"{BUILDS}2026.44/", {}).status_code == 403


def test_builds_are_listed_newest_first_as_their_names_sort(program: Program) -> None:
    for name in ("2026.9", "2026.10", "2025.52"):
        make.build(name)
    first = program.get(f"{BUILDS}?page_size=2").json()
    assert [item["name"] for item in first["items"]] == ["2026.10", "2026.9"]
    assert [item["name"] for item in program.get(first["next"]).json()["items"]] == ["2025.52"]


@pytest.mark.django_db(transaction=True)
def test_of_twenty_registrations_at_once_one_is_new() -> None:
    program, together = Program(make.user("eve@example.test", Role.EVAL_TEAM)), Barrier(20)

    def send(number: int) -> int:
        try:
            mine = Program.__new__(Program)
            mine.__dict__.update(program.__dict__)
            together.wait()
            return int(mine.send(f"{BUILDS}2026.43/", {"note": "Waits longer."}).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        assert Counter(pool.map(send, range(20))) == {201: 1, 200: 19}
    assert Build.objects.get().note == "Waits longer."
