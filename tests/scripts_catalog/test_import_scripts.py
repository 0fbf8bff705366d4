"""Importing scripts from YAML: look first, then all or nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from emma_eval.accounts.models import AuditEntry, User
from scripts_catalog.catalogue_file import Entry, write
from scripts_catalog.models import Script
from scripts_catalog.publish_version import publish_version
from tests import make
from tests.scripts_catalog.wordings import PLAIN

pytestmark = pytest.mark.django_db


def upload(client: Client, content: str | bytes) -> Any:
    file = SimpleUploadedFile("scripts.yaml", content.encode() if isinstance(content, str) else content)
    return client.post("/scripts/import/", {"file": file})


def apply(client: Client, shown: HttpResponse) -> Any:
    context = shown.context  # type: ignore[attr-defined]
    return client.post("/scripts/import/", {"text": context["text"], "digest": context["plan"].digest}, follow=True)


def file_of(**wordings: Any) -> str:
    return write(Entry(slug.replace("_", "-"), replace(PLAIN, **changes)) for slug, changes in wordings.items())


def test_it_shows_what_would_change_and_changes_nothing(eval_client: Client) -> None:
    make.script("same-one", title="Same")
    upload(eval_client, file_of(old_one={}))
    shown = upload(eval_client, file_of(old_one={}, new_one={"title": "Newcomer"}))
    assert "2 of 2 scripts would be published" in shown.text
    assert "Newcomer" in shown.text
    assert Script.objects.count() == 1


def test_it_shows_the_old_and_the_new_words_before_anything_is_published(
    eval_client: Client, eval_member: User
) -> None:
    apply(eval_client, upload(eval_client, file_of(one={})))
    shown = upload(eval_client, file_of(one={"summary": "Whether she follows a joke.", "steps": ("Say bye.",)}))
    preview = shown.text.split('<dl class="changes">')[1].split("</dl>")[0]
    assert "<del>follows. </del><ins>follows a joke.</ins>" in preview
    assert "Say <del>hello. </del><ins>bye.</ins>" in preview
    assert "<del>Ask her a question.</del>" in preview
    apply(eval_client, shown)
    assert preview in eval_client.get("/scripts/one/changes/").text, "the page of the versions tells it the same way"


def test_of_a_new_script_it_shows_what_it_finds_out(eval_client: Client) -> None:
    shown = upload(eval_client, file_of(one={"summary": "Whether she waits."}))
    assert "Whether she waits." in shown.text
    assert "New script" in shown.text


def test_it_publishes_what_was_shown(eval_client: Client) -> None:
    apply(eval_client, upload(eval_client, file_of(one={}, two={})))
    shown = upload(eval_client, file_of(one={}, two={"title": "Other"}, three={}))
    assert "1 script reads the same as now" in shown.text
    assert "2 of 3 scripts would be published" in shown.text
    assert "2 scripts published." in apply(eval_client, shown).text
    versions = {script.slug: script.latest.number for script in Script.objects.all() if script.latest}
    assert versions == {"one": 1, "two": 2, "three": 1}


def test_applying_twice_adds_nothing(eval_client: Client) -> None:
    shown = upload(eval_client, file_of(one={}))
    apply(eval_client, shown)
    assert apply(eval_client, shown).status_code == 409
    assert Script.objects.get().versions.count() == 1


def test_a_script_that_changed_meanwhile_is_not_written_over(eval_client: Client, eval_member: User) -> None:
    apply(eval_client, upload(eval_client, file_of(one={})))
    shown = upload(eval_client, file_of(one={"title": "From the file"}, two={}))
    script = Script.objects.get()
    assert script.latest
    publish_version(script, replace(PLAIN, title="Meanwhile"), by=eval_member, started_from=script.latest.pk)
    answer = apply(eval_client, shown)
    assert answer.status_code == 409
    assert "Somebody published scripts meanwhile" in answer.text
    assert Script.objects.count() == 1
    apply(eval_client, answer)
    assert Script.objects.count() == 2


def test_one_wrong_script_keeps_all_out_and_says_why(eval_client: Client) -> None:
    answer = upload(eval_client, file_of(one={}, two={"title": ""}))
    assert answer.status_code == 422
    assert "two, title: Give the script a title." in answer.text
    assert not Script.objects.exists()


def test_safety_is_neither_brought_in_nor_written_over_by_the_untrained(eval_client: Client) -> None:
    make.script("quiet-hint", area="safety", title="Hidden")
    shown = upload(eval_client, file_of(mine={"area": "safety"}))
    assert "mine, area: Choose one of the areas." in shown.text
    taken = upload(eval_client, file_of(quiet_hint={}))
    reserved = upload(eval_client, file_of(new={}))
    assert taken.status_code == reserved.status_code == 422
    said = "slug: Choose another slug: this one is not free."
    assert f"quiet-hint, {said}" in taken.text
    assert f"new, {said}" in reserved.text
    assert "Hidden" not in taken.text
    assert Script.objects.get().latest.title == "Hidden"  # type: ignore[union-attr]


def test_a_list_of_guesses_tells_of_one_hidden_script_and_leaves_a_trace(eval_client: Client) -> None:
    make.script("quiet-hint", area="safety")
    make.script("louder-hint", area="safety")
    answer = upload(eval_client, file_of(quiet_hint={}, free={}, louder_hint={}))
    assert "quiet-hint, slug" in answer.text
    assert "louder-hint, slug" not in answer.text
    trace = AuditEntry.objects.get(action="tried slugs that are not free")
    assert (trace.target, trace.is_safety, trace.details) == ("quiet-hint", True, {"slugs": 2})


def test_the_trained_import_safety(trained_eval_member: User) -> None:
    client = make.client_of(trained_eval_member)
    apply(client, upload(client, file_of(mine={"area": "safety"})))
    assert Script.objects.get().is_safety


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"   ", "Choose a file that holds scripts."),
        (b"\xff\xfe\x00", "The file is not UTF-8 text."),
        (b"# " + b"x" * 2_000_000, "The file is larger than 2 MB."),
        (b"\n" * 1_200_000 + b"x", "The file is larger than 2 MB."),
        (b"scripts: [", "This is not a YAML file we can read."),
    ],
)
def test_a_file_it_cannot_take_is_refused_in_words(eval_client: Client, content: bytes, said: str) -> None:
    answer = upload(eval_client, content)
    assert answer.status_code == 422
    assert said in answer.text


def test_a_file_with_a_byte_order_mark_is_read(eval_client: Client) -> None:
    assert "1 of 1 scripts would" in upload(eval_client, b"\xef\xbb\xbf" + file_of(one={}).encode()).text


def test_no_file_is_an_error_beside_the_field(eval_client: Client) -> None:
    answer = eval_client.post("/scripts/import/", {})
    assert answer.status_code == 422
    assert "Choose a file that holds scripts." in answer.text


def test_a_retired_script_gets_its_version_and_stays_retired(eval_client: Client) -> None:
    make.script("one")
    Script.objects.update(retired_at="2026-01-01T00:00Z")
    shown = upload(eval_client, file_of(one={}))
    assert "stays retired" in shown.text
    apply(eval_client, shown)
    script = Script.objects.get()
    assert script.retired_at
    assert script.latest
    assert script.latest.number == 2


def test_it_is_for_the_eval_team(tester_client: Client) -> None:
    assert tester_client.get("/scripts/import/").status_code == 403


def test_the_page_starts_without_complaints(eval_client: Client) -> None:
    answer = eval_client.get("/scripts/import/")
    assert answer.status_code == 200
    assert "error-summary" not in answer.text
