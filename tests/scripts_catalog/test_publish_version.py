"""Publishing versions, and what they never uncover."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from emma_eval.accounts.models import AuditEntry, User
from results.models import Result
from scripts_catalog.models import RunCount, Script, ScriptVersion
from scripts_catalog.publish_version import (
    SlugTakenError,
    StaleError,
    publish_script,
    publish_version,
)
from tests import make
from tests.scripts_catalog.wordings import PLAIN

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


def publish(script: Script, by: User | None, **changes: Any) -> ScriptVersion | None:
    script.refresh_from_db()
    assert script.latest
    return publish_version(script, replace(script.latest.wording, **changes), by=by, started_from=script.latest.pk)


@pytest.fixture
def script(eval_member: User) -> Script:
    return publish_script("plain-talk", PLAIN, by=eval_member).script


def test_the_next_version_is_the_latest_and_the_old_one_stays(script: Script, eval_member: User) -> None:
    publish(script, eval_member, title="Plainer talk", area="turns")
    script.refresh_from_db()
    assert script.latest
    assert (script.latest.number, script.latest.title, script.area) == (2, "Plainer talk", "turns")
    assert script.versions.get(number=1).wording == PLAIN


def test_equal_words_make_no_version(script: Script, eval_member: User) -> None:
    assert publish(script, eval_member) is None
    assert script.versions.count() == 1


def test_a_version_the_editor_never_saw_is_not_written_over(script: Script, eval_member: User) -> None:
    started_from = script.versions.get().pk
    publish(script, eval_member, title="First there")
    with pytest.raises(StaleError) as caught:
        publish_version(script, replace(PLAIN, title="Second"), by=eval_member, started_from=started_from)
    assert caught.value.latest.title == "First there"
    assert script.versions.count() == 2


def test_sending_the_same_words_twice_makes_one_version(script: Script, eval_member: User) -> None:
    started_from, wording = script.versions.get().pk, replace(PLAIN, title="Twice")
    assert publish_version(script, wording, by=eval_member, started_from=started_from)
    assert publish_version(script, wording, by=eval_member, started_from=started_from) is None


def test_a_slug_is_given_once(script: Script, eval_member: User) -> None:
    with pytest.raises(SlugTakenError):
        publish_script("plain-talk", replace(PLAIN, title="Another"), by=eval_member)
    assert ScriptVersion.objects.count() == 1


def test_a_script_that_became_safety_is_gone_for_an_untrained_editor(script: Script, eval_member: User) -> None:
    started_from = script.versions.get().pk
    publish(script, None, area="safety")
    with pytest.raises(Script.DoesNotExist):
        publish_version(script, replace(PLAIN, title="Mine"), by=eval_member, started_from=started_from)


def test_every_version_leaves_a_line_in_the_audit_trail(script: Script, trained_eval_member: User) -> None:
    publish(script, trained_eval_member, title="Plainer talk")
    publish(script, trained_eval_member, area="safety")
    publish(script, trained_eval_member, area="everyday")
    publish(script, trained_eval_member, title="Plain talk")
    lines = AuditEntry.objects.filter(target="plain-talk").order_by("id")
    assert [line.is_safety for line in lines] == [False, False, True, True, False]
    assert lines[1].details == {"changed": ["Title"]}


def test_results_filed_as_safety_stay_hidden_when_the_script_moves_out(
    script: Script, tester: User, trained_tester: User
) -> None:
    build = make.build()
    open_before = make.result(tester, script, build)
    publish(script, None, area="safety")
    script.refresh_from_db()
    filed_as_safety = make.result(trained_tester, script, build)
    assert not Result.objects.visible_to(tester).exists()
    assert Result.objects.visible_to(trained_tester).count() == 2
    publish(script, None, area="everyday")
    assert list(Result.objects.visible_to(tester)) == [open_before]
    assert filed_as_safety in Result.objects.visible_to(trained_tester)


def test_runs_filed_as_safety_stay_uncounted_when_the_script_moves_out(
    script: Script, tester: User, trained_tester: User
) -> None:
    build = make.build()
    RunCount.objects.add(script, build, filed_as_safety=False, runs=2)
    publish(script, None, area="safety")
    RunCount.objects.add(script, build, filed_as_safety=True, runs=5)
    assert RunCount.objects.visible_to(tester).by_script(build) == {}
    publish(script, None, area="everyday")
    assert RunCount.objects.visible_to(tester).by_script(build) == {script.pk: 2}
    assert RunCount.objects.visible_to(trained_tester).by_script(build) == {script.pk: 7}
    assert [row.runs for row in RunCount.objects.visible_to(tester).by_build()] == [2]


def test_versions_that_were_safety_stay_hidden_and_leave_no_gap(
    script: Script, tester: User, trained_tester: User
) -> None:
    for change in ({"area": "safety"}, {"title": "Hidden"}, {"area": "everyday"}, {"title": "Open"}):
        publish(script, None, **change)
    known = ScriptVersion.objects.visible_to(tester).order_by("number")
    assert [version.number for version in known] == [1, 4, 5]
    assert [version.number_for(tester) for version in known] == [1, 2, 3]
    assert ScriptVersion.objects.known_as(3, tester).get().title == "Open"
    assert not ScriptVersion.objects.known_as(4, tester).exists()
    assert [v.number_for(trained_tester) for v in script.versions.order_by("number")] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "wrong",
    [{"number": 1}, {"number": 0}, {"number": 2, "open_number": 1}, {"number": 2, "area": "safety", "open_number": 2}],
)
def test_the_database_refuses_versions_that_cannot_be(script: Script, wrong: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        ScriptVersion.objects.create(script=script, **{**PLAIN.columns(), **wrong})
