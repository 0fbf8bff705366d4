"""Exporting scripts as YAML."""

from __future__ import annotations

import pytest
from django.test import Client

from emma_eval.accounts.models import User
from scripts_catalog.catalogue_file import Entry, read
from scripts_catalog.export_scripts import export_scripts
from scripts_catalog.import_scripts import import_scripts, plan_import
from scripts_catalog.models import Script, ScriptVersion
from tests import make

pytestmark = pytest.mark.django_db


def test_the_round_trip_is_equal(trained_eval_member: User) -> None:
    for slug, area in (("b-script", "everyday"), ("a-script", "camera"), ("c-script", "safety")):
        make.script(slug, area=area, uses_camera=area == "camera", summary="Ünïcode: “quotes”, #hash, yes: no")
    text = export_scripts(trained_eval_member)
    Script.objects.update(latest=None)
    ScriptVersion.objects.all().delete()
    Script.objects.all().delete()
    entries = read(text)
    import_scripts(entries, plan_import(entries, trained_eval_member).digest, by=trained_eval_member)
    assert export_scripts(trained_eval_member) == text


def test_it_holds_what_the_viewer_may_see(eval_client: Client, trained_eval_member: User) -> None:
    make.script("open-one")
    make.script("quiet-hint", area="safety", title="CANARY")
    Script.objects.filter(pk=make.script("old-one").pk).update(retired_at="2026-01-01T00:00Z")
    answer = eval_client.get("/scripts/export/")
    assert answer["Content-Disposition"].startswith('attachment; filename="scripts-')
    assert [entry.slug for entry in read(answer.text)] == ["open-one"]
    assert "CANARY" not in answer.text
    trained = make.client_of(trained_eval_member).get("/scripts/export/").text
    assert [entry.slug for entry in read(trained)] == ["open-one", "quiet-hint"]


def test_it_is_for_the_eval_team(tester_client: Client) -> None:
    assert tester_client.get("/scripts/export/").status_code == 403


def test_an_entry_equals_what_its_version_says(eval_member: User) -> None:
    script = make.script("open-one")
    assert script.latest
    assert read(export_scripts(eval_member)) == [Entry("open-one", script.latest.wording)]
