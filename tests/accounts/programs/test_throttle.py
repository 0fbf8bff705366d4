"""Sixty requests a minute with one token, over threads and processes; who has none is limited too."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings as site
from django.core.cache import cache
from django.db import connection
from django.test import Client

from emma_eval.accounts import by_the_minute
from emma_eval.accounts.models import ApiToken, RequestCount, User
from emma_eval.accounts.programs.tokens import MADE_BY_ONE
from emma_eval.accounts.roles import Role
from tests import make
from tests.programs import Program

pytestmark = pytest.mark.data_layer
PATH = "/api/v1/token/"


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> None:
    cache.clear()


def statuses(client: Client, count: int) -> Counter[int]:
    return Counter(client.get(PATH).status_code for _ in range(count))


@pytest.mark.django_db
def test_the_sixty_first_of_a_minute_is_refused(tester: User) -> None:
    program = Program(tester)
    assert statuses(program, 60) == {200: 60}
    answer = program.get(PATH)
    assert answer.status_code == 429
    assert 50 <= int(answer["Retry-After"]) <= 60
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["type"] == "/api/#too-many"


@pytest.mark.django_db
def test_another_token_is_another_count(tester: User, settings: Any) -> None:
    settings.API_REQUESTS_A_MINUTE = 3
    assert statuses(Program(tester), 5) == {200: 3, 429: 2}
    assert statuses(Program(tester, name="Another"), 5) == {200: 3, 429: 2}


@pytest.mark.django_db
def test_more_tokens_are_no_more_than_two_of_them(tester: User, settings: Any, manager: User) -> None:
    settings.API_REQUESTS_A_MINUTE = 3
    asked = [statuses(Program(tester, name=name), 3) for name in ("First", "Second", "Third")]
    assert asked == [{200: 3}, {200: 3}, {429: 3}]
    assert statuses(Program(manager), 3) == {200: 3}, "nobody else waits"


@pytest.mark.django_db
def test_tokens_are_made_so_often_and_no_oftener(tester: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emma_eval.accounts.views.programs.MADE_BY_ONE", replace(MADE_BY_ONE, most=2))
    client = make.client_of(tester)
    said = [
        client.post("/programs/", {"name": f"no. {n}", "scopes": ["results:read"], "days": 7}).status_code
        for n in range(3)
    ]
    assert said == [200, 200, 429]
    assert ApiToken.objects.count() == 2


@pytest.mark.django_db
def test_a_minute_later_it_goes_on(tester: User, settings: Any) -> None:
    settings.API_REQUESTS_A_MINUTE = 3
    program = Program(tester)
    assert statuses(program, 4) == {200: 3, 429: 1}
    RequestCount.objects.update(began_ms=time.time_ns() // 1_000_000 - 60_001)
    cache.clear()  # what the process remembers is over by then, too
    assert statuses(program, 4) == {200: 3, 429: 1}


@pytest.mark.django_db
def test_going_on_asking_costs_the_database_no_write(tester: User, settings: Any) -> None:
    settings.API_REQUESTS_A_MINUTE = 1
    program = Program(tester)
    statuses(program, 2)
    before = list(RequestCount.objects.values())
    assert statuses(program, 20) == {429: 20}
    assert list(RequestCount.objects.values()) == before


@pytest.mark.django_db
def test_a_request_that_its_token_may_not_make_counts_too(tester: User, settings: Any) -> None:
    settings.API_REQUESTS_A_MINUTE = 2
    program = Program(tester)
    answers = [program.send("/api/v1/builds/1/", {}).status_code for _ in range(3)]
    assert answers == [403, 403, 429]


@pytest.mark.django_db
def test_strangers_are_limited_and_lock_nobody_out(tester: User, settings: Any, client: Client) -> None:
    settings.API_REFUSALS_A_MINUTE = 5
    assert statuses(client, 8) == {401: 5, 429: 3}
    wrong = Client(headers={"Authorization": "Bearer emma_" + "a" * 43})
    assert statuses(wrong, 1) == {429: 1}
    assert statuses(Program(tester), 5) == {200: 5}, "from the same address, with a token that is right"


@pytest.mark.django_db
def test_counts_of_minutes_that_are_over_are_cleared_away(tester: User) -> None:
    Program(tester).get(PATH)
    by_the_minute.clear_away()
    assert RequestCount.objects.count() == 2, "of the token and of its owner"
    RequestCount.objects.update(began_ms=time.time_ns() // 1_000_000 - 2 * 3_600_000)
    by_the_minute.clear_away()
    assert RequestCount.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_exactly_so_many_are_let_in(settings: Any) -> None:
    settings.API_REQUESTS_A_MINUTE = 30
    tester = make.user("tess@example.test", Role.TESTER)
    sent = Program(tester).sent

    def ask(number: int) -> int:
        try:
            return Client(headers={"Authorization": f"Bearer {sent}"}).get(PATH).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert Counter(pool.map(ask, range(50))) == {200: 30, 429: 20}


ANOTHER_PROCESS = """
import django, json, os, sys
from django.conf import settings
import emma_eval.settings
emma_eval.settings.DATABASES["default"]["NAME"] = sys.argv[1]
django.setup()
from emma_eval.accounts.programs import throttle
from emma_eval.accounts.programs.problems import TooManyRequestsError
let_in = 0
for _ in range(20):
    try:
        throttle.spend("token of a test", 30)
        let_in += 1
    except TooManyRequestsError:
        pass
print(let_in)
"""


@pytest.mark.django_db(transaction=True)
def test_the_limit_holds_over_processes() -> None:
    name = str(connection.settings_dict["NAME"])
    command = [sys.executable, "-c", ANOTHER_PROCESS, name]
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=site.BASE_DIR, env=_environment())
        for _ in range(3)
    ]
    said = [process.communicate(timeout=60) for process in started]
    assert all(out.strip().isdigit() for out, _ in said), said
    assert sum(int(out) for out, _ in said) == 30


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "DJANGO_SETTINGS_MODULE": "emma_eval.settings", "EMMA_SECRET_KEY": site.SECRET_KEY}


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("sqlite" not in site.DATABASES["default"]["ENGINE"], reason="SQLite alone has one writer")
def test_a_long_writer_of_sqlite_keeps_no_program_from_reading() -> None:
    """It would wait for twenty seconds, to be counted; it is let in uncounted."""
    program = Program(make.user("tess@example.test", Role.TESTER))
    assert program.get(PATH).status_code == 200
    writer: Any = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None, check_same_thread=False)
    writer.execute("BEGIN IMMEDIATE")
    release = threading.Timer(12, writer.rollback)
    release.start()
    try:
        began = time.monotonic()
        assert program.get(PATH).status_code == 200
        assert time.monotonic() - began < 6
        began = time.monotonic()
        assert statuses(program, 3) == {200: 3}
        assert time.monotonic() - began < 1, "it is not waited for again"
    finally:
        release.cancel()
        writer.close()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        assert cursor.fetchone() == (20_000,), "everything else waits as before"
