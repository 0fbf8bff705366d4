"""Loading the shipped scripts."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from emma_eval.accounts.models import User
from scripts_catalog import taxonomy
from scripts_catalog.catalogue_file import Entry, read, write
from scripts_catalog.load_catalogue import Outcome, load_catalogue
from scripts_catalog.management.commands.load_catalogue import SHIPPED
from scripts_catalog.models import Script, ScriptVersion
from scripts_catalog.publish_version import publish_version
from tests.scripts_catalog.wordings import PLAIN

pytestmark = pytest.mark.django_db

# The scripts that the team's old sheet names.
SHEET_SLUGS = {
    "ask-for-facts",
    "bad-news-day",
    "interrupt-mid-answer",
    "long-story-with-pauses",
    "names-and-numbers",
    "noisy-room",
    "show-an-object",
    "small-talk-first-call",
}


def load(**changes: object) -> Outcome:
    return load_catalogue([Entry("plain-talk", replace(PLAIN, **changes))])["plain-talk"]  # type: ignore[arg-type]


def edit(user: User, **changes: object) -> None:
    script = Script.objects.get(slug="plain-talk")
    assert script.latest
    wording = replace(script.latest.wording, **changes)  # type: ignore[arg-type]
    assert publish_version(script, wording, by=user, started_from=script.latest.pk)


def test_the_shipped_catalogue_covers_every_area_and_every_dimension() -> None:
    entries = {entry.slug: entry.wording for entry in read(SHIPPED.read_text())}
    assert len(entries) >= 24
    assert {wording.area for wording in entries.values()} == set(taxonomy.AREA_NAMES)
    assert {wording.main_dimension for wording in entries.values()} == set(taxonomy.DIMENSION_BY_KEY)
    assert set(entries) >= SHEET_SLUGS
    assert [slug for slug in SHEET_SLUGS if entries[slug].uses_camera] == ["show-an-object"]
    assert not [slug for slug in SHEET_SLUGS if entries[slug].area == taxonomy.SAFETY]


def test_loading_twice_adds_nothing() -> None:
    call_command("load_catalogue", stdout=StringIO())
    said = StringIO()
    call_command("load_catalogue", stdout=said)
    count = Script.objects.count()
    assert f"0 new, 0 changed, {count} unchanged" in said.getvalue()
    assert ScriptVersion.objects.count() == count


def test_a_changed_file_makes_a_new_version() -> None:
    assert load() is Outcome.NEW
    assert load(title="Plainer talk") is Outcome.CHANGED
    script = Script.objects.get()
    assert script.latest
    assert (script.latest.title, script.latest.number, script.latest.is_shipped) == ("Plainer talk", 2, True)


def test_it_never_overwrites_an_edit_made_here(eval_member: User) -> None:
    load()
    edit(eval_member, title="Ours")
    assert load() is Outcome.UNCHANGED
    assert load(title="Theirs") is Outcome.EDITED_HERE
    assert Script.objects.get().latest.title == "Ours"  # type: ignore[union-attr]


def test_an_edit_that_was_taken_back_is_no_edit(eval_member: User) -> None:
    load()
    edit(eval_member, title="Ours")
    edit(eval_member, title=PLAIN.title)
    assert load() is Outcome.UNCHANGED


def test_a_retired_script_stays_retired() -> None:
    load()
    Script.objects.update(retired_at="2026-01-01T00:00Z")
    load(title="Plainer talk")
    assert Script.objects.get().retired_at


def test_one_wrong_script_keeps_all_of_them_out(tmp_path: Path) -> None:
    text = write([Entry("first", PLAIN), Entry("second", PLAIN)]).replace("area: everyday", "area: garden", 1)
    file = tmp_path / "scripts.yaml"
    file.write_text(text)
    with pytest.raises(CommandError, match=r"first, area: Choose one of the areas\."):
        call_command("load_catalogue", str(file))
    assert not Script.objects.exists()


def test_a_missing_file_is_said_in_words() -> None:
    with pytest.raises(CommandError, match="can't be read"):
        call_command("load_catalogue", "no-such-file.yaml")
