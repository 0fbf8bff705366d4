"""Real workers, in processes of their own, on the real brokers: what is in the outbox gets done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import connection
from django.utils import timezone

from emma_eval.outbox.models import Row

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db(transaction=True)]
ROOT = Path(__file__).resolve().parent.parent
ENQUEUE = """
import sys, time
import emma_eval.celery
import django
django.setup()
from emma_eval.outbox.enqueue import enqueue
before = time.monotonic()
print(enqueue(sys.argv[1], path=sys.argv[2]).pk, time.monotonic() - before)
"""


def database_url() -> str:
    """The database of this test process, as another process names it."""
    found = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{found['NAME']}"
    credentials = quote(f"{found['USER']}:{found['PASSWORD']}".rstrip(":"), safe=":")
    return f"postgres://{credentials}@{found['HOST']}:{found['PORT']}/{found['NAME']}"


class House:
    """Web and worker processes on one broker and on the database of this test."""

    def __init__(self, var: Path, redis_url: str) -> None:
        for name in ("queue", "control", "recordings"):
            (var / name).mkdir()
        self.environment = {
            **os.environ,
            "EMMA_VAR": str(var),
            "DATABASE_URL": database_url(),
            "REDIS_URL": redis_url,
            "DJANGO_ALLOW_ASYNC_UNSAFE": "",
        }
        self.enqueued_in_s = 0.0
        self.log = var / "worker.log"
        self.workers: list[subprocess.Popen[bytes]] = []

    def enqueue(self, handler: str, path: Path) -> int:
        """What a web process does: write the row, wake a worker."""
        row_id, waited_s = self._run("-c", ENQUEUE, handler, str(path)).split()
        self.enqueued_in_s = float(waited_s)
        return int(row_id)

    def sweep(self) -> None:
        """What beat does every 30 seconds."""
        self._run("-m", "celery", "--app", "emma_eval.celery", "call", "outbox.sweep")

    def _run(self, *arguments: str) -> str:
        return subprocess.run(
            [sys.executable, *arguments], env=self.environment, cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout

    def start_worker(self) -> subprocess.Popen[bytes]:
        command = (
            "-m celery --app emma_eval.celery worker --pool threads --concurrency 2 --include tests.outbox.handlers"
        )
        with self.log.open("ab") as log:
            worker = subprocess.Popen(
                [sys.executable, *command.split()], env=self.environment, cwd=ROOT, stdout=log, stderr=log
            )
        self.workers.append(worker)
        return worker

    def stop(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()


@pytest.fixture(params=["filesystem", "Redis"])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    redis_url = ""
    if request.param == "Redis":
        # A database of its own for each test process, so that none takes another's messages.
        process = os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]
        if "EMMA_TEST_REDIS_URL" not in os.environ:
            pytest.skip("no EMMA_TEST_REDIS_URL: ./emma test sets it")
        redis_url = os.environ["EMMA_TEST_REDIS_URL"].removesuffix("/0") + f"/{process}"
    made = House(tmp_path, redis_url)
    yield made
    made.stop()


def comes_true(claim: Callable[[], bool], within_s: float = 90) -> bool:
    """Whether something becomes true in time. The time is long: a busy machine takes its own."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if claim():
            return True
        time.sleep(0.05)
    return False


def test_a_worker_does_what_a_web_process_put_into_the_outbox(house: House, tmp_path: Path) -> None:
    house.start_worker()
    row_id = house.enqueue("tests.write_down", tmp_path / "out")
    assert comes_true(lambda: Row.objects.get(pk=row_id).done_at is not None), house.log.read_text()
    assert (tmp_path / "out").read_text() == "done\n"


def test_what_was_put_there_while_no_worker_ran_is_done_when_one_starts(house: House, tmp_path: Path) -> None:
    row_id = house.enqueue("tests.write_down", tmp_path / "out")
    house.start_worker()
    assert comes_true(lambda: Row.objects.get(pk=row_id).done_at is not None), house.log.read_text()
    assert (tmp_path / "out").read_text() == "done\n"


def test_a_killed_workers_row_is_taken_up_by_a_sweep_after_its_lease(house: House, tmp_path: Path) -> None:
    killed = house.start_worker()
    row_id = house.enqueue("tests.hang_at_first", tmp_path / "out")
    assert comes_true((tmp_path / "out.started").exists), house.log.read_text()
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    leased = Row.objects.get(pk=row_id)
    assert leased.done_at is None
    assert leased.lease_until is not None
    assert leased.lease_until > timezone.now()

    Row.objects.filter(pk=row_id).update(lease_until=timezone.now() - timedelta(seconds=1))
    house.start_worker()
    house.sweep()
    assert comes_true(lambda: Row.objects.get(pk=row_id).done_at is not None), house.log.read_text()
    assert Row.objects.get(pk=row_id).attempts == 2
    assert (tmp_path / "out").read_text() == "done\n"


def test_a_broker_that_is_down_neither_breaks_a_request_nor_keeps_it_waiting(tmp_path: Path) -> None:
    (tmp_path / "house").mkdir()
    house = House(tmp_path / "house", "redis://127.0.0.1:1/0")
    row_id = house.enqueue("tests.write_down", tmp_path / "out")
    assert house.enqueued_in_s < 5
    assert Row.objects.get(pk=row_id).attempts == 0
