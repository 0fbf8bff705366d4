"""What rounds and coverage count, held against a count by hand, and against the rows that each figure opens."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from random import Random

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import Result, Round, Wanted
from results.rounds.coverage import Coverage, read_coverage
from results.rounds.progress import progress_of
from scripts_catalog.models import Build, Script
from tests import make

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]


@pytest.fixture
def builds(db: None) -> list[Build]:
    return [make.build("2026.43", is_current=True), make.build("2026.42")]


@pytest.fixture
def filed(builds: list[Build]) -> list[Result]:
    """A lot of results, drawn at random: two builds, some Safety now, some filed as Safety, some never started."""
    rng = Random(7)
    testers = [make.user(f"tester-{number}@example.test", name=f"Tester {number}") for number in range(5)]
    areas = ("everyday", "everyday", "memory", "memory", "safety", "safety")
    scripts = [make.script(f"script-{place}", area=area) for place, area in enumerate(areas)]
    make.script("never-run")
    make.script("never-run-memory", area="memory")
    made = []
    for number in range(150):
        made.append(
            make.result(
                rng.choice(testers),
                rng.choice(scripts),
                rng.choice(builds),
                called_at=timezone.now() - timedelta(hours=number),
                never_started=rng.random() < 0.1,
                **({"filed_as_safety": True} if rng.random() < 0.1 else {}),
            )
        )
    Script.objects.filter(slug="script-3").update(retired_at=timezone.now())
    return made


@pytest.fixture
def round_(filed: list[Result], builds: list[Build], manager: User) -> Round:
    made = Round.objects.create(name="Before the release", build=builds[0], begun_by=manager)
    wanted = {"script-0": 3, "script-1": 40, "script-4": 50, "never-run": 2, "script-3": 1}
    Wanted.objects.bulk_create(Wanted(round=made, script_id=slug, runs=runs) for slug, runs in wanted.items())
    return made


def by_hand(filed: list[Result], build: Build, *, is_trained: bool) -> list[Result]:
    """The runs that a person may know of."""
    return [
        result
        for result in filed
        if result.build_id == build.sort_key
        and not result.never_started
        and (is_trained or not (result.filed_as_safety or result.script.area == "safety"))
    ]


@pytest.mark.parametrize("is_trained", [False, True], ids=["untrained", "trained"])
def test_every_count_is_that_of_the_rows(
    filed: list[Result], builds: list[Build], round_: Round, is_trained: bool
) -> None:
    user = make.user(is_trained=is_trained)
    runs = by_hand(filed, builds[0], is_trained=is_trained)
    coverage = read_coverage(user, builds[0], "", round_)
    assert coverage.total.count == len(runs)
    assert {line.slug: line.runs.count for line in coverage.run} == Counter(run.script_id for run in runs)
    assert {line.slug: line.people for line in coverage.run} == {
        slug: len({run.tester_id for run in runs if run.script_id == slug}) for slug in {run.script_id for run in runs}
    }
    assert {line.slug: line.runs.last for line in coverage.run} == {
        slug: max(run.called_at for run in runs if run.script_id == slug) for slug in {run.script_id for run in runs}
    }
    assert {line.name: line.runs.count for line in coverage.testers} == Counter(str(run.tester) for run in runs)
    said = {(line.name, each.title): each.runs.count for line in coverage.testers for each in line.ran}
    assert said == Counter((str(run.tester), run.script_version.title) for run in runs)
    assert [line.slug for line in coverage.not_run] == ["never-run", "never-run-memory"]


@pytest.mark.parametrize("is_trained", [False, True], ids=["untrained", "trained"])
def test_a_round_is_held_against_the_runs_on_its_build(
    filed: list[Result], builds: list[Build], round_: Round, is_trained: bool
) -> None:
    user = make.user(is_trained=is_trained)
    runs = Counter(run.script_id for run in by_hand(filed, builds[0], is_trained=is_trained))
    (progress,) = progress_of(user, [round_])
    known = {"script-0": 3, "script-1": 40, "never-run": 2, "script-3": 1} | ({"script-4": 50} if is_trained else {})
    assert {line.slug: (line.wanted, line.done.runs) for line in progress.lines} == {
        slug: (wanted, runs[slug]) for slug, wanted in known.items()
    }
    assert progress.wanted == sum(known.values())
    assert progress.missing == sum(max(0, wanted - runs[slug]) for slug, wanted in known.items())
    assert runs["script-0"] > 3, "so that more of one could have made up for none of another"
    coverage = read_coverage(user, builds[0], "", round_)
    assert (coverage.wanted, coverage.missing) == (progress.wanted, progress.missing)


def test_an_area_narrows_everything(filed: list[Result], builds: list[Build]) -> None:
    coverage = read_coverage(make.user(is_trained=True), builds[0], "memory", None)
    assert {line.slug for line in coverage.run} == {"script-2", "script-3"}
    assert [line.slug for line in coverage.not_run] == ["never-run-memory"]
    assert (coverage.in_use, coverage.run_in_use) == (2, 1)
    assert coverage.total.count == sum(line.runs.count for line in coverage.run)


def figures_of(page: str) -> Iterator[tuple[str, int]]:
    for path, count in re.findall(r'<a href="(/results/\?[^"]+)" data-count="(\d+)"', page):
        yield unescape(path), int(count)


@pytest.mark.parametrize("is_trained", [False, True], ids=["untrained", "trained"])
def test_every_number_opens_the_rows_that_it_counts(
    filed: list[Result], builds: list[Build], round_: Round, is_trained: bool
) -> None:
    client = make.client_of(make.user("boss@example.test", Role.MANAGER, is_trained=is_trained))
    pages = [client.get("/dashboard/coverage/").text, client.get(f"/rounds/{round_.pk}/").text]
    figures = [figure for page in pages for figure in figures_of(page)]
    assert len(figures) > 20
    for path, count in figures:
        found = client.get(path).text
        words = re.search(r'id="found" role="status"><b class="figures">(\d+) results?<', found)
        assert words, path
        assert int(words[1]) == count, path


def test_no_link_to_rows_says_another_number_than_theirs(filed: list[Result], manager_client: Client) -> None:
    page = manager_client.get("/dashboard/coverage/").text
    figures = page[page.index('id="figures"') :]
    linked = re.findall(r'<a href="(/results/\?[^"]+)"[^>]*>(\d+)</a>', figures)
    assert [(unescape(path), int(shown)) for path, shown in linked] == list(figures_of(figures))
    assert len(linked) > 20
    assert re.search(r'data-label="People">\d', figures)
    assert re.search(r'data-label="Scripts">\d', figures)


def test_it_asks_the_same_few_questions_however_much_there_is(
    filed: list[Result], builds: list[Build], round_: Round, manager: User
) -> None:
    with CaptureQueriesContext(connection) as asked:
        coverage: Coverage = read_coverage(manager, builds[0], "", round_)
    assert coverage.run
    assert len(asked) <= 7
    rounds = [round_, *(Round.objects.create(name=f"{n}", build=builds[0], begun_by=manager) for n in range(9))]
    with CaptureQueriesContext(connection) as asked:
        progress_of(manager, rounds)
    assert len(asked) <= 3


def test_the_page_answers_who_ran_what_and_what_is_not_covered(
    filed: list[Result], round_: Round, manager_client: Client
) -> None:
    page = manager_client.get("/dashboard/coverage/").text
    assert "Build <bdi>2026.43</bdi>, the current build" in page
    assert "Before the release" in page, "an open round of the build is taken without being asked for"
    assert "Against the round" in page
    assert "Before the release</bdi></a> wants" not in manager_client.get("/dashboard/coverage/?round=none").text
    assert "2026.42" in manager_client.get("/dashboard/coverage/?build=2026.42").text
    assert "Script 4" not in page


def test_without_a_build_the_page_says_so(manager_client: Client, db: None) -> None:
    assert "No build of Emma is registered yet." in manager_client.get("/dashboard/coverage/").text


def test_a_part_is_asked_for_by_htmx(filed: list[Result], manager_client: Client) -> None:
    answer = manager_client.get("/dashboard/coverage/?build=2026.42&area=", headers={"HX-Request": "true"})
    assert answer.headers["HX-Push-Url"] == "/dashboard/coverage/?build=2026.42"
    assert "<html" not in answer.text
    assert manager_client.get("/dashboard/coverage/?build=2026.42&area=").status_code == 302


def test_it_is_of_one_build_and_says_which(filed: list[Result], manager_client: Client) -> None:
    page = manager_client.get("/dashboard/coverage/").content.decode()
    assert '<option value="" selected>The current build</option>' in page
    assert ">Any</option>" not in page[: page.index('id="filter-area"')]


@pytest.mark.parametrize(
    ("asked", "said"), [("any", "Coverage is of one build at a time"), ("no-such", "There is no build of that name")]
)
def test_a_build_that_cannot_be_shown_is_not_swallowed(
    filed: list[Result], manager_client: Client, asked: str, said: str
) -> None:
    page = manager_client.get(f"/dashboard/coverage/?build={asked}").content.decode()
    assert page.count(f"{said}, so here is the current build.") == 2, "in the summary and beside the field"


def test_of_two_open_rounds_it_names_the_one_it_takes_and_offers_the_other(
    round_: Round, manager: User, manager_client: Client
) -> None:
    overdue = Round.objects.create(name="Long due", build=round_.build, begun_by=manager, due_on="2020-01-01")
    Wanted.objects.create(round=overdue, script_id="script-0", runs=1)
    page = manager_client.get("/dashboard/coverage/").content.decode()
    assert "The round <a" in page
    assert "<bdi>Long due</bdi></a> (was due 1 Jan 2020)" in page
    also = page[page.index("Also open on this build") :]
    assert f"round={round_.pk}" in also[:200]
    assert "Before the release" in also[:300]
