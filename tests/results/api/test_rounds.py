"""Rounds for programs: planned once, read with what was run, closed and opened again."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from results.models import Round, Wanted
from results.rounds.progress import progress_of
from scripts_catalog.models import Build, Script
from tests import make
from tests.programs import Program

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
LIST = "/api/v1/rounds/"
KEY = "0190b5a0-0000-4000-8000-000000000001"
DUE = timezone.localdate() + timedelta(days=30)
PLAN: dict[str, Any] = {
    "name": "Before the release",
    "build": "2026.43",
    "due_on": DUE.isoformat(),
    "note": "With headphones.",
    "wanted": {"bad-news-day": 3, "noisy-room": 1},
}


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.43", is_current=True)


@pytest.fixture
def scripts(build: Build) -> list[Script]:
    return [make.script("bad-news-day"), make.script("noisy-room"), make.script("quiet-talk", area="safety")]


@pytest.fixture
def program(manager: User, scripts: list[Script]) -> Program:
    return Program(manager)


def plan(program: Program, key: str = KEY, **changes: Any) -> Any:
    return program.send(f"{LIST}{key}/", {name: said for name, said in {**PLAN, **changes}.items() if said is not ...})


def test_a_round_is_planned_as_on_the_page(program: Program, manager: User) -> None:
    answer = plan(program)
    assert answer.status_code == 201, answer.text
    made = Round.objects.get()
    assert (made.name, made.build.name, str(made.due_on), made.note, made.begun_by) == (
        *("Before the release", "2026.43", DUE.isoformat(), "With headphones."),
        manager,
    )
    assert dict(made.wanted.values_list("script_id", "runs")) == PLAN["wanted"]
    assert answer["Location"] == f"{LIST}{made.pk}/"
    assert program.get(answer["Location"]).json() == program.get(f"{LIST}{KEY}/").json() == answer.json()
    assert AuditEntry.objects.filter(action="planned a round", actor=manager).count() == 1


def test_sent_again_it_is_the_same_round_and_other_content_changes_nothing(program: Program) -> None:
    first = plan(program)
    again = plan(program)
    assert (again.status_code, again.json()) == (200, first.json())
    for changes in ({"name": "Another"}, {"wanted": {"noisy-room": 1}}, {"due_on": None}, {"name": ""}):
        answer = plan(program, **changes)
        assert (answer.status_code, answer.json()["round"]) == (409, first.json()["id"])
    assert program.get(f"{LIST}{KEY}/").json() == first.json()
    by_number = plan(program, key=first.json()["id"])
    assert by_number.status_code == 409


@pytest.mark.django_db(transaction=True)
def test_twenty_at_once_plan_one_round(program: Program) -> None:
    def send(_: int) -> Any:
        try:
            return plan(program)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(20)))
    assert sorted({answer.status_code for answer in answers}) == [200, 201]
    assert len({answer.text for answer in answers}) == 1
    assert Round.objects.count() == 1
    assert Wanted.objects.count() == 2


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"name": ...}, "/name"),
        ({"name": "  "}, "/name"),
        ({"name": "a" * 81}, "/name"),
        ({"build": "1999.1"}, "/build"),
        ({"build": 7}, "/build"),
        ({"due_on": "soon"}, "/due_on"),
        ({"due_on": "1850-01-01"}, "/due_on"),
        ({"due_on": "2026-01-01"}, "/due_on"),
        ({"note": "a" * 501}, "/note"),
        ({"wanted": {}}, "/wanted"),
        ({"wanted": ["bad-news-day"]}, "/wanted"),
        ({"wanted": {"bad-news-day": "3"}}, "/wanted"),
        ({"wanted": {"bad-news-day": 0}}, "/wanted/bad-news-day"),
        ({"wanted": {"bad-news-day": -1}}, "/wanted/bad-news-day"),
        ({"wanted": {"bad-news-day": 1001}}, "/wanted/bad-news-day"),
        ({"wanted": {"no-such": 1, "bad-news-day": 1}}, "/wanted/no-such"),
        ({"wanted": {"quiet-talk": 1}}, "/wanted/quiet-talk"),
        ({"owner": "me"}, "/owner"),
    ],
)
def test_it_is_judged_by_the_form_of_the_page(program: Program, changes: dict[str, Any], place: str) -> None:
    answer = plan(program, **changes)
    assert answer.status_code == 422, answer.text
    assert place in [fault["pointer"] for fault in answer.json()["errors"]]
    assert not Round.objects.exists()


@pytest.mark.parametrize("wanted", [{"no-such": 1}, {"bad-news-day": 0}, {"quiet-talk": 1}])
def test_only_the_true_fault_is_told(program: Program, wanted: dict[str, int]) -> None:
    (slug,) = wanted
    assert [fault["pointer"] for fault in plan(program, wanted=wanted).json()["errors"]] == [f"/wanted/{slug}"]


def test_what_was_run_is_counted_as_on_the_page(
    program: Program, manager: User, tester: User, scripts: list[Script], build: Build
) -> None:
    made = plan(program).json()
    for _ in range(2):
        make.result(tester, scripts[0], build)
    make.result(tester, scripts[0], build, never_started=True)
    (row,) = program.get(LIST).json()["items"]
    shown = progress_of(manager, Round.objects.select_related("build"))[0]
    assert (row["id"], row["wanted"], row["missing"]) == (made["id"], shown.wanted, shown.missing) == (made["id"], 4, 2)
    assert [(each["script"], each["runs"], each["people"], each["missing"]) for each in row["scripts"]] == [
        (line.slug, line.done.runs, line.done.people, line.missing) for line in shown.lines
    ]


def test_a_round_is_closed_and_opened_again(program: Program) -> None:
    plan(program)
    state = f"{LIST}{KEY}/state/"
    assert program.send(state, {"is_open": False}).json()["closed_at"] is not None
    assert program.send(state, {"is_open": False}).status_code == 200
    assert program.get(LIST).json()["items"] == []
    assert len(program.get(f"{LIST}?state=closed").json()["items"]) == 1
    assert program.send(state, {"is_open": True}).json()["closed_at"] is None
    said = AuditEntry.objects.values_list("action", flat=True)
    assert [action for action in said if "closed" in action] == ["closed a round"]
    assert program.send(state, {"is_open": "no"}).status_code == 422


def test_pages_follow_each_other(program: Program) -> None:
    made = [plan(program, key=str(uuid.UUID(int=number))).json()["id"] for number in range(5)]
    page, seen = program.get(f"{LIST}?page_size=2").json(), []
    seen += page["items"]
    while page["next"]:
        page = program.get(page["next"]).json()
        seen += page["items"]
    assert [row["id"] for row in seen] == made[::-1]
    for wrong in ("state=all", "after=x", "page_size=0", "build=2026.43"):
        assert program.get(f"{LIST}?{wrong}").status_code == 422


def test_what_others_must_not_know_of_is_not_there_and_stays_wanted(program: Program, scripts: list[Script]) -> None:
    trained = make.user("trained@example.test", Role.MANAGER, is_trained=True)
    theirs = Program(trained)
    hidden = plan(theirs, key=str(uuid.UUID(int=1)), name="Quiet", wanted={"quiet-talk": 2})
    mixed = plan(theirs, key=str(uuid.UUID(int=2)), wanted={"quiet-talk": 2, "noisy-room": 1})
    assert (hidden.status_code, mixed.status_code) == (201, 201)
    (row,) = program.get(LIST).json()["items"]
    assert (row["id"], row["wanted"], len(row["scripts"])) == (mixed.json()["id"], 1, 1)
    for path in (f"{LIST}{hidden.json()['id']}/", f"{LIST}{uuid.UUID(int=1)}/"):
        assert program.get(path).status_code == 404
    assert plan(program, key=str(uuid.UUID(int=1))).status_code == 201, "another's UUID is another's"
