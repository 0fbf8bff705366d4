"""Results that wait, and reviewers for them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import QueuedFor, Result
from scripts_catalog.models import Build, Script
from tests import make

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
Waiting = Callable[..., Result]
_count = itertools.count(1)


@pytest.fixture
def script(db: None) -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.10", is_current=True)


@pytest.fixture
def waiting(tester: User, script: Script, build: Build) -> Waiting:
    """Make a result that waits: `waiting(QueuedFor.SAMPLE, problems=("cut_in",))`."""

    def make_one(reason: QueuedFor | None = QueuedFor.OTHER_TAG, **fields: Any) -> Result:
        fields.setdefault("tester", tester)
        fields.setdefault("script", script)
        return make.result(build=build, queued_for=reason, **{"problems": ("too_long", "cut_in"), **fields})

    return make_one


@pytest.fixture
def rae(db: None) -> User:
    return reviewer("Rae")


@pytest.fixture
def ron(db: None) -> User:
    return reviewer("Ron")


def reviewer(name: str = "", *roles: Role, is_trained: bool = False) -> User:
    name = name or f"Reviewer {next(_count)}"
    address = f"{name.lower().replace(' ', '-')}@example.test"
    return make.user(address, Role.EVAL_TEAM, *roles, is_trained=is_trained, name=name)
