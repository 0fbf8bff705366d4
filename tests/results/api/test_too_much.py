"""A request that says far too much is refused at once, and in few words."""

from __future__ import annotations

import json
import time
import uuid
from typing import Any

import pytest
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.accounts.programs.body import MOST_FAULTS
from emma_eval.accounts.programs.scopes import Scope
from results.api.read_filing import FilingBody
from results.filing.rules import Code, Filing, Ratings, faults_of
from scripts_catalog.models import Build, Script
from tests import make
from tests.programs import Program

from .sent import a_filing

pytestmark = pytest.mark.django_db
AT_ONCE_S = 1.0  # of this process's own time


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.43", is_current=True)


def put(user: User, body: Any) -> tuple[Any, float]:
    """The answer, and what it cost."""
    program = Program(user, *Scope)
    program.get("/api/v1/token/")
    began = time.process_time()
    return program.send(f"/api/v1/results/{uuid.uuid4()}/", body), time.process_time() - began


def test_a_list_longer_than_all_there_is_is_not_looked_through(tester: User, script: Script, build: Build) -> None:
    answer, cost = put(tester, a_filing(script, build, problems=["cut_in"] * 18_000))
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/problems"]
    assert cost < AT_ONCE_S


def test_the_rules_themselves_take_no_longer_for_each_of_many_than_for_one_of_few(script: Script, build: Build) -> None:
    assert script.latest is not None
    filing = Filing(script.latest, build, timezone.now(), Ratings(), problems=("cut_in",) * 60_000)
    began = time.process_time()
    found = faults_of(filing, timezone.now())
    assert time.process_time() - began < AT_ONCE_S
    assert sum(fault.code == Code.DOUBLED_TAG for fault in found) == 59_999


def test_of_very_many_faults_the_first_are_told(tester: User, script: Script, build: Build) -> None:
    answer, cost = put(tester, a_filing(script, build) | {f"x{n}": 1 for n in range(15_000)})
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == MOST_FAULTS + 1
    assert answer.json()["errors"][-1]["detail"] == f"These are the first {MOST_FAULTS} faults; there are more."
    assert len(answer.content) < 10_000
    assert cost < AT_ONCE_S


def test_a_name_that_is_very_long_is_not_said_again_whole(tester: User, script: Script, build: Build) -> None:
    answer, _ = put(tester, a_filing(script, build) | {"x" * 150_000: 1})
    assert answer.status_code == 422
    assert len(answer.content) < 2_000


def test_a_round_of_very_many_scripts_is_refused_at_once(manager: User, script: Script, build: Build) -> None:
    program = Program(manager, *Scope)
    body = {"name": "Many", "build": build.name, "wanted": {f"x{n}": 1 for n in range(12_000)}}
    began = time.process_time()
    answer = program.send(f"/api/v1/rounds/{uuid.uuid4()}/", body)
    assert answer.status_code == 422
    assert time.process_time() - began < AT_ONCE_S
    assert len(answer.content) < 10_000


@pytest.mark.parametrize("place", ['{"build": "a", "build": "b"}', '{"ratings": {"content": 1, "content": 5}}'])
def test_what_is_said_twice_is_not_read_at_all(tester: User, place: str) -> None:
    answer = Program(tester, *Scope).put(
        f"/api/v1/results/{uuid.uuid4()}/", place.encode(), content_type="application/json"
    )
    assert answer.status_code == 400


def test_the_document_says_how_long_the_list_may_be() -> None:
    assert "maxItems" in json.dumps(FilingBody().fields["problems"]._spectacular_annotation)
