"""Asking for exports and reading them back, for tests."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from typing import Any

import openpyxl
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from emma_eval.accounts.models import Training, User
from emma_eval.outbox.deliver import deliver
from emma_eval.outbox.models import Row
from results import tasks  # noqa: F401  (registers the handler)
from results.export.columns import COLUMNS
from results.models import Export

ALL = [column.key for column in COLUMNS]


def ask(client: Client, format: str, query: str = "", columns: Iterable[str] = ALL) -> Any:
    """The answer to the form of the export page."""
    path = reverse("export_new") + (f"?{query}" if query else "")
    return client.post(path, {"format": format, "column": list(columns)})


def exported(client: Client, format: str, query: str = "", columns: Iterable[str] = ALL) -> bytes:
    """The bytes of a download."""
    answer = ask(client, format, query, columns)
    assert answer.status_code == 200, answer.status_code
    assert answer.streaming, answer.text
    found: bytes = answer.getvalue()
    return found


def read_csv(data: bytes) -> list[dict[str, str]]:
    text = data.decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def read_json_lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.decode().split("\n") if line]


def read_workbook(data: bytes) -> list[dict[str, Any]]:
    sheet = openpyxl.load_workbook(io.BytesIO(data))["Results"]
    head, *rows = sheet.iter_rows(values_only=True)
    return [dict(zip(head, row, strict=True)) for row in rows]  # type: ignore[arg-type]


def ordered(client: Client, query: str = "", **columns: Any) -> Export:
    """A workbook that is asked for, where every workbook is a large one."""
    assert ask(client, "xlsx", query, **columns).status_code == 302
    return Export.objects.latest("asked_at")


def work(export: Export) -> Export:
    """What a worker does when it is woken for it."""
    assert export.work is not None
    Row.objects.filter(pk=export.work.pk).update(next_try_at=timezone.now(), lease_until=None)
    assert deliver(export.work.pk)
    return Export.objects.select_related("work").get(pk=export.pk)


def take_away(user: User, what: str) -> None:
    """One of the three that an export needs."""
    if what == "role":
        user.groups.clear()
    elif what == "account":
        User.objects.filter(pk=user.pk).update(is_active=False)
    else:
        Training.objects.filter(user=user).update(revoked_at=timezone.now())


def html_of(answer: Any) -> str:
    return " ".join(answer.text.split())
