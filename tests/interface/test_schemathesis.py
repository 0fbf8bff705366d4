"""schemathesis finds nothing: programs of four roles ask for about two thousand things, right and wrong, in rows."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from emma_eval.accounts.throttle import Limit
from results.api.describe import A_NUMBER
from results.models import QueuedFor
from tests import make
from tests.programs import Program

pytestmark = pytest.mark.django_db(transaction=True)
CONFIG = Path(__file__).parent / "schemathesis.toml"
SEED = 20_260_302
# For a longer look: EMMA_SCHEMATHESIS=10 ./emma test -k schemathesis makes ten times as many.
TIMES = int(os.environ.get("EMMA_SCHEMATHESIS", "1"))
WHOLE = "examples,coverage,fuzzing,stateful"
# Who writes is looked at in every corner of what may be sent; the others read. What a role may not do at all is not
# asked in its name (that it is refused, tests/security shows), nor is what the tester writes asked again of the team.
ROUNDS = {
    Role.TESTER: (WHOLE, 3, 900),
    Role.EVAL_TEAM: (WHOLE, 3, 400),
    Role.MANAGER: ("examples,fuzzing,stateful", 3, 60),
    Role.ADMINISTRATOR: ("examples,fuzzing,stateful", 3, 60),
}
FOR_THE_TEAM = ("Reviews", "Figures", "Rounds", "Tickets")
NOT_FOR = {Role.TESTER: FOR_THE_TEAM, Role.ADMINISTRATOR: FOR_THE_TEAM, Role.EVAL_TEAM: ("Results",)}


def run(server: LiveServer, user: User, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG)),
        *("run", f"{server.url}/api/schema/", "--url", server.url),
        *("--header", f"Authorization: Bearer {Program(user).sent}"),
        *("--checks", "all", "--seed", str(SEED), "--no-color", "--continue-on-failure", "--warnings", "off"),
        *more,
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=folder, check=False)


@pytest.fixture(autouse=True)
def _no_limit_is_reached(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.API_REQUESTS_A_MINUTE = settings.API_REFUSALS_A_MINUTE = 1_000_000
    monkeypatch.setattr("results.api.comments.SAID_BY_ONE", Limit("comments", 1_000_000, timedelta(minutes=10)))


@pytest.fixture(autouse=True)
def _refusals_are_not_news() -> Iterator[None]:
    """There are thousands of them."""
    log = logging.getLogger("django.request")
    log.setLevel(logging.CRITICAL)
    yield
    log.setLevel(logging.NOTSET)


@pytest.mark.parametrize("role", ROUNDS, ids=lambda role: role.value)
def test_it_finds_nothing(role: Role, live_server: LiveServer, tmp_path: Path) -> None:
    phases, examples, at_least = ROUNDS[role]
    user = a_small_site(role)
    left_out = [word for tag in NOT_FOR.get(role, ()) for word in ("--exclude-tag", tag)]
    done = run(live_server, user, tmp_path, "--phases", phases, "--max-examples", str(examples * TIMES), *left_out)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    made = re.search(r"(\d+) generated, (\d+) passed", done.stdout)
    assert made is not None
    assert int(made[1]) == int(made[2]) >= at_least


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        (lambda *args: [{"id": 7}], "Response violates schema"),
        (lambda *args: 1 / 0, "Server error"),
    ],
    ids=["another shape than the document says", "a fault of ours"],
)
def test_it_would_find_something(
    wrong: Any, found: str, live_server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the test above can fail."""
    monkeypatch.setattr("results.api.results.tell_rows", wrong)
    just_this = ("--include-operation-id", "list_results", "--phases", "fuzzing", "--max-examples", "5")
    done = run(live_server, a_small_site(Role.TESTER), tmp_path, *just_this)
    assert done.returncode == 1
    assert found in done.stdout


def a_small_site(role: Role) -> User:
    """With what the examples of the document name."""
    tester = make.user("tess@example.test", Role.TESTER, is_trained=True)
    user = tester if role == Role.TESTER else make.user("somebody@example.test", role)
    build = make.build("2026.43", is_current=True)
    script = make.script("bad-news-day")
    make.script("quiet-hint", area="safety")
    call = make.call(tester, script, build=build, moments=("She waited.",))
    make.result(tester, script, build, call_uuid=call.uuid, problems=("cut_in",))
    make.result(tester, script, build, draft_uuid="0190b5a0-0000-4000-8000-000000000002")
    to_review = {"pk": int(A_NUMBER), "problems": ("too_fast", "cut_in"), "queued_for": QueuedFor.SAMPLE}
    make.result(tester, script, build, **to_review)
    make.counts()
    return user
