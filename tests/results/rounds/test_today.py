"""What a tester should run today: of open rounds what is missing, spread among people."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import Call, Round, Wanted
from results.rounds.plan_round import close_round
from results.rounds.today import to_run
from scripts_catalog.models import Build, Script
from tests import make

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]


@pytest.fixture
def build(db: None) -> Build:
    make.build("2026.44", is_current=True)
    return make.build("2026.43")


def round_of(build: Build, name: str = "Before the release", due_on: date | None = None, **wanted: int) -> Round:
    made = Round.objects.create(name=name, build=build, due_on=due_on, begun_by=make.user(None, Role.MANAGER))
    for name_of_script, runs in wanted.items():
        slug = name_of_script.replace("_", "-")
        script = Script.objects.filter(slug=slug).first() or make.script(slug)
        Wanted.objects.create(round=made, script=script, runs=runs)
    return made


def slugs(user: User) -> list[list[str]]:
    return [[each.line.slug for each in today.suggestions] for today in to_run(user)]


def line(client: Client) -> str:
    """What the Scripts tab fetches."""
    return str(client.get("/todo/today/", headers={"HX-Request": "true"}).text)


def test_open_rounds_come_by_due_date_and_those_without_one_last(tester: User, build: Build) -> None:
    today = timezone.localdate()
    round_of(build, "whenever", None, a=1)
    round_of(build, "late", today + timedelta(days=9), a=1)
    round_of(build, "soon", today + timedelta(days=1), a=1)
    closed = round_of(build, "closed", today, a=1)
    close_round(closed.begun_by, closed)
    found = to_run(tester)
    assert [each.round.name for each in found] == ["soon", "late", "whenever"]


def test_what_few_have_run_and_i_have_not_comes_first(tester: User, build: Build) -> None:
    round_of(build, fresh=5, by_one=5, by_two=5, mine=5, done=1)
    others = [make.user() for _ in range(2)]
    scripts = {script.slug: script for script in Script.objects.all()}
    for slug, people in {"by-one": others[:1], "by-two": others, "mine": [tester], "done": others[:1]}.items():
        for person in people:
            make.result(person, scripts[slug], build)
    assert slugs(tester) == [["fresh", "by-one", "by-two", "mine"]]
    (today,) = to_run(tester)
    assert [each.mine for each in today.suggestions] == [0, 0, 0, 1]
    assert [each.line.missing for each in today.suggestions] == [5, 4, 3, 4]


def test_of_as_many_people_what_lacks_most_comes_first(tester: User, build: Build) -> None:
    round_of(build, a=1, b=3, c=2)
    assert slugs(tester) == [["b", "c", "a"]]


def test_a_call_that_waits_for_its_result_is_mine_as_well(tester: User, build: Build) -> None:
    round_of(build, a=3, b=1)
    script = Script.objects.get(slug="a")
    make.call(tester, script, build=build)
    make.call(tester, script, build=build, started_at=None)
    assert slugs(tester) == [["b", "a"]]
    (today,) = to_run(tester)
    assert [each.waiting for each in today.suggestions] == [0, 1]


def test_other_builds_and_calls_that_never_started_are_no_runs(tester: User, build: Build) -> None:
    round_of(build, a=1)
    script = Script.objects.get(slug="a")
    make.result(tester, script, Build.objects.get(name="2026.44"))
    make.result(tester, script, build, never_started=True, camera_used=False)
    assert slugs(tester) == [["a"]]
    make.result(tester, script, build)
    assert slugs(tester) == []


def test_retired_scripts_are_not_asked_for(tester: User, build: Build) -> None:
    round_of(build, a=1)
    Script.objects.update(retired_at=timezone.now())
    assert slugs(tester) == []


def test_safety_is_asked_of_the_trained_alone(tester: User, trained_tester: User, build: Build) -> None:
    make.script("quiet", area="safety")
    round_of(build, a=1, quiet=2)
    round_of(build, "only quiet", quiet=2)
    assert slugs(tester) == [["a"]]
    assert to_run(tester)[0].progress.wanted == 1
    assert slugs(trained_tester) == [["quiet", "a"], ["quiet"]]


def test_the_page_says_what_to_run_and_starts_the_call_on_that_build(
    tester: User, tester_client: Client, build: Build
) -> None:
    round_of(build, due_on=timezone.localdate() - timedelta(days=1), bad_news=2)
    page = tester_client.get("/todo/").text
    assert "Before the release" in page
    assert "2 of 2 runs missing" in page
    assert "was due" in page
    answer = tester_client.post("/calls/new/", {"script": "bad-news", "build": build.pk})
    call = Call.objects.get()
    assert (answer.status_code, answer.url) == (303, call.get_absolute_url())
    assert call.build == build, "though another build is current"


@pytest.mark.parametrize("named", ["", "99999", "x"])
def test_a_build_that_is_not_there_is_the_current_one(tester_client: Client, build: Build, named: str) -> None:
    make.script("bad-news")
    tester_client.post("/calls/new/", {"script": "bad-news", "build": named})
    assert Call.objects.get().build == Build.objects.get(name="2026.44")


def test_with_nothing_open_the_page_says_so(tester_client: Client, build: Build) -> None:
    assert "No round asks for a run just now." in tester_client.get("/todo/").text
    assert "No round asks for a run just now." in line(tester_client)


def test_the_scripts_tab_fetches_a_line_and_leads_there_without_scripts(
    tester_client: Client, manager_client: Client, build: Build
) -> None:
    round_of(build, bad_news=2)
    tab = tester_client.get("/scripts/").text
    assert 'hx-get="/todo/today/"' in tab
    assert '<a href="/todo/#to-run">What should I run today?</a>' in tab
    assert "Bad news" in line(tester_client)
    assert "<html" not in line(tester_client)
    assert tester_client.get("/todo/today/").url == "/todo/", "for somebody who opens it as a page"
    assert "/todo/today/" not in manager_client.get("/scripts/").text
