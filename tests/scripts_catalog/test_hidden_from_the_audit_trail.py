"""What the audit trail says of a script goes where the script goes."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from results.filing.correct_result import correct_result
from results.filing.file_result import file_result
from scripts_catalog.models import Script
from scripts_catalog.publish_version import publish_script, publish_version
from scripts_catalog.retire_script import bring_back_script, retire_script
from tests import make
from tests.results.filing.test_file_result import filing
from tests.scripts_catalog.wordings import PLAIN

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

EVERY_ACT = {
    "published a script",
    "published a version",
    "retired a script",
    "brought back a script",
    "filed a result",
    "corrected a result",
}


@pytest.fixture
def told(eval_member: User, tester: User) -> Script:
    """A script that everything was done to while everybody could know of it."""
    version = publish_script("plain-talk", PLAIN, by=eval_member)
    script, started_from = version.script, version.pk
    next_one = publish_version(script, replace(PLAIN, title="Plainer"), by=eval_member, started_from=started_from)
    assert next_one is not None
    retire_script(script, eval_member)
    bring_back_script(script, eval_member)
    what = filing(Script.objects.get(pk=script.pk), make.build(is_current=True))
    result = file_result(tester, uuid.uuid4(), what).result
    correct_result(tester, result, replace(what, comment="Said otherwise."), based_on=result.version)
    return Script.objects.get(pk=script.pk)


def move(script: Script, area: str, by: User) -> None:
    assert script.latest
    publish_version(script, replace(script.latest.wording, area=area), by=by, started_from=script.latest.pk)


def trail(*, is_trained: bool) -> set[str]:
    page = make.client_of(make.user(None, Role.ADMINISTRATOR, is_trained=is_trained)).get("/audit/")
    return {line.entry.action for line in page.context["lines"]}


def test_every_line_about_a_script_or_a_result_names_its_script(told: Script) -> None:
    assert set(AuditEntry.objects.filter(script=told.slug).values_list("action", flat=True)) == EVERY_ACT
    assert trail(is_trained=False) >= EVERY_ACT


def test_a_script_that_became_safety_takes_its_lines_along(told: Script, trained_eval_member: User) -> None:
    move(told, "safety", trained_eval_member)
    page = make.client_of(make.user(None, Role.ADMINISTRATOR)).get("/audit/")
    assert told.slug not in page.text
    assert trail(is_trained=False).isdisjoint(EVERY_ACT)
    assert trail(is_trained=True) >= EVERY_ACT


def test_lines_about_other_scripts_stay(told: Script, eval_member: User, trained_eval_member: User) -> None:
    publish_script("other-talk", PLAIN, by=eval_member)
    move(told, "safety", trained_eval_member)
    assert trail(is_trained=False) & EVERY_ACT == {"published a script"}
