"""Whatever goes wrong under /api/, a program can read it (RFC 9457); and every answer carries what pages carry."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from emma_eval.accounts.models import User
from emma_eval.accounts.programs.kinds import Kind
from tests import make
from tests.programs import Program
from tests.security.test_headers import POLICY, policy_of

pytestmark = pytest.mark.django_db
UUID = "0190b5a0-0000-4000-8000-000000000001"
RESULTS, ONE = "/api/v1/results/", f"/api/v1/results/{UUID}/"


def put(program: Client, body: bytes | str, path: str = ONE, content_type: str = "application/json") -> Any:
    return program.put(path, body, content_type=content_type)


ASKED: dict[str, tuple[int, Callable[[Client], Any]]] = {
    "no JSON at all": (400, lambda program: put(program, "{")),
    "not a number": (400, lambda program: put(program, '{"script": NaN}')),
    "half a letter": (400, lambda program: put(program, '{"script": "\\ud83d"}')),
    "bytes that are no UTF-8": (400, lambda program: put(program, b'{"script": "\xff"}')),
    "deeper than anybody needs": (400, lambda program: put(program, "[" * 90_000)),
    "a number of five thousand digits": (
        400,
        lambda program: put(program, '{"ratings": {"content": ' + "9" * 5000 + "}}"),
    ),
    "a null character in the address": (400, lambda program: program.get("/api/v1/scripts/a%00b/")),
    "an unknown host": (400, lambda program: program.get(RESULTS, headers={"Host": "elsewhere.example"})),
    "no token": (401, lambda program: Client().get(RESULTS)),
    "no role for it": (403, lambda program: put(program, "{}", "/api/v1/builds/2026.43/")),
    "no such endpoint": (404, lambda program: program.get("/api/v1/nothing/")),
    "no such endpoint, for strangers": (404, lambda program: Client().post("/api/nothing/")),
    "no such version of the interface": (404, lambda program: program.get("/api/v2/results/")),
    "no such result": (404, lambda program: program.get("/api/v1/results/123/")),
    "a result by no key": (404, lambda program: program.get("/api/v1/results/1e3/")),
    "a key of five thousand digits": (404, lambda program: program.get(f"/api/v1/results/{'9' * 5000}/")),
    "a wrong method": (405, lambda program: program.post(RESULTS)),
    "options": (405, lambda program: program.options(RESULTS)),
    "only HTML accepted": (406, lambda program: program.get(RESULTS, headers={"Accept": "text/html"})),
    "too large": (413, lambda program: put(program, json.dumps({"comment": "x" * 200_000}))),
    "far too large": (413, lambda program: put(program, "x" * 2_100_000)),
    "a form": (415, lambda program: put(program, "script=a", content_type="application/x-www-form-urlencoded")),
    "a list": (422, lambda program: put(program, "[]")),
    "nothing that is needed": (422, lambda program: put(program, "{}")),
    "an unknown parameter": (422, lambda program: program.get(f"{RESULTS}?scirpt=a")),
}


@pytest.mark.parametrize("name", ASKED)
def test_an_error_is_told_as_a_problem(tester: User, name: str) -> None:
    status, ask = ASKED[name]
    answer = ask(Program(tester))
    said = answer.json()
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert said["status"] == status
    assert said["type"] in {kind.type for kind in Kind if kind.value.status == status}
    assert said["title"]
    assert said["detail"]


def test_an_error_of_ours_tells_nothing_of_the_house(tester: User, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(tester)
    monkeypatch.setattr("results.api.results.tell_rows", _broken)
    answer = program.get(RESULTS)
    assert answer.status_code == 500
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["type"] == "/api/#our-fault"
    assert "on purpose" not in answer.text
    assert policy_of(answer) == POLICY


def _broken(*args: Any) -> Any:
    raise RuntimeError("on purpose")


def test_a_method_that_does_nothing_lists_those_that_do(tester: User) -> None:
    assert Program(tester).delete(ONE)["Allow"] == "GET, HEAD, PUT"


@pytest.mark.parametrize(
    "name", ["no token", "no such endpoint", "a wrong method", "too large", "nothing that is needed"]
)
def test_it_carries_what_pages_carry(tester: User, name: str) -> None:
    answer = ASKED[name][1](Program(tester))
    assert policy_of(answer) == POLICY
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"


def test_what_is_for_one_owner_is_kept_for_nobody_else(tester: User) -> None:
    answer = Program(tester).get(RESULTS)
    assert answer["Cache-Control"] == "private, no-cache"
    assert "Authorization" in answer["Vary"]
    assert policy_of(answer) == POLICY


def test_every_kind_of_error_has_its_place_on_the_page(tester: User) -> None:
    page = make.client_of(tester).get("/api/").text
    assert [kind.code for kind in Kind if f'id="{kind.code}"' not in page] == []


def test_every_fault_is_told_at_once_with_its_place(tester: User) -> None:
    body = {"ratings": {"content": 7, "contnt": 1}, "comment": 3, "a/b~c": 1, "recording_link": "ftp://a"}
    said = put(Program(tester), json.dumps(body)).json()
    places = {fault["pointer"] for fault in said["errors"]}
    assert places >= {
        *("/script", "/build", "/called_at", "/met_emma_before", "/comment", "/recording_link"),
        *("/ratings/content", "/ratings/contnt", "/ratings/voice_audio", "/a~1b~0c"),
    }


def test_a_page_for_people_stays_a_page(client: Client) -> None:
    assert client.get("/nothing-here/")["Content-Type"].startswith("text/html")
    assert client.get("/api/").status_code == 302
