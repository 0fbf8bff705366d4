"""The page of one script."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from scripts_catalog.models import RunCount, Script, Site
from tests import make

pytestmark = pytest.mark.django_db
TOKEN = r'name="csrfmiddlewaretoken" value="\w+"'


@pytest.fixture
def script(db: None) -> Script:
    return make.script("plain-talk", title="Plain talk")


def page(client: Client) -> str:
    return client.get("/scripts/plain-talk/").text


def test_it_says_what_to_do_and_numbers_the_steps(tester_client: Client, script: Script) -> None:
    text = page(tester_client)
    places = [text.index(words) for words in ("Find a quiet place.", "Say hello.", "Ask her a question.", "off-script")]
    assert places == sorted(places)


def test_it_marks_the_main_dimension(tester_client: Client, script: Script) -> None:
    main = page(tester_client).split('class="anchor is-main"')[1]
    assert main.index("Content") < main.index("main dimension") < main.index("Answers it well.")


def test_a_dimension_without_words_of_its_own_shows_those_of_the_guide(tester_client: Client, script: Script) -> None:
    text = page(tester_client)
    assert text.count("General quality") == 5
    assert "natural turn-taking" in text
    assert "relevant, accurate, feels attentive" not in text


def test_it_says_how_often_it_was_run_by_build(tester_client: Client, script: Script) -> None:
    old, new = make.build("2026.9"), make.build("2026.10", is_current=True)
    RunCount.objects.add(script, old, filed_as_safety=False, runs=5)
    RunCount.objects.add(script, new, filed_as_safety=False, runs=2)
    RunCount.objects.add(script, new, filed_as_safety=True, runs=8)
    rows = re.findall(r'<th scope="row"><bdi>([\d.]+)|>(\d+)</a></td>', page(tester_client))
    assert ["".join(row) for row in rows] == ["2026.10", "2", "2026.9", "5"]


def test_a_tester_starts_a_call_or_adds_a_result(tester_client: Client, script: Script) -> None:
    text = page(tester_client)
    button = r'action="/calls/new/">.*name="script" value="plain-talk".*name="uuid" value="[0-9a-f-]{36}"'
    assert re.search(button, text)
    assert text.index("Start a call") < text.index("Add a result")
    assert "/results/new/?script=plain-talk" in text
    assert text.count("button primary") == 1


def test_those_who_file_nothing_are_offered_emma_alone(manager_client: Client, script: Script) -> None:
    Site.objects.create(pk=1, call_link="https://emma.test/site")
    assert 'href="https://emma.test/site" target="_blank" rel="noopener noreferrer"' in page(manager_client)
    make.build(is_current=True, call_link="https://emma.test/build")
    text = page(manager_client)
    assert "https://emma.test/build" in text
    assert "https://emma.test/site" not in text
    assert "Add a result" not in text
    assert "Start a call" not in text


def test_a_retired_script_says_so_and_takes_no_results(tester_client: Client, script: Script) -> None:
    Script.objects.update(retired_at="2026-01-01T12:00Z")
    text = page(tester_client)
    assert "retired on 1 Jan 2026" in text
    assert "Add a result" not in text
    assert "Start a call" not in text
    assert "call-bar" not in text


def test_editing_is_offered_to_the_eval_team_alone(tester_client: Client, eval_client: Client, script: Script) -> None:
    assert "/edit/" not in page(tester_client)
    assert "/edit/" in page(eval_client)


@pytest.mark.parametrize("path", ["", "changes/", "versions/1/", "edit/"])
def test_a_safety_script_is_not_there_for_the_untrained(eval_client: Client, path: str) -> None:
    make.script("quiet-hint", area="safety", title="A quiet hint")
    hidden, missing = eval_client.get(f"/scripts/quiet-hint/{path}"), eval_client.get(f"/scripts/no-such/{path}")
    assert hidden.status_code == missing.status_code == 404
    assert re.sub(TOKEN, "", hidden.text) == re.sub(TOKEN, "", missing.text)


def test_a_safety_script_is_there_for_the_trained(db: None) -> None:
    make.script("quiet-hint", area="safety", title="A quiet hint")
    client = make.client_of(make.user(None, Role.TESTER, is_trained=True))
    assert "A quiet hint" in client.get("/scripts/quiet-hint/").text


def test_training_that_has_lapsed_hides_it_on_the_next_request(trained_tester: User) -> None:
    make.script("quiet-hint", area="safety")
    client = make.client_of(trained_tester)
    assert client.get("/scripts/quiet-hint/").status_code == 200
    trained_tester.trainings.update(ends_on="2025-01-01")
    assert client.get("/scripts/quiet-hint/").status_code == 404


def test_only_those_who_can_file_are_called_on_to_be_the_first(tester_client: Client, eval_client: Client) -> None:
    make.build("2026.48", is_current=True)
    make.script("plain-talk")
    assert "Not run yet: be the first on <bdi>2026.48</bdi>." in tester_client.get("/scripts/plain-talk/").text
    others = eval_client.get("/scripts/plain-talk/").text
    assert "Not run yet." in others
    assert "be the first" not in others


@pytest.mark.parametrize(("role", "leads"), [(Role.MANAGER, True), (Role.EVAL_TEAM, True), (Role.TESTER, False)])
def test_it_leads_managers_and_the_eval_team_to_its_dashboard(script: Script, role: Role, leads: bool) -> None:
    RunCount.objects.add(script, make.build(), filed_as_safety=False)
    text = page(make.client_of(make.user(None, role)))
    assert ('href="/dashboard/scripts/plain-talk/"' in text) == leads
