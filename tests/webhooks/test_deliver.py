"""A delivery: signed so that the library of the standard believes it, tried until it is taken or given up."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.db import connection
from django.utils import timezone
from pytest_django import Settings
from standardwebhooks import Webhook, WebhookVerificationError

from emma_eval.accounts.models import AuditEntry, Training, User
from emma_eval.accounts.roles import Role
from emma_eval.outbox import deliver as outbox
from emma_eval.outbox import tasks as outbox_tasks
from emma_eval.outbox.models import Row
from emma_eval.webhooks.announce import announce
from emma_eval.webhooks.change_endpoint import rotate_secret
from emma_eval.webhooks.models import Delivery, Endpoint, State, Try
from tests import make
from tests.receivers import Receiver, Talk, answer, in_turn, raw, redirect, serving
from tests.test_broker import database_url

from .hooks import bodies, endpoint, rows, work, work_to_the_end

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]
ROOT = Path(__file__).resolve().parent.parent.parent


def settled() -> Delivery:
    return Delivery.objects.get()


def whys() -> list[str]:
    return list(Try.objects.order_by("pk").values_list("why", flat=True))


# --- what is sent -------------------------------------------------------------------------------


def test_the_library_of_the_standard_believes_it(manager: User, receiver: Receiver, kind: str) -> None:
    to = endpoint(manager, receiver.url)
    announce(kind, "7")
    work()
    [heard] = receiver.heard
    said = Webhook(to.secret).verify(heard.body, heard.headers)
    assert said == json.loads(heard.body)
    assert (said["type"], said["data"]) == (kind, {"id": "7"})
    assert datetime.fromisoformat(said["timestamp"]) == settled().occurred_at
    assert (heard.method, heard.path, heard.headers["content-type"]) == ("POST", "/hook", "application/json")
    assert heard.headers["webhook-id"] == settled().event
    assert abs(int(heard.headers["webhook-timestamp"]) - time.time()) < 60
    assert settled().state == State.DELIVERED
    assert settled().settled_at is not None
    assert (Try.objects.get().status, whys()) == (204, [""])


@pytest.mark.parametrize("changed", ["body", "webhook-id", "webhook-timestamp", "secret"])
def test_nothing_of_it_can_be_changed(manager: User, receiver: Receiver, kind: str, changed: str) -> None:
    to = endpoint(manager, receiver.url)
    announce(kind, "7")
    work()
    [heard] = receiver.heard
    headers = dict(heard.headers)
    if changed in headers:
        headers[changed] = str(int(headers[changed]) + 1) if headers[changed].isdecimal() else "evt_other"
    body = heard.body.replace(b"7", b"8") if changed == "body" else heard.body
    secret = "whsec_" + "A" * 43 + "=" if changed == "secret" else to.secret
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, headers)


def test_while_a_secret_is_rotated_both_sign(manager: User, receiver: Receiver, kind: str) -> None:
    to = endpoint(manager, receiver.url)
    old = to.secret
    rotate_secret(to, manager)
    announce(kind, "7")
    work()
    [heard] = receiver.heard
    for secret in (old, to.secret):
        assert Webhook(secret).verify(heard.body, heard.headers)
    Endpoint.objects.update(old_secret_until=timezone.now())
    announce(kind, "7")
    work()
    heard = receiver.heard[-1]
    assert Webhook(to.secret).verify(heard.body, heard.headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(old).verify(heard.body, heard.headers)


# --- answers that are none ------------------------------------------------------------------------

HTML = b"<!doctype html><title>Sign in</title>"


@pytest.mark.usefixtures("_short_patience")
@pytest.mark.parametrize(
    ("talk", "status", "why"),
    [
        (answer(500), 500, "it answered 500"),
        (answer(502, HTML, Content_Type="text/html"), 502, "it answered 502"),
        (answer(404), 404, "it answered 404"),
        (answer(401), 401, "it answered 401"),
        (redirect("http://127.0.0.1/elsewhere"), 302, "which leads elsewhere; redirects are not followed"),
        (redirect("http://169.254.169.254/", 307), 307, "which leads elsewhere"),
        (raw(hangs_s=2), None, "did not answer in full within its time"),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal"), None, "broke off"),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", *[b"x"] * 8, every_s=0.15), None, "within its time"),
        (raw(b"hello\r\n"), None, "can't be read"),
        (raw(b""), None, "broke off"),
    ],
    ids=[
        *("500", "a page of a proxy", "404", "401", "redirect", "redirect that keeps the body", "silence"),
        *("cut body", "dripping body", "no HTTP", "nothing"),
    ],
)
def test_what_is_no_success_is_tried_again(manager: User, kind: str, talk: Talk, status: int | None, why: str) -> None:
    with serving(in_turn(talk, answer(200))) as there:
        endpoint(manager, there.url)
        announce(kind, "7")
        work()
        assert settled().state == State.WAITING
        first = Try.objects.get()
        assert (first.status, why in first.why, HTML.decode() in first.why) == (status, True, False)
        Endpoint.objects.update(held_until=None)
        work()
        assert settled().state == State.DELIVERED
        assert len(set(bodies(there))) == 1
        assert len({heard.headers["webhook-id"] for heard in there.heard}) == 1


def test_nobody_listens_and_then_somebody_does(manager: User, kind: str, receiver: Receiver) -> None:
    to = endpoint(manager, "http://127.0.0.1:1/")
    announce(kind, "7")
    work()
    assert whys() == ["127.0.0.1 does not take connections"]
    Endpoint.objects.filter(pk=to.pk).update(url=receiver.url)
    work()
    assert settled().state == State.DELIVERED


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_every_answer_of_success_is_one_whatever_else_is_said(manager: User, kind: str, status: int) -> None:
    body = b"" if status == 204 else HTML
    with serving(answer(status, body, Content_Type="text/html")) as there:
        endpoint(manager, there.url)
        announce(kind, "7")
        work()
    assert settled().state == State.DELIVERED


def test_it_waits_longer_each_time_and_gives_up_after_the_tries_of_the_outbox(manager: User, kind: str) -> None:
    with serving(answer(500)) as there:
        endpoint(manager, there.url)
        announce(kind, "7")
        waits = []
        for _ in range(outbox.MOST_ATTEMPTS - 1):
            work()
            waits.append(Row.objects.get().next_try_at - timezone.now())
        assert waits == sorted(waits)
        assert settled().state == State.WAITING
        work()
    assert settled().state == State.FAILED
    assert len(there.heard) == outbox.MOST_ATTEMPTS == Try.objects.count()
    row = Row.objects.get()
    assert (row.done_at is not None, row.set_aside_at) == (True, None)  # told by the log, and no alarm for operators


@pytest.mark.parametrize(
    ("said", "least_s", "most_s"),
    [
        ("90", 85, 90),
        ("999999999", 3590, 3600),
        (lambda: format_datetime(datetime.now(UTC) + timedelta(seconds=120), usegmt=True), 110, 120),
        ("-5", 0, 6),
        ("soon", 0, 6),
        ("1e9", 0, 6),
        (lambda: "9" * 5000, 0, 6),
        ("Mon, 01 Jan 2001 00:00:00 GMT", 0, 6),
        ("²", 0, 6),
    ],
    ids=["seconds", "too long", "a date", "below zero", "words", "no number", "endless", "a date gone by", "odd digit"],
)
@pytest.mark.parametrize("status", [429, 503])
def test_what_it_asks_us_to_wait_is_waited_within_reason(
    manager: User, kind: str, said: Any, least_s: int, most_s: int, status: int
) -> None:
    said = said() if callable(said) else said
    with serving(answer(status, Retry_After=said.encode().decode("latin-1"))) as there:
        endpoint(manager, there.url)
        announce(kind, "7")
        work()
        wait = (Row.objects.get().next_try_at - timezone.now()).total_seconds()
        assert least_s - 2 <= wait <= most_s


def test_while_an_endpoint_wants_peace_its_other_deliveries_wait_too_and_lose_no_try(manager: User, kind: str) -> None:
    with serving(answer(429, Retry_After="600")) as there:
        endpoint(manager, there.url)
        for subject in range(5):
            announce(kind, subject)
        work(3)
        assert len(there.heard) == 1
        assert sorted(Row.objects.values_list("attempts", flat=True)) == [0, 0, 0, 0, 1]
        there.talk = answer(200)
        Endpoint.objects.update(held_until=timezone.now())
        work()
        assert set(Delivery.objects.values_list("state", flat=True)) == {State.DELIVERED}


@pytest.mark.usefixtures("_short_patience")
def test_one_that_lets_us_wait_in_vain_is_left_in_peace_for_a_minute(manager: User, kind: str) -> None:
    """Or a dozen deliveries to it would hold up every worker."""
    with serving(raw(hangs_s=2)) as there:
        to = endpoint(manager, there.url)
        for subject in range(5):
            announce(kind, subject)
        work()
        assert len(there.heard) == 1
    to.refresh_from_db()
    assert to.held_until is not None
    assert timedelta(seconds=50) < to.held_until - timezone.now() <= timedelta(minutes=1)


def test_an_answer_that_is_too_long_is_not_asked_for_twice(manager: User, kind: str) -> None:
    with serving(answer(200, b"x" * 300_000)) as there:
        endpoint(manager, there.url)
        announce(kind, "7")
        work_to_the_end()
        assert len(there.heard) == 1
    assert settled().state == State.FAILED


@pytest.mark.parametrize(
    "url", ["http://127.0.0.2:8080/", "https://10.0.0.1/", "http://example.test/", "https://localhost/"]
)
def test_an_address_that_leads_inside_is_not_opened(manager: User, kind: str, settings: Settings, url: str) -> None:
    settings.OUTGOING_ALLOW = type(settings.OUTGOING_ALLOW)()
    endpoint(manager, url)
    announce(kind, "7")
    work_to_the_end()
    assert settled().state == State.FAILED
    assert len(whys()) == 1


# --- rights are read at each try -------------------------------------------------------------------


def test_an_owner_who_may_not_know_is_not_told(db: None, receiver: Receiver, kind: str) -> None:
    endpoint(make.user(None, Role.MANAGER, name="Not told"), receiver.url)
    announce(kind, "7")
    work_to_the_end()
    assert receiver.heard == []
    assert (settled().state, Try.objects.count()) == (State.WITHHELD, 0)


@pytest.mark.parametrize("lost", ["every role", "the role for it", "the account"])
def test_an_owner_who_lost_the_right_between_two_tries_is_told_nothing_more(
    manager: User, kind: str, lost: str
) -> None:
    with serving(in_turn(answer(500), answer(200))) as there:
        endpoint(manager, there.url)
        announce(kind, "7")
        work()
        if lost == "the account":
            User.objects.update(is_active=False)
        else:
            manager.groups.clear()
        if lost == "the role for it":
            make.user("other@example.test", Role.TESTER)
            manager.groups.set(User.objects.get(email="other@example.test").groups.all())
        work_to_the_end()
        assert len(there.heard) == 1
    assert settled().state == State.WITHHELD


def test_a_kind_that_nobody_knows_any_more_is_not_told(manager: User, receiver: Receiver) -> None:
    endpoint(manager, receiver.url)
    announce("tests.event", "7")
    work_to_the_end()
    assert (receiver.heard, settled().state) == ([], State.WITHHELD)


# --- workers ---------------------------------------------------------------------------------------


def test_a_removed_endpoint_leaves_no_trouble_behind(manager: User, receiver: Receiver, kind: str) -> None:
    to = endpoint(manager, receiver.url)
    announce(kind, "7")
    to.delete()
    work_to_the_end()
    assert receiver.heard == []
    assert Row.objects.exclude(set_aside_at=None).count() == 0


@pytest.mark.django_db(transaction=True)
def test_twenty_at_once_are_each_sent_once(manager: User, receiver: Receiver, kind: str) -> None:
    to = endpoint(manager, receiver.url)
    for subject in range(20):
        announce(kind, subject)
    waiting = [row.pk for row in rows()]

    def deliver(row: int) -> bool:
        try:
            return outbox.deliver(row)
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as workers:
        while Delivery.objects.filter(state=State.WAITING).exists():  # one at a time has its owner's turn
            list(workers.map(deliver, waiting * 2))
            Row.objects.filter(pk__in=waiting, done_at=None).update(next_try_at=timezone.now())
    assert len(receiver.heard) == 20
    assert len({heard.headers["webhook-id"] for heard in receiver.heard}) == 20
    assert all(Webhook(to.secret).verify(heard.body, heard.headers) for heard in receiver.heard)
    assert Delivery.objects.filter(state=State.DELIVERED).count() == 20


@pytest.mark.django_db(transaction=True)
def test_a_delivery_of_a_worker_that_was_killed_is_taken_up_after_its_lease(manager: User, tmp_path: Path) -> None:
    """A process of its own is killed while the receiver hangs. Nothing is done while its lease holds."""
    with serving(in_turn(raw(hangs_s=60), answer(200))) as there:
        endpoint(manager, there.url, kinds=["endpoint.test"])
        announce("endpoint.test", "7")
        [row] = rows()
        environment = {**os.environ, "DATABASE_URL": database_url(), "EMMA_OUTGOING_ALLOW": "127.0.0.1"}
        worker = subprocess.Popen([sys.executable, "-c", DELIVER, str(row.pk)], cwd=ROOT, env=environment)
        try:
            until = time.monotonic() + 60
            while not there.heard and worker.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
            assert there.heard
            worker.send_signal(signal.SIGKILL)
            worker.wait(10)
        finally:
            worker.kill()
        outbox_tasks.sweep()
        assert len(there.heard) == 1
        Row.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        outbox_tasks.sweep()
        assert settled().state == State.DELIVERED
        assert [heard.headers["webhook-id"] for heard in there.heard] == [settled().event] * 2


DELIVER = """
import sys
import emma_eval.celery
import django
django.setup()
import emma_eval.webhooks.tasks
from emma_eval.outbox.deliver import deliver
deliver(int(sys.argv[1]))
"""


# --- secrets ---------------------------------------------------------------------------------------


def test_no_secret_and_no_key_of_an_address_is_in_logs_or_the_audit_trail(
    manager: User, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with serving(in_turn(answer(500), raw(b"hal"), answer(410))) as there:
        to = endpoint(manager, f"{there.url}/key-in-the-path?k=key-in-the-query")
        rotate_secret(to, manager)
        announce(kind, "7")
        work_to_the_end()
    assert len(there.heard) == 3
    lines = "\n".join(str(entry.__dict__) for entry in AuditEntry.objects.all())
    rows_say = "\n".join(str(row.__dict__) for row in Row.objects.all())
    tries_say = "\n".join(whys())
    assert "paused a webhook" in lines
    assert "outbox row" not in caplog.text or "Traceback" not in caplog.text
    for secret in (to.secret, to.old_secret, "key-in-the-path", "key-in-the-query", to.secret[6:20]):
        for where in (caplog.text, lines, rows_say, tries_say):
            assert secret not in where


def test_the_settings_keep_the_libraries_from_writing_addresses() -> None:
    """httpx writes each address that it opens, at the level that the root logger lets through."""
    assert site.LOGGING["loggers"]["httpx"]["level"] == "WARNING"
    assert not logging.getLogger("httpx").isEnabledFor(logging.INFO)


def test_a_training_that_lapses_by_its_date_is_seen_at_the_next_try(manager: User) -> None:
    """The day is asked for at each try, and not kept from an earlier one."""
    from emma_eval.webhooks.owners import owner_who_may

    training = Training.objects.create(user=manager, starts_on=date(2020, 1, 1))
    owner = owner_who_may(manager.pk)
    assert owner is not None
    assert owner.is_trained
    training.ends_on = timezone.localdate() - timedelta(days=1)
    training.save()
    owner = owner_who_may(manager.pk)
    assert owner is not None
    assert not owner.is_trained
