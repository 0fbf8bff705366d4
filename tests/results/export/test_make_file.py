"""A large workbook, made by a worker: once, whatever happens to the worker."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.storage import storages
from django.db import connection
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import Training
from emma_eval.accounts.roles import Role
from emma_eval.outbox.deliver import MOST_ATTEMPTS, deliver
from emma_eval.outbox.models import Row
from results import tasks  # noqa: F401  (registers the handler)
from results.export import make_file, read_rows
from results.models import Export, State
from results.views import exports
from scripts_catalog.models import Script
from tests import make

from .asking import ask, html_of, ordered, read_csv, read_workbook, take_away, work
from .conftest import Kinds

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _every_workbook_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "MOST_AT_ONCE", 0)


def rows_of(export: Export) -> list[dict[str, Any]]:
    with storages["exports"].open(export.file) as file:
        return read_workbook(file.read())


def test_a_worker_makes_the_workbook(client: Client, kinds: Kinds) -> None:
    export = ordered(client, "started=yes&sort=date&direction=asc", columns=["id", "comment"])
    assert export.state == State.WAITING
    made = work(export)
    assert made.state == State.READY
    assert (made.total, made.rows) == (3, 3)
    assert [row["Number"] for row in rows_of(made)] == [result.pk for result in kinds.newest_first()[2::-1]]
    assert list(made.scripts.values_list("slug", flat=True)) == ["bad-news-day"]
    assert os.listdir(settings.EXPORTS_DIR) == [made.file]


def test_it_says_the_same_as_one_that_is_made_at_once(
    client: Client, kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = work(ordered(client))
    monkeypatch.setattr(exports, "MOST_AT_ONCE", 50_000)
    assert rows_of(made) == read_workbook(ask(client, "xlsx").getvalue())


def test_run_twice_it_makes_one_file(client: Client, kinds: Kinds) -> None:
    export = ordered(client)
    make_file.make_file(str(export.pk))
    make_file.make_file(str(export.pk))
    assert len(os.listdir(settings.EXPORTS_DIR)) == 1


def test_of_two_workers_at_once_one_wins_and_the_other_leaves_nothing(
    client: Client, kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second comes by when the first has written its rows, is quicker, and the first then finds it done."""
    export, keep = ordered(client), make_file._keep

    def overtaken(first: Export, path: Path, content: make_file.Content) -> None:
        monkeypatch.setattr(make_file, "_keep", keep)
        make_file.make_file(str(export.pk))
        keep(first, path, content)

    monkeypatch.setattr(make_file, "_keep", overtaken)
    make_file.make_file(str(export.pk))
    made = Export.objects.get(pk=export.pk)
    assert os.listdir(settings.EXPORTS_DIR) == [made.file]
    assert len(rows_of(made)) == 4


