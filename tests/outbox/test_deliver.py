"""Doing the work of one row."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from emma_eval.outbox.deliver import (
    FIRST_WAIT,
    LEASE,
    LONGEST_WAIT,
    MOST_ATTEMPTS,
    LeaseLostError,
    deliver,
    hold_on,
    is_last_try,
)
from emma_eval.outbox.models import Row
from tests.outbox import handlers

pytestmark = pytest.mark.data_layer
NOW = timedelta(0)


def row(handler: str = "tests.write_down", *, attempts: int = 0, due_in: timedelta = NOW, **payload: object) -> Row:
    return Row.objects.create(handler=handler, payload=payload, attempts=attempts, next_try_at=timezone.now() + due_in)


@pytest.mark.django_db
def test_it_runs_the_handler_once(tmp_path: Path) -> None:
    waiting = row(path=str(tmp_path / "out"))
    assert deliver(waiting.pk)
    assert not deliver(waiting.pk)
    assert (tmp_path / "out").read_text() == "done\n"
    waiting.refresh_from_db()
    assert waiting.done_at is not None
    assert waiting.lease_until is None


@pytest.mark.django_db
def test_a_row_that_is_not_due_yet_waits(tmp_path: Path) -> None:
    assert not deliver(row(path=str(tmp_path / "out"), due_in=timedelta(minutes=1)).pk)
    assert not (tmp_path / "out").exists()


@pytest.mark.django_db
def test_a_row_of_the_past_that_is_gone_is_nobodys_work() -> None:
    assert not deliver(12345)


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_exactly_one_gets_the_row(tmp_path: Path) -> None:
    waiting = row("tests.be_slow", path=str(tmp_path / "out"))

    def work(_: int) -> bool:
        try:
            return deliver(waiting.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as workers:
        assert sum(workers.map(work, range(8))) == 1
    assert (tmp_path / "out").read_text() == "done\n"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("tries_before", "expected"),
    [
        (0, FIRST_WAIT),
        (1, FIRST_WAIT * 2),
        (2, FIRST_WAIT * 4),
        (6, FIRST_WAIT * 64),
    ],
)
def test_it_waits_twice_as_long_after_each_failure(tries_before: int, expected: timedelta) -> None:
    failing = row("tests.fail", attempts=tries_before, words="no route")
    before = timezone.now()
    deliver(failing.pk)
    failing.refresh_from_db()
    assert 0.7 * expected <= failing.next_try_at - before <= expected + timedelta(seconds=2)
    assert failing.next_try_at - before <= LONGEST_WAIT
    assert (failing.lease_until, failing.set_aside_at) == (None, None)
    assert failing.last_error == "OSError: no route"


@pytest.mark.django_db
def test_it_is_set_aside_with_its_reason_after_the_last_try() -> None:
    failing = row("tests.fail", attempts=MOST_ATTEMPTS - 1, words="no route")
    deliver(failing.pk)
    failing.refresh_from_db()
    assert failing.set_aside_at is not None
    assert failing.last_error == "OSError: no route"
    assert not deliver(failing.pk)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("handler", "words"), [("tests.give_up", "no such person"), ("tests.nobody", "nothing handles 'tests.nobody'")]
)
def test_what_no_retry_can_help_is_set_aside_at_once(handler: str, words: str) -> None:
    hopeless = row(handler, **({"words": words} if handler == "tests.give_up" else {}))
    deliver(hopeless.pk)
    hopeless.refresh_from_db()
    assert hopeless.attempts == 1
    assert hopeless.set_aside_at is not None
    assert hopeless.last_error == words


@pytest.mark.django_db
def test_a_row_that_kills_its_workers_is_set_aside_too(tmp_path: Path) -> None:
    deadly = row(attempts=MOST_ATTEMPTS, path=str(tmp_path / "out"))
    deliver(deadly.pk)
    deadly.refresh_from_db()
    assert deadly.set_aside_at is not None
    assert not (tmp_path / "out").exists()


@pytest.mark.django_db
def test_who_lost_the_lease_does_not_end_that_of_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    failing = row("tests.overtaken")
    theirs = timezone.now() + LEASE * 2

    def overtaken() -> None:
        Row.objects.filter(pk=failing.pk).update(lease_until=theirs)
        raise OSError

    monkeypatch.setitem(handlers.registered(), "tests.overtaken", overtaken)
    deliver(failing.pk)
    failing.refresh_from_db()
    assert failing.lease_until == theirs
    assert failing.set_aside_at is None


@pytest.mark.django_db
def test_an_error_of_any_length_is_kept_short() -> None:
    failing = row("tests.fail", words="x" * 100_000)
    deliver(failing.pk)
    failing.refresh_from_db()
    assert len(failing.last_error) == 2000


@pytest.mark.django_db
def test_a_handler_that_holds_on_keeps_its_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    long = row("tests.long")
    seen = []

    def work() -> None:
        for _ in range(3):
            hold_on()
            seen.append(Row.objects.get(pk=long.pk).lease_until)
            assert not deliver(long.pk)

    monkeypatch.setitem(handlers.registered(), "tests.long", work)
    assert deliver(long.pk)
    assert seen[0] < seen[1] < seen[2]
    long.refresh_from_db()
    assert long.done_at is not None


@pytest.mark.django_db
def test_a_handler_that_lost_its_lease_is_told_and_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    long, told = row("tests.long"), []
    theirs = timezone.now() + LEASE * 2

    def work() -> None:
        Row.objects.filter(pk=long.pk).update(lease_until=theirs)
        try:
            hold_on()
        except LeaseLostError as cause:
            told.append(cause)
            raise

    monkeypatch.setitem(handlers.registered(), "tests.long", work)
    assert deliver(long.pk)
    long.refresh_from_db()
    assert len(told) == 1
    assert (long.lease_until, long.done_at, long.set_aside_at, long.last_error) == (theirs, None, None, "")


@pytest.mark.django_db
def test_a_handler_that_held_on_and_fails_waits_for_its_next_try(monkeypatch: pytest.MonkeyPatch) -> None:
    long = row("tests.long")

    def work() -> None:
        hold_on()
        raise OSError("the disk is full")

    monkeypatch.setitem(handlers.registered(), "tests.long", work)
    deliver(long.pk)
    long.refresh_from_db()
    assert (long.lease_until, long.last_error) == (None, "OSError: the disk is full")


def test_outside_of_a_delivery_there_is_nothing_to_hold() -> None:
    hold_on()


# --- what was to be expected ------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(("wait_s", "least"), [(0, 0.7 * FIRST_WAIT), (90, timedelta(seconds=90))])
def test_a_handler_may_ask_for_a_longer_wait_and_no_shorter_one(tmp_path: Path, wait_s: int, least: timedelta) -> None:
    later = row("tests.try_later", wait_s=wait_s, counts=True, path=str(tmp_path / "out"))
    before = timezone.now()
    deliver(later.pk)
    later.refresh_from_db()
    assert least <= later.next_try_at - before <= max(least, FIRST_WAIT) + timedelta(seconds=2)
    assert (later.attempts, later.lease_until, later.last_error) == (1, None, "not now")


@pytest.mark.django_db
def test_what_was_too_early_is_no_try(tmp_path: Path) -> None:
    later = row("tests.try_later", attempts=MOST_ATTEMPTS - 1, wait_s=60, counts=False, path=str(tmp_path / "out"))
    deliver(later.pk)
    later.refresh_from_db()
    assert (later.attempts, later.lease_until, later.set_aside_at) == (MOST_ATTEMPTS - 1, None, None)
    assert later.next_try_at > timezone.now() + timedelta(seconds=50)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("tries_before", "said"), [(MOST_ATTEMPTS - 1, "the last"), (MOST_ATTEMPTS - 2, "not the last")]
)
def test_a_handler_can_tell_whether_it_is_the_last_try(tmp_path: Path, tries_before: int, said: str) -> None:
    later = row("tests.try_later", attempts=tries_before, wait_s=0, counts=True, path=str(tmp_path / "out"))
    deliver(later.pk)
    later.refresh_from_db()
    assert (tmp_path / "out").read_text() == said
    assert (later.set_aside_at is not None) == (said == "the last")


def test_outside_of_a_delivery_no_other_try_is_to_come() -> None:
    assert is_last_try()
