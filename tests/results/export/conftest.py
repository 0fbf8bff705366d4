"""Results of every kind, for exports."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import ProblemOrder, Result
from tests import make

CALLED = datetime(2026, 3, 2, 7, 44, 5, 123456, tzinfo=UTC)


@dataclass(frozen=True)
class Kinds:
    """One result of each kind, the newest first."""

    full: Result
    biggest_only: Result
    within_groups: Result
    never_started: Result

    def newest_first(self) -> list[Result]:
        return [self.full, self.biggest_only, self.within_groups, self.never_started]


@pytest.fixture
def kinds(db: None) -> Kinds:
    tester = make.user("ana@example.test", Role.TESTER, name="Ana Lopes")
    script, build = make.script("bad-news-day", uses_camera=True), make.build("2026.10")
    call = make.call(tester, script, build=build, moments=("she froze", "", "=1+1"))
    full = make.result(
        tester,
        script,
        build,
        called_at=CALLED,
        call_uuid=call.uuid,
        recording_link="https://recordings.example.test/1",
        problems=("did_not_stop", "too_long", "cut_in"),
        comment='She said "wait", then\ncut in.',
        met_emma_before=True,
        browser="Chrome",
        device="phone",
        connection="4g",
        sheet_worst_moment="-the end",
        sheet_minute_in_call="3:20",
        reviewed_at=CALLED + timedelta(days=1),
    )
    biggest_only = make.result(
        tester,
        script,
        build,
        called_at=CALLED - timedelta(days=1),
        problems=("too_long", "cut_in", "did_not_stop"),
        ranks=(1, None, None),
        problem_order=ProblemOrder.BIGGEST,
        camera_used=False,
        camera_note="@home without one",
        comment="=HYPERLINK(1)",
    )
    within_groups = make.result(
        tester,
        script,
        build,
        called_at=CALLED - timedelta(days=2),
        problems=("cut_in", "too_long"),
        ranks=(None, None),
        problem_order=ProblemOrder.GROUPS,
        comment="'+1 '",
    )
    never_started = make.result(
        tester,
        script,
        build,
        called_at=CALLED - timedelta(days=3),
        problems=("stuck_start",),
        never_started=True,
        camera_used=False,
        call_uuid=uuid.uuid4(),
    )
    return Kinds(full, biggest_only, within_groups, never_started)


@pytest.fixture(autouse=True)
def _files(settings: Settings, tmp_path: Path) -> None:
    """A folder of each test alone."""
    folder = tmp_path / "exports"
    settings.EXPORTS_DIR = folder
    storage = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": folder}}
    settings.STORAGES = {**settings.STORAGES, "exports": storage}


@pytest.fixture
def client(eval_client: Client) -> Client:
    """Somebody who may export."""
    return eval_client


@pytest.fixture
def owner(eval_member: User) -> User:
    return eval_member
