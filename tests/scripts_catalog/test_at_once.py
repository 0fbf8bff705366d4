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
from scripts_catalog.models import Build, Script
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
