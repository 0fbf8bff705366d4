"""/healthz, /readyz and `./emma doctor`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

from emma_eval import health
from emma_eval.outbox.models import Row

ROOT = Path(__file__).resolve().parent.parent
ASK = """
import sys, time
import emma_eval.celery
import django
django.setup()
from django.test import Client
before = time.monotonic()
answer = Client().get(sys.argv[1], headers={"host": "127.0.0.1"})
print(answer.status_code, time.monotonic() - before, answer.content.decode())
"""


def configured(var: Path) -> dict[str, str]:
    """A house of its own in that folder, with nothing prepared."""
    return {"EMMA_VAR": str(var), "EMMA_SECRET_KEY": "s" * 60, "DATABASE_URL": "", "REDIS_URL": ""}


def test_healthz_needs_nothing(client: Client) -> None:
    assert client.get("/healthz").status_code == 200


@pytest.mark.django_db
def test_readyz_says_that_every_part_is_up(client: Client) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"ready": True, "parts": {part: "up" for part, _ in health.PROBES}}


@pytest.mark.django_db
def test_readyz_says_which_part_is_down(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> health.Finding:
        raise OSError

    probes = (("database", health._database), ("broker", broken), ("outbox", health._outbox))
    monkeypatch.setattr(health, "PROBES", probes)
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"ready": True, "parts": {"database": "up", "broker": "down", "outbox": "up"}}


@pytest.mark.django_db
def test_work_that_waits_for_long_is_told(client: Client) -> None:
    row = Row.objects.create(handler="tests.nobody", next_try_at=health.timezone.now() - health.timedelta(minutes=6))
    assert client.get("/readyz").json()["parts"]["outbox"] == "down"
    Row.objects.filter(pk=row.pk).update(done_at=health.timezone.now())
    assert client.get("/readyz").json()["parts"]["outbox"] == "up"


def test_without_its_database_the_site_answers_that_it_is_not_ready(tmp_path: Path) -> None:
    environment = {**os.environ, **configured(tmp_path), "DATABASE_URL": "postgres://emma@127.0.0.1:1/emma"}

    def ask(path: str) -> tuple[str, float, str]:
        said = subprocess.run(
            [sys.executable, "-c", ASK, path], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        ).stdout
        status, waited_s, body = said.split(" ", 2)
        return status, float(waited_s), body

    status, waited_s, body = ask("/readyz")
    assert waited_s < 10
    assert status == "503"
    parts = json.loads(body)["parts"]
    assert (parts["database"], parts["migrations"], parts["mail"]) == ("down", "down", "up")
    assert ask("/healthz")[0] == "200"


def test_the_doctor_says_in_words_what_is_down(tmp_path: Path) -> None:
    environment = {**os.environ, **configured(tmp_path), "REDIS_URL": "redis://127.0.0.1:1/0"}
    told = subprocess.run(
        [sys.executable, "-m", "emma_eval.health"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 1
    assert "ok    database: SQLite answers" in told.stdout
    assert "DOWN  migrations:" in told.stdout
    assert "DOWN  broker:" in told.stdout
    assert "Traceback" not in told.stdout + told.stderr
