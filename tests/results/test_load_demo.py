"""The demo team that `./emma up` loads."""

from __future__ import annotations

import stat
import uuid
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
import yaml
from django.core.management import call_command

from emma_eval.accounts.models import User
from results.demo import ENTRIES, PEOPLE, Call, Entry, filing_of, keep_sign_ins, load_demo
from results.filing import rules
from results.live_call.wait_for_results import calls_that_wait
from results.models import Call as Held
from results.models import Result, Round, Run
from results.rounds.progress import progress_of
from results.rounds.today import to_run
from scripts_catalog.models import Build, RunCount, Script
from tests import make

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]
NOW = datetime(2026, 11, 29, 9, 0, tzinfo=UTC)


@pytest.fixture
def catalogue() -> None:
    call_command("load_catalogue", verbosity=0)


@pytest.fixture
def demo(catalogue: None) -> None:
    load_demo(NOW, Random(60))


def test_everything_that_is_filed_keeps_the_rules_of_the_form(catalogue: None) -> None:
    build, tester = make.build(), make.user()
    for entry in yaml.safe_load(ENTRIES.read_text(encoding="utf-8")):
        filing = filing_of(Entry(**entry), Call(tester, NOW, uuid.uuid4()), [build])
        assert rules.faults_of(filing, NOW) == [], entry["comment"]


def test_it_is_spread_over_scripts_builds_and_weeks(demo: None) -> None:
    results = Result.objects.all()
    assert results.count() == 60
    assert set(results.values_list("script", flat=True)) == set(Script.objects.values_list("slug", flat=True))
    assert results.values("build").distinct().count() == 3
    days = sorted(results.values_list("called_at", flat=True))
    assert NOW - timedelta(days=70) < days[0] < NOW - timedelta(days=60)
    assert NOW - timedelta(days=3) < days[-1] < NOW
    assert sum(count.runs for count in RunCount.objects.all()) == results.filter(never_started=False).count()


def test_it_says_of_itself_that_it_is_a_demo(demo: None) -> None:
    assert User.objects.filter(is_demo=True).count() == len(PEOPLE)
    assert all(name.endswith("(demo)") for name in User.objects.values_list("name", flat=True))
    assert all(name.endswith("(demo)") for name in Build.objects.values_list("name", flat=True))


def test_safety_scripts_are_run_by_the_trained_alone(demo: None) -> None:
    safety = Result.objects.filter(filed_as_safety=True)
    assert safety.exists()
    assert {result.tester.is_trained for result in safety} == {True}


def test_one_build_is_current_unless_the_team_has_its_own(catalogue: None) -> None:
    ours = make.build("ours", is_current=True)
    load_demo(NOW, Random(60))
    assert Build.objects.get(is_current=True) == ours


def test_loading_it_again_changes_nothing(demo: None) -> None:
    before = list(Result.objects.order_by("pk").values())
    assert load_demo(NOW + timedelta(days=9), Random(1)) == 0
    assert list(Result.objects.order_by("pk").values()) == before
    assert Build.objects.count() == 3


def test_their_passwords_are_made_once_and_kept_from_others(demo: None, tmp_path: Path) -> None:
    file = tmp_path / "sign_ins.json"
    sign_ins = keep_sign_ins(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [sign_in.email for sign_in in sign_ins] == [person.email for person in PEOPLE]
    assert keep_sign_ins(file) == sign_ins
    assert len({sign_in.password for sign_in in sign_ins}) == len(PEOPLE)
    for sign_in in sign_ins:
        assert User.objects.get(email=sign_in.email).check_password(sign_in.password)


def test_one_who_is_not_of_the_demo_never_gets_a_password(catalogue: None, tmp_path: Path) -> None:
    make.user(PEOPLE[0].email, name="A real Tess")
    assert keep_sign_ins(tmp_path / "sign_ins.json") == []
    assert User.objects.get(email=PEOPLE[0].email).check_password(make.PASSWORD)


def test_some_of_its_calls_were_held_beside_the_page(demo: None) -> None:
    held = Held.objects.exclude(ended_at_ms=None)
    assert held.count() == 9
    assert {call.device for call in held} == {"phone", "tablet", "computer"}
    assert all(call.moments.exists() and call.started_at and call.started_at < NOW for call in held)
    filed = Result.objects.filter(call_uuid__in=held.values("uuid"))
    assert filed.count() == 9, "eight calls, one of them with two scripts"
    assert all(result.browser and result.device for result in filed)
    assert all(result.build_id == held.get(uuid=result.call_uuid).build_id for result in filed)


def test_the_steps_of_its_calls_take_their_time_as_people_do(demo: None) -> None:
    for run in Run.objects.exclude(ticks={}):
        times = [0, *sorted(run.ticks.values())]
        lengths = {after - before for before, after in pairwise(times)}
        assert min(lengths) > 0
        assert len(lengths) > 1, "no two people are done with every step after exactly as long"
        assert times[-1] == run.off_script_from_ms


def test_one_call_waits_for_its_result(demo: None) -> None:
    tess = User.objects.get(email=PEOPLE[0].email)
    (waiting,) = calls_that_wait(tess, 10)
    assert [each.title for each in waiting.runs] == ["Names and numbers"]


def test_a_round_is_open_and_another_is_closed(demo: None) -> None:
    (last, now) = Round.objects.order_by("due_on")
    assert (last.closed_at is None, now.closed_at is None) == (False, True)
    (progress,) = progress_of(User.objects.get(email="max@demo.example"), [now])
    assert 0 < progress.counted < progress.wanted
    assert to_run(User.objects.get(email=PEOPLE[0].email))
