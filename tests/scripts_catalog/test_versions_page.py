"""Older versions of a script, and what changed between them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from emma_eval.accounts.models import User
from scripts_catalog.models import Script
from scripts_catalog.publish_version import publish_script, publish_version
from scripts_catalog.views.scripts import CHANGES_A_PAGE
from tests import make
from tests.scripts_catalog.wordings import PLAIN

pytestmark = pytest.mark.django_db


@pytest.fixture
def script(trained_eval_member: User) -> Script:
    return publish_script("plain-talk", PLAIN, by=trained_eval_member).script


def publish(script: Script, by: User, note: str = "", **changes: Any) -> None:
    script.refresh_from_db()
    assert script.latest
    wording = replace(script.latest.wording, **changes)
    assert publish_version(script, wording, by=by, started_from=script.latest.pk, note=note)


def test_it_shows_what_changed_and_why(tester_client: Client, script: Script, trained_eval_member: User) -> None:
    publish(script, trained_eval_member, "Clearer.", summary="Whether she really follows.")
    page = tester_client.get("/scripts/plain-talk/changes/").text
    assert "Clearer." in page
    assert "Whether she <ins>really </ins>follows." in page
    assert page.index("Version 2") < page.index("Version 1")


def test_an_old_version_reads_as_it_did(tester_client: Client, script: Script, trained_eval_member: User) -> None:
    publish(script, trained_eval_member, title="Plainer talk")
    page = tester_client.get("/scripts/plain-talk/versions/1/").text
    assert "<h1>Plain talk</h1>" in page
    assert "reads differently now" in page
    assert "reads differently now" not in tester_client.get("/scripts/plain-talk/versions/2/").text
    assert tester_client.get("/scripts/plain-talk/versions/3/").status_code == 404
    assert tester_client.get("/scripts/plain-talk/versions/0/").status_code == 404
    assert tester_client.get("/scripts/plain-talk/versions/99999999999999999999/").status_code == 404


@pytest.fixture
def moved(script: Script, trained_eval_member: User) -> Script:
    """Open, then Safety for two versions, then open again."""
    publish(script, trained_eval_member, "moved into Safety", area="safety", title="CANARY title")
    publish(script, trained_eval_member, "sharper", summary="CANARY summary")
    publish(script, trained_eval_member, "out of Safety again CANARY", area="everyday", title="Out", summary="Open.")
    publish(script, trained_eval_member, "a small thing", title="Out and about")
    return script


def test_nothing_of_its_time_as_safety_is_told_to_the_untrained(tester_client: Client, moved: Script) -> None:
    changes = tester_client.get("/scripts/plain-talk/changes/").text
    pages = [changes, *(tester_client.get(f"/scripts/plain-talk/versions/{number}/").text for number in range(1, 6))]
    assert "CANARY" not in "".join(pages)
    assert "Safety" not in "".join(pages)
    assert "a small thing" in changes
    assert changes.count('<li class="card">') == 3
    assert changes.count("The words as they were published.") == 1
    assert "Version 3 of" in tester_client.get("/scripts/plain-talk/").text
    assert "<h1>Out</h1>" in tester_client.get("/scripts/plain-talk/versions/2/").text
    assert tester_client.get("/scripts/plain-talk/versions/4/").status_code == 404


def test_the_trained_read_all_of_it(trained_tester: User, moved: Script) -> None:
    client = make.client_of(trained_tester)
    page = client.get("/scripts/plain-talk/changes/").text
    assert page.count('<li class="card">') == 5
    assert "moved into Safety" in page
    assert "<h1>CANARY title</h1>" in client.get("/scripts/plain-talk/versions/2/").text


def test_a_long_history_is_read_in_pages(tester_client: Client, script: Script, trained_eval_member: User) -> None:
    for number in range(CHANGES_A_PAGE + 4):
        publish(script, trained_eval_member, title=f"Title {number}")
    first = tester_client.get("/scripts/plain-talk/changes/").text
    assert first.count('<li class="card">') == CHANGES_A_PAGE
    assert "?before=6" in first
    second = tester_client.get("/scripts/plain-talk/changes/?before=6").text
    assert second.count('<li class="card">') == 5
    assert tester_client.get("/scripts/plain-talk/changes/?before=x").status_code == 200
