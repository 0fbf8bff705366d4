"""No export tells the untrained anything of Safety: no row, no word, no count."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from emma_eval.accounts.models import Attempt, AuditEntry
from emma_eval.accounts.roles import Role
from results.export.order_file import Format
from results.models import Call, Export, Result
from results.views import exports
from tests import make
from tests.security.world import SECRET, World, build_world, hide

from .asking import ask, exported, html_of, ordered, read_json_lines, work

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
EXPORTERS = (Role.EVAL_TEAM.value, Role.MANAGER.value)
QUERIES = ("", "q=said", "area=safety", f"script=quiet-{SECRET}", "script=moved-out", "sort=vision&direction=asc")


@pytest.fixture
def world(db: None) -> World:
    return build_world()


def said_by(client: Client, format: str, query: str) -> bytes:
    """All that comes out of an export, or of the page that refuses it."""
    Attempt.objects.all().delete()  # the limit of exports is not what this is about
    answer = ask(client, format, query)
    if not answer.streaming:
        return str(answer.status_code).encode()
    data: bytes = answer.getvalue()
    if format != "xlsx":
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read("xl/worksheets/sheet1.xml")


def all_said(world: World, name: str, *, is_trained: bool = False) -> dict[tuple[str, str], bytes]:
    client = world.client(name, is_trained=is_trained)
    return {(format, query): said_by(client, format, query) for format in Format for query in QUERIES}


@pytest.mark.parametrize("name", EXPORTERS)
def test_an_export_is_the_same_with_and_without_anything_of_safety(world: World, name: str) -> None:
    without = all_said(world, name)
    assert b"She waited for me." in without["csv", ""]
    hide(world)
    assert all_said(world, name) == without


@pytest.mark.parametrize("name", EXPORTERS)
def test_the_trained_do_export_it(world: World, name: str) -> None:
    """So that the test above can fail."""
    hide(world)
    said = all_said(world, name, is_trained=True)
    for format in ("csv", "jsonl", "xlsx"):
        assert f"Comment {SECRET} said".encode() in said[format, ""]
        assert f"Moment {SECRET} said".encode() in said[format, ""]


@pytest.mark.parametrize(("rows", "query"), [(Result, ""), (Call, "script=bad-news-day")])
def test_a_guard_that_lets_through_would_be_seen(
    world: World, rows: Any, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = world.client(Role.EVAL_TEAM.value)
    without = said_by(client, "csv", query)
    hide(world)
    assert said_by(client, "csv", query) == without
    monkeypatch.setattr(type(rows.objects.all()), "visible_to", lambda found, user: found.all())
    assert SECRET.encode() in said_by(client, "csv", query)


def test_moments_of_a_call_on_which_safety_was_run_too_are_left_out(world: World) -> None:
    """The everyday result of such a call is exported; what was marked on the call is not told."""
    hide(world)
    rows = read_json_lines(exported(world.client(Role.EVAL_TEAM.value), "jsonl", "script=bad-news-day"))
    assert [row["moments"] for row in rows if row["id"] == world.result.pk] == [[]]


def test_the_number_of_a_version_is_the_one_that_the_viewer_knows(world: World) -> None:
    make.result(world.user(Role.TESTER.value), world.moved, world.build)
    hide(world)
    said = {}
    for is_trained in (False, True):
        client = world.client(Role.EVAL_TEAM.value, is_trained=is_trained)
        rows = read_json_lines(exported(client, "jsonl", "script=moved-out", ["script_version", "comment"]))
        said[is_trained] = [row["script_version"] for row in rows if SECRET not in row["comment"]]
    assert said == {False: [2], True: [3]}


def test_the_count_on_the_page_and_in_the_audit_trail_is_that_of_the_viewer(world: World) -> None:
    open_to_all = Result.objects.count()
    hide(world)
    client = world.client(Role.MANAGER.value)
    assert f'<b class="figures">{open_to_all} results</b>' in html_of(client.get(reverse("export_new")))
    exported(client, "csv")
    assert AuditEntry.objects.get(action="exported results").details["rows"] == str(open_to_all)
    assert Result.objects.count() > open_to_all


def test_a_file_made_in_the_background_leaves_it_out_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "MOST_AT_ONCE", 0)
    open_to_all = Result.objects.count()
    hide(world)
    made = work(ordered(world.client(Role.MANAGER.value)))
    assert (made.total, made.rows, made.tells_of_safety) == (open_to_all, open_to_all, False)
    trained = work(ordered(world.client(Role.MANAGER.value, is_trained=True)))
    assert trained.rows > open_to_all
    assert trained.tells_of_safety
    assert Export.objects.visible_to(world.user(Role.MANAGER.value)).filter(pk=trained.pk).count() == 0
