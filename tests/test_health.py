"""/healthz, /readyz and `./emma doctor`."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from django.test import Client

from emma_eval import health
from emma_eval.accounts.roles import Role
from emma_eval.accounts.sign_on.configured import SignOn
from emma_eval.knock import find_free
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
    return {"EMMA_VAR": str(var), "EMMA_SECRET_KEY": "0123456789" * 6, "DATABASE_URL": "", "REDIS_URL": ""}


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


@pytest.mark.django_db
def test_a_bucket_that_does_not_answer_is_told_within_its_time_and_takes_no_page_with_it(
    client: Client, settings: Any
) -> None:
    """A listener that accepts and says nothing: what a hung server looks like from here."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.S3_BUCKET = "emma-eval"
        settings.STORAGES = {**settings.STORAGES, "exports": bucket_at(f"http://127.0.0.1:{silent.getsockname()[1]}")}
        before = time.monotonic()
        answer = client.get("/readyz")
        assert time.monotonic() - before < 3 * health.PATIENCE_S
    assert answer.status_code == 200
    assert answer.json()["parts"]["bucket"] == "down"
    assert answer.json()["ready"] is True


class Told(BaseHTTPRequestHandler):
    """An S3 server with the answers of one that we have not here: Amazon's, and one that is open to the world."""

    block: ClassVar[tuple[int, str]] = (404, "NoSuchPublicAccessBlockConfiguration")
    is_open: ClassVar[bool] = False

    def do_GET(self) -> None:
        asks_for_block = "publicAccessBlock" in self.path
        is_stranger = "Authorization" not in self.headers
        if asks_for_block and self.block[0] == 200:
            self.answer(200, f"<PublicAccessBlockConfiguration>{self.block[1]}</PublicAccessBlockConfiguration>")
        elif asks_for_block:
            self.answer(self.block[0], f"<Error><Code>{self.block[1]}</Code></Error>")
        elif is_stranger and not self.is_open:
            self.answer(403, "<Error><Code>AccessDenied</Code></Error>")
        else:
            self.answer(200, "<ListBucketResult></ListBucketResult>")

    def answer(self, status: int, body: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *said: object) -> None:
        pass


def block(turned: str) -> str:
    names = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
    return "".join(f"<{name}>{turned}</{name}>" for name in names)


@pytest.mark.parametrize(
    ("said", "is_open", "is_up", "words"),
    [
        ((200, block("true")), False, True, "closed to strangers; its public access block is on"),
        ((200, block("false")), False, False, "its public access block is off: turn it on"),
        ((404, "NoSuchPublicAccessBlockConfiguration"), False, False, "its public access block is off: turn it on"),
        ((501, "NotImplemented"), False, True, "its server tells of no public access block"),
        ((501, "NotImplemented"), True, False, "OPEN: whoever asks without a key is let in"),
        ((200, block("true")), True, False, "OPEN: whoever asks without a key is let in"),
    ],
)
def test_the_doctor_says_whether_strangers_are_kept_out_of_the_bucket(
    said: tuple[int, str], is_open: bool, is_up: bool, words: str, settings: Any
) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Asked", (Told,), {"block": said, "is_open": is_open}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings.S3_BUCKET = "emma-eval"
    settings.STORAGES = {**settings.STORAGES, "exports": bucket_at(f"http://127.0.0.1:{server.server_port}")}
    found = health._strangers()
    server.shutdown()
    server.server_close()
    assert (found.is_up, found.needed) == (is_up, False)
    assert words in found.words


def bucket_at(endpoint: str) -> dict[str, object]:
    key = {"access_key": "key", "secret_key": "secret"}
    said = {"bucket_name": "emma-eval", "endpoint_url": endpoint, "region_name": "us-east-1", **key}
    return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": said}


def test_the_doctor_says_what_the_word_of_the_sign_on_provider_counts_for(settings: Any) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Provider", (Told,), {"is_open": True}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    issuer = f"http://127.0.0.1:{server.server_port}"
    settings.SIGN_ON = SignOn(issuer, "emma", "secret", "Us", roles=(("g", Role.TESTER),), training_claim="trained")
    words = health._sign_on().words
    server.shutdown()
    server.server_close()
    assert words == f"{issuer} answers; roles from 1 groups, training from the claim trained, beside passwords"
    assert "secret" not in words
    settings.SIGN_ON = None
    assert "people sign in with passwords" in health._sign_on().words


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


def test_the_doctor_says_whether_a_web_server_runs_and_where_it_looked(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRANIAN_PORT", raising=False)
    monkeypatch.delenv("EMMA_PORT", raising=False)
    settings.ORIGIN = f"http://127.0.0.1:{(port := find_free())}"
    assert health._web().words == f"none runs here: nothing answers at http://127.0.0.1:{port}"
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Other", (Told,), {"is_open": True}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("EMMA_PORT", str(server.server_port))
    found = health._web()
    server.shutdown()
    server.server_close()
    assert (found.is_up, found.needed) == (False, False)
    assert found.words == f"something else than this site answers at http://127.0.0.1:{server.server_port}"


def test_the_doctor_of_a_site_that_is_stopped_names_its_own_port(tmp_path: Path) -> None:
    port = find_free()
    environment = {**os.environ, **configured(tmp_path), "EMMA_PORT": str(port)}
    environment.pop("EMMA_ORIGIN", None)
    told = subprocess.run([ROOT / "emma", "doctor"], env=environment, capture_output=True, text=True, check=False)
    assert f"Emma Eval at http://127.0.0.1:{port}, data in {tmp_path}" in told.stdout
    assert f"DOWN  web server: none runs here: nothing answers at http://127.0.0.1:{port}" in told.stdout
    assert "8000" not in told.stdout


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