def test_a_worker_that_lost_its_lease_while_writing_stops_and_leaves_nothing(
    client: Client, kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = ordered(client)
    theirs = timezone.now() + timedelta(minutes=2)
    add = make_file.Workbook.add

    def paused(book: Any, lines: Any) -> None:
        add(book, lines)
        Row.objects.update(lease_until=theirs)

    monkeypatch.setattr(make_file.Workbook, "add", paused)
    left = work(export)
    assert left.state == State.MAKING  # by the other worker
    assert (left.file, left.failed_because) == ("", "")
    assert os.listdir(settings.EXPORTS_DIR) == []


def test_a_worker_whose_lease_ran_out_while_packing_hands_its_file_over_all_the_same(
    client: Client, kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a workbook that takes longer to pack than a lease lasts would never be made."""
    close = make_file.Workbook.__exit__

    def slow(book: Any, *error: Any) -> None:
        close(book, *error)
        Row.objects.update(lease_until=timezone.now() + timedelta(minutes=2))

    monkeypatch.setattr(make_file.Workbook, "__exit__", slow)
    made = work(ordered(client))
    assert made.state == State.READY
    assert Row.objects.get().done_at is not None


def test_it_holds_on_to_its_lease_and_tells_how_far_it_is(
    client: Client, kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_rows, "ROWS_AT_FIRST", 1)
    monkeypatch.setattr(read_rows, "ROWS_IN_A_SLICE", 1)
    monkeypatch.setattr(make_file, "TELL_EVERY_S", 0)
    seen: list[tuple[int, Any]] = []
    add = make_file.Workbook.add

    def watched(book: Any, lines: Any) -> None:
        add(book, lines)
        seen.append((Export.objects.get().rows, Row.objects.get().lease_until))

    monkeypatch.setattr(make_file.Workbook, "add", watched)
    work(ordered(client))
    assert [rows for rows, _ in seen] == [0, 1, 2, 3]
    assert len({lease for _, lease in seen}) == 4


def test_a_fault_is_tried_again_by_itself_and_said_so(
    client: Client, kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = ordered(client)
    with monkeypatch.context() as broken:
        broken.setattr(storages["exports"], "save", _full)
        failed = work(export)
    assert failed.state == State.WAITING
    assert failed.failed_once
    assert "It is tried again by itself." in html_of(client.get(export.get_absolute_url()))
    assert os.listdir(settings.EXPORTS_DIR) == []
    assert work(export).state == State.READY


def _full(*args: Any, **kwargs: Any) -> str:
    raise OSError("No space left on device")


def test_after_the_last_try_it_says_so_and_offers_another(
    client: Client, kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = ordered(client, "started=yes", columns=["id", "comment"])
    Row.objects.update(attempts=MOST_ATTEMPTS - 1)
    with monkeypatch.context() as broken:
        broken.setattr(storages["exports"], "save", _full)
        assert work(export).state == State.FAILED
    said = html_of(client.get(export.get_absolute_url()))
    assert "The file could not be made." in said
    again = re.search(r'href="([^"]+)" id="again"', said)
    assert again is not None
    page = client.get(again[1].replace("&amp;", "&"))
    assert page.context["chosen"].format == "xlsx"
    assert [column.key for column in page.context["chosen"].columns] == ["id", "comment"]
    assert page.context["found"].count == 3


@pytest.mark.parametrize("what", ["role", "account", "training"])
def test_who_lost_the_right_meanwhile_gets_no_file(kinds: Kinds, what: str) -> None:
    owner = make.user("olga@example.test", Role.EVAL_TEAM, is_trained=True)
    export = ordered(make.client_of(owner))
    take_away(owner, what)
    left = work(export)
    assert (left.state, left.failed_because) == (State.FAILED, "You may no longer export results.")
    assert os.listdir(settings.EXPORTS_DIR) == []


def test_who_lost_the_right_while_it_was_written_gets_no_file(kinds: Kinds, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = make.user("olga@example.test", Role.EVAL_TEAM)
    export, write = ordered(make.client_of(owner)), make_file._write

    def then_demoted(*args: Any) -> make_file.Content:
        found = write(*args)
        owner.groups.clear()
        return found

    monkeypatch.setattr(make_file, "_write", then_demoted)
    assert work(export).state == State.FAILED


@pytest.mark.parametrize("what", ["role", "account", "training"])
def test_a_worker_stops_at_the_slice_at_which_the_right_is_lost(
    kinds: Kinds, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = make.user("olga@example.test", Role.EVAL_TEAM, is_trained=True)
    export, add, slices = ordered(make.client_of(owner)), make_file.Workbook.add, []
    monkeypatch.setattr(read_rows, "ROWS_AT_FIRST", 1)

    def then_lost(book: Any, lines: Any) -> None:
        add(book, lines)
        slices.append(lines)
        take_away(owner, what)

    monkeypatch.setattr(make_file.Workbook, "add", then_lost)
    left = work(export)
    assert (left.state, left.failed_because) == (State.FAILED, "You may no longer export results.")
    assert len(slices) == 1


def test_a_filter_that_is_gone_widens_nothing(client: Client, kinds: Kinds) -> None:
    export = ordered(client, "script=bad-news-day")
    Script.objects.filter(slug="bad-news-day").update(area="safety")
    left = work(export)
    assert (left.state, left.failed_because) == (State.FAILED, "A filter names something that is no longer there.")


def test_who_was_trained_meanwhile_gets_a_file_for_the_trained(kinds: Kinds) -> None:
    owner = make.user("olga@example.test", Role.EVAL_TEAM)
    export = ordered(make.client_of(owner))
    Training.objects.create(user=owner, starts_on="2020-01-01")
    assert work(export).tells_of_safety


def test_more_rows_than_a_workbook_holds_by_now_are_said(
    client: Client, kinds: Kinds, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = ordered(client)
    monkeypatch.setattr(make_file, "MOST_ROWS", 3)
    left = work(export)
    assert (left.state, left.failed_because) == (State.FAILED, make_file.TOO_LARGE)


def test_without_a_script_the_page_tells_how_far_it_is_at_each_reload(client: Client, kinds: Kinds) -> None:
    export = ordered(client)
    path = export.get_absolute_url()
    assert "The file is about to be made." in html_of(client.get(path))
    Export.objects.update(rows=2)
    Row.objects.update(lease_until=timezone.now() + timedelta(seconds=30))
    said = html_of(client.get(path))
    assert "The file is being made." in said
    assert 'max="4" value="2"' in said
    assert "2 of 4 results" in said
    assert 'hx-trigger="every 1s"' in said
    Export.objects.update(rows=4)
    assert "The results are written. The file is being packed." in html_of(client.get(path))
    fragment = html_of(client.get(path, headers={"HX-Request": "true"}))
    assert fragment.startswith("<section")
    Row.objects.update(lease_until=None)
    work(export)
    for answer in (client.get(path), client.get(path, headers={"HX-Request": "true"})):
        assert "The file is ready." in html_of(answer)
        assert f'href="/results/export/{export.pk}/file/"' in html_of(answer)
        assert "every 1s" not in html_of(answer)


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_killed_leaves_the_file_to_the_next(client: Client, kinds: Kinds, tmp_path: Path) -> None:
    """A process of its own is killed while it writes; its lease runs out; the sweep's worker begins anew."""
    export = ordered(client)
    assert export.work is not None
    started = tmp_path / "started"
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED_WHILE_WRITING, str(export.work.pk), str(started), str(settings.EXPORTS_DIR)],
        cwd=ROOT,
        env={**os.environ, "TESTED_DATABASE": str(connection.settings_dict["NAME"])},
    )
    try:
        until = time.monotonic() + 60
        while not started.exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        assert started.exists()
        assert Export.objects.select_related("work").get().state == State.MAKING
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    finally:
        process.kill()
    left = os.listdir(settings.EXPORTS_DIR)
    assert [name.startswith("making-") for name in left] == [True]
    assert not deliver(export.work.pk)  # its lease still holds
    Row.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert deliver(export.work.pk)
    made = Export.objects.select_related("work").get()
    assert (made.state, len(rows_of(made))) == (State.READY, 4)
    assert Row.objects.get().attempts == 2


KILLED_WHILE_WRITING = """
import os, sys, time
from pathlib import Path
import django
from django.conf import settings
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "emma_eval.settings")
settings.DATABASES["default"]["NAME"] = os.environ["TESTED_DATABASE"]
django.setup()
settings.EXPORTS_DIR = sys.argv[3]
import results.tasks
from results.export import make_file
from emma_eval.outbox.deliver import deliver

def hang(book, lines):
    Path(sys.argv[2]).touch()
    time.sleep(300)

make_file.Workbook.add = hang
deliver(int(sys.argv[1]))
"""


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_the_same_moment_make_one_whole_file(client: Client, kinds: Kinds) -> None:
    export = ordered(client)

    def make() -> None:
        try:
            make_file.make_file(str(export.pk))
        finally:
            connection.close()

    workers = [threading.Thread(target=make) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    made = Export.objects.get()
    assert os.listdir(settings.EXPORTS_DIR) == [made.file]
    assert len(rows_of(made)) == 4


def test_csv_and_json_lines_never_wait_for_a_worker(client: Client, kinds: Kinds) -> None:
    assert len(read_csv(ask(client, "csv").getvalue())) == 4
    assert not Export.objects.exists()
