"""Writing scripts in the site."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from emma_eval.accounts.models import User
from scripts_catalog.models import Script
from scripts_catalog.publish_version import publish_script
from tests import make
from tests.scripts_catalog.wordings import PLAIN, TYPED

pytestmark = pytest.mark.django_db


@pytest.fixture
def script(eval_member: User) -> Script:
    return publish_script("plain-talk", PLAIN, by=eval_member).script


def typed(script: Script, **changes: Any) -> dict[str, Any]:
    script.refresh_from_db()
    return {**TYPED, "started_from": script.latest_id, **changes}


def test_a_new_script_gets_its_slug_from_its_title(eval_client: Client) -> None:
    answer = eval_client.post("/scripts/new/", TYPED)
    assert answer["Location"] == "/scripts/plain-talk/"
    script = Script.objects.get()
    assert script.latest
    assert script.latest.wording == PLAIN


def test_a_new_script_may_be_given_a_slug(eval_client: Client) -> None:
    eval_client.post("/scripts/new/", {**TYPED, "slug": "of-my-own"})
    assert Script.objects.get().slug == "of-my-own"


@pytest.mark.parametrize("slug", ["plain-talk", "quiet-hint", "retired-one", "new", "import", "export"])
def test_a_slug_that_is_not_free_is_refused_in_the_same_words(eval_client: Client, script: Script, slug: str) -> None:
    make.script("quiet-hint", area="safety")
    Script.objects.filter(pk=make.script("retired-one").pk).update(retired_at="2026-01-01T00:00Z")
    answer = eval_client.post("/scripts/new/", {**TYPED, "slug": slug})
    assert answer.status_code == 422
    assert "Slug: Choose another slug: this one is not free." in answer.text
    assert 'value="Plain talk"' in answer.text


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"title": " "}, "title", "Give the script a title."),
        ({"title": "中文"}, "slug", "The title has no letters a-z to make a slug from: write one."),
        ({"slug": "Two Words"}, "slug", "Use small letters, digits and single hyphens."),
        ({"area": "safety"}, "area", "Choose one of the areas."),
        ({"area": ""}, "area", "Choose an area."),
        ({"main_dimension": "vision"}, "main_dimension", "Vision can only be the main dimension"),
        ({"steps": " \n "}, "steps", "Write at least one step."),
        ({"content_one": ""}, "content_one", "Say what both 5 and 1 look like, or leave both empty."),
        ({"vision_five": "a", "vision_one": "b"}, "vision_five", "Only a script that uses the camera"),
        ({"summary": "x" * 301}, "summary", "at most 300 characters"),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_nothing_typed_is_lost(
    eval_client: Client, changes: dict[str, str], field: str, said: str
) -> None:
    answer = eval_client.post("/scripts/new/", {**TYPED, **changes})
    assert answer.status_code == 422
    summary, form = answer.text.split('<form class="script-form"')
    assert f'href="#id_{field}"' in summary
    assert said in summary
    assert said in form.split(f'id="id_{field}_error"')[1][:400]
    assert "Makes it up." in form or "content_one" in changes
    assert "Take a breath." in form
    assert not Script.objects.exists()


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("1. Say hold on.", "Say hold on."),
        ("12) Say hold on.", "Say hold on."),
        ("(3) Say hold on.", "Say hold on."),
        ("2.Say hold on.", "Say hold on."),
        ("Step 4: Say hold on.", "Say hold on."),
        ("- Say hold on.", "Say hold on."),
        ("• Say hold on.", "Say hold on."),
        ("1.5 seconds later, say hold on.", "1.5 seconds later, say hold on."),
        ("3 times, say hold on.", "3 times, say hold on."),
        ("10:30 is the time to say.", "10:30 is the time to say."),
        ("Step out of the picture.", "Step out of the picture."),
        ("-5 degrees, say it.", "-5 degrees, say it."),
    ],
)
def test_numbers_typed_before_the_steps_are_left_to_the_page(eval_client: Client, line: str, step: str) -> None:
    eval_client.post("/scripts/new/", {**TYPED, "steps": f"Say hello.\n{line}\n7."})
    script = Script.objects.get()
    assert script.latest
    assert script.latest.steps == ["Say hello.", step]


def test_the_trained_may_file_a_script_under_safety(trained_eval_member: User) -> None:
    make.client_of(trained_eval_member).post("/scripts/new/", {**TYPED, "area": "safety"})
    assert Script.objects.get().is_safety


def test_safety_is_offered_to_the_trained_alone(eval_client: Client, trained_eval_member: User) -> None:
    assert 'value="safety"' not in eval_client.get("/scripts/new/").text
    assert 'value="safety"' in make.client_of(trained_eval_member).get("/scripts/new/").text


def test_the_form_starts_with_what_the_script_says(eval_client: Client, script: Script) -> None:
    page = eval_client.get("/scripts/plain-talk/edit/").text
    assert "Say hello.\nAsk her a question." in page
    assert "Answers it well." in page
    assert 'name="slug"' not in page


def test_saving_publishes_a_version(eval_client: Client, script: Script, eval_member: User) -> None:
    eval_client.post(
        "/scripts/plain-talk/edit/", typed(script, steps="Say goodbye.", change_note="Shorter.", uses_camera="on")
    )
    script.refresh_from_db()
    latest = script.latest
    assert latest
    assert (latest.number, latest.steps, latest.change_note, latest.uses_camera, latest.edited_by) == (
        2,
        ["Say goodbye."],
        "Shorter.",
        True,
        eval_member,
    )


def test_saving_without_a_change_says_so(eval_client: Client, script: Script) -> None:
    answer = eval_client.post("/scripts/plain-talk/edit/", typed(script), follow=True)
    assert "Nothing was changed, so there is no new version." in answer.text
    assert script.versions.count() == 1


def test_a_preview_shows_the_page_and_publishes_nothing(eval_client: Client, script: Script) -> None:
    answer = eval_client.post("/scripts/plain-talk/edit/", typed(script, title="Other title", preview="yes"))
    assert answer.status_code == 200
    assert "<h1>Other title</h1>" in answer.text
    assert "not published yet" in answer.text
    assert 'value="Other title"' in answer.text
    assert script.versions.count() == 1


def test_a_preview_of_what_is_wrong_shows_the_errors(eval_client: Client, script: Script) -> None:
    answer = eval_client.post("/scripts/plain-talk/edit/", typed(script, title="", preview="yes"))
    assert answer.status_code == 422
    assert "not published yet" not in answer.text


def test_two_editors_at_once_both_keep_their_words(eval_client: Client, script: Script) -> None:
    mine, theirs = typed(script, title="Mine alone"), typed(script, title="Theirs first")
    eval_client.post("/scripts/plain-talk/edit/", theirs)
    answer = eval_client.post("/scripts/plain-talk/edit/", mine)
    assert answer.status_code == 409
    assert "<del>Theirs first </del>" in answer.text
    assert "<ins>Mine alone</ins>" in answer.text
    assert 'value="Mine alone"' in answer.text
    assert script.versions.count() == 2
    again = {**mine, "started_from": answer.context["form"]["started_from"].value()}
    eval_client.post("/scripts/plain-talk/edit/", again)
    script.refresh_from_db()
    assert script.latest
    assert (script.latest.title, script.latest.number) == ("Mine alone", 3)


def test_a_forged_start_is_an_error_and_no_crash(eval_client: Client, script: Script) -> None:
    assert eval_client.post("/scripts/plain-talk/edit/", {**TYPED, "title": "x"}).status_code == 422
    forged = typed(script, title="x", started_from="99999999999999999999")
    assert eval_client.post("/scripts/plain-talk/edit/", forged).status_code == 409


def test_moving_into_safety_needs_training(eval_client: Client, trained_eval_member: User, script: Script) -> None:
    assert eval_client.post("/scripts/plain-talk/edit/", typed(script, area="safety")).status_code == 422
    make.client_of(trained_eval_member).post("/scripts/plain-talk/edit/", typed(script, area="safety"))
    assert Script.objects.get().is_safety
    assert eval_client.post("/scripts/plain-talk/edit/", typed(script, title="x")).status_code == 404
    assert eval_client.post("/scripts/plain-talk/retire/").status_code == 404


@pytest.mark.parametrize("path", ["/scripts/new/", "/scripts/plain-talk/edit/"])
def test_writing_is_for_the_eval_team_alone(
    tester_client: Client, manager_client: Client, script: Script, path: str
) -> None:
    for client in (tester_client, manager_client):
        assert client.get(path).status_code == 403
        assert client.post(path, TYPED).status_code == 403
