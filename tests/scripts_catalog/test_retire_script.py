"""Retiring a script and bringing it back."""

from __future__ import annotations

import pytest
from django.test import Client

from emma_eval.accounts.models import AuditEntry
from scripts_catalog.models import Script
from tests import make

pytestmark = pytest.mark.django_db


def test_a_retired_script_leaves_the_list_and_keeps_its_page(eval_client: Client) -> None:
    make.script("plain-talk", title="Plain talk")
    eval_client.post("/scripts/plain-talk/retire/")
    assert "Plain talk" not in eval_client.get("/scripts/").text
    assert "Bring back" in eval_client.get("/scripts/plain-talk/").text
    eval_client.post("/scripts/plain-talk/retire/", {"to": "use"})
    assert "Plain talk" in eval_client.get("/scripts/").text


def test_the_page_asks_before_it_retires_and_says_what_that_means(eval_client: Client) -> None:
    make.script("plain-talk")
    page = eval_client.get("/scripts/plain-talk/").text
    asked = page.split('<details class="retire">')[1].split("</details>")[0]
    summary, form = asked.split("</summary>")
    assert "<form" not in summary, "the first click opens the question and sends nothing"
    assert "Its results stay, and it can be brought back." in form
    assert ">Retire the script</button>" in form
    assert page.count('action="/scripts/plain-talk/retire/"') == 1


def test_pressing_twice_is_one_act(eval_client: Client) -> None:
    make.script("plain-talk")
    for _ in range(2):
        eval_client.post("/scripts/plain-talk/retire/")
    first = Script.objects.get().retired_at
    assert first
    assert [line.action for line in AuditEntry.objects.all()] == ["retired a script"]


def test_only_the_eval_team_retires_and_only_by_post(tester_client: Client, eval_client: Client) -> None:
    make.script("plain-talk")
    assert tester_client.post("/scripts/plain-talk/retire/").status_code == 403
    assert eval_client.get("/scripts/plain-talk/retire/").status_code == 405
    assert Script.objects.in_use().exists()
