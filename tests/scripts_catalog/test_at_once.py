"""Several people at the same moment: each fact is decided once, by the database."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from emma_eval.accounts.models import User
from scripts_catalog.catalogue_file import Entry
from scripts_catalog.import_scripts import Plan, PlanChangedError, import_scripts, plan_import
from scripts_catalog.models import Build, Script, ScriptVersion
from scripts_catalog.publish_version import SlugTakenError, StaleError, publish_script, publish_version
from scripts_catalog.register_build import make_build_current
from tests import make
from tests.scripts_catalog.wordings import PLAIN

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.data_layer]
AT_ONCE = 8


def at_once(act: Callable[[int], Any]) -> list[Any]:
    """What each of several threads got, all let go at the same moment; what was raised is an answer too."""
    start = Barrier(AT_ONCE)

    def run(number: int) -> Any:
        start.wait()
        try:
            return act(number)
        except (StaleError, SlugTakenError) as refused:
            return type(refused)
        finally:
            connection.close()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(run, range(AT_ONCE)))


def test_of_several_editors_one_publishes_and_the_others_are_told(eval_member: User) -> None:
    first = publish_script("plain-talk", PLAIN, by=eval_member)
    answers = at_once(
        lambda number: publish_version(
            first.script, replace(PLAIN, title=f"Title {number}"), by=eval_member, started_from=first.pk
        )
    )
    assert answers.count(StaleError) == AT_ONCE - 1
    assert first.script.versions.count() == 2


def test_one_press_sent_several_times_makes_one_version(eval_member: User) -> None:
    first = publish_script("plain-talk", PLAIN, by=eval_member)
    wording = replace(PLAIN, title="Once")
    answers = at_once(lambda _: publish_version(first.script, wording, by=eval_member, started_from=first.pk))
    assert answers.count(None) == AT_ONCE - 1
    assert first.script.versions.count() == 2


def test_a_slug_goes_to_one_script(eval_member: User) -> None:
    answers = at_once(lambda _: publish_script("plain-talk", PLAIN, by=eval_member))
    assert answers.count(SlugTakenError) == AT_ONCE - 1
    assert Script.objects.get().versions.count() == 1


def test_however_many_are_made_current_one_is(eval_member: User) -> None:
    builds = [make.build() for _ in range(AT_ONCE)]
    make_build_current(builds[0], eval_member)
    assert all(answer in {True, False} for answer in at_once(lambda n: make_build_current(builds[n], eval_member)))
    assert Build.objects.filter(is_current=True).count() == 1


def test_two_files_of_the_same_scripts_in_other_orders_keep_nobody_waiting(eval_member: User) -> None:
    for number in range(4):
        entries = [Entry(f"script-{number}-{place}", replace(PLAIN, title=f"Title {place}")) for place in range(12)]
        for entry in entries[:6]:
            publish_script(entry.slug, PLAIN, by=eval_member)
        files = [entries, entries[::-1]]

        def read(which: int, files: list[list[Entry]] = files) -> Any:
            entries = files[which % 2]
            try:
                return import_scripts(entries, plan_import(entries, eval_member).digest, by=eval_member)
            except PlanChangedError as refused:
                return type(refused)

        answers = at_once(read)
        assert [answer for answer in answers if answer is not PlanChangedError and not isinstance(answer, Plan)] == []
        assert ScriptVersion.objects.filter(script__slug__startswith=f"script-{number}-").count() == 12 + 6
