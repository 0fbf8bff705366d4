"""Three example calls of a problem: recording first, then other testers and scripts, then the latest; stable."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from emma_eval.accounts.models import User
from results.dashboards import examples
from results.dashboards.counting import Counting
from results.dashboards.examples import Candidate, choose, find_examples
from results.listing.filters import Filters
from results.models import Result, Source
from scripts_catalog.models import Build, Script
from tests import make
from tests.results.dashboards.conftest import CountedClient
from tests.results.dashboards.rows import review

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
ANYWHERE = ("too_long", False)
BIGGEST = ("too_long", True)


def example(number: int, *, tester: int = 1, script: str = "a", recording: bool = True) -> Candidate:
    """The higher its number, the later it was called."""
    return Candidate(number, 100 - number, tester, script, recording)


@pytest.mark.parametrize(
    ("there", "chosen"),
    [
        ([], []),
        ([example(1), example(2)], [2, 1]),
        ([example(1), example(2), example(3), example(4)], [4, 3, 2]),
        ([example(1), example(2), example(3, recording=False), example(4, recording=False)], [2, 1, 4]),
        ([example(1, tester=2), example(2), example(3), example(4)], [4, 1, 3]),
        ([example(1, script="b"), example(2), example(3), example(4)], [4, 1, 3]),
        ([example(1, tester=2), example(2, script="b"), example(3), example(4)], [4, 1, 2]),
        ([example(1, tester=2, recording=False), example(2), example(3), example(4)], [4, 3, 2]),
    ],
)
def test_which_three_are_chosen(there: list[Candidate], chosen: list[int]) -> None:
    assert [each.id for each in choose(there)] == chosen
    assert [each.id for each in choose([*there, *reversed(there)])] == chosen


@pytest.fixture
def script(db: None) -> Script:
    return make.script("plain")


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.10")


def found(user: User, *wanted: tuple[str, bool], source: Source = Source.FILED, **filters: str) -> list[list[int]]:
    there = find_examples(Counting(user, Filters(**filters)), source, dict.fromkeys(wanted, 99), 99)
    return [[each.id for each in there.get(tag, [])] for tag in wanted]


def tag(script: Script, build: Build, hours: int, *tags: str, **fields: object) -> Result:
    return make.result(make.user(), script, build, problems=tags, called_at=NOON + timedelta(hours=hours), **fields)


def test_the_biggest_has_calls_where_it_was_the_biggest(manager: User, script: Script, build: Build) -> None:
    first = tag(script, build, 1, "too_long", "cut_in")
    second = tag(script, build, 2, "cut_in", "too_long")
    unknown = tag(script, build, 3, "too_long", ranks=(None,))
    assert found(manager, ANYWHERE, BIGGEST) == [[unknown.pk, second.pk, first.pk], [first.pk]]


def test_as_reviewed_they_are_calls_of_which_the_standing_review_says_so(
    manager: User, eval_member: User, trained_eval_member: User, script: Script, build: Build
) -> None:
    agreed, denied, added, open_ = (tag(script, build, hours, "too_long") for hours in range(4))
    review(agreed, eval_member, ["too_long"])
    review(denied, eval_member, ["cut_in"])
    review(open_, eval_member, ["too_long"], stands=False)
    assert found(manager, ANYWHERE, source=Source.REVIEWED) == [[agreed.pk]]
    assert found(manager, ANYWHERE) == [[open_.pk, added.pk, denied.pk]]


def test_they_are_of_what_the_page_counts(manager: User, script: Script, build: Build) -> None:
    here = tag(script, build, 1, "too_long")
    tag(script, make.build("2026.9"), 2, "too_long")
    assert found(manager, ANYWHERE, build="2026.10") == [[here.pk]]


@pytest.fixture(
    params=[(examples.MANY, examples.NEAR), (0, examples.NEAR), (examples.MANY, 0), (0, 0)],
    ids=["few of few", "many of few", "few of many", "many of many"],
)
def however_many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way of looking beyond the latest, which are ten here."""
    many, near = request.param
    for name, value in {"LATEST": 10, "FEW": 12, "MANY": many, "NEAR": near}.items():
        monkeypatch.setattr(examples, name, value)


@pytest.mark.usefixtures("however_many")
def test_a_rare_problem_is_looked_for_among_all_results(manager: User, script: Script, build: Build) -> None:
    rare = [tag(script, build, hours, "cut_in", "too_long") for hours in range(4)]
    early = tag(script, build, -5, "too_long", recording_link="https://recordings.example.test/1")
    for hours in range(10, 20):
        tag(script, build, hours, "weird_gaze")
    with CaptureQueriesContext(connection) as seen:
        assert found(manager, ANYWHERE, ("weird_gaze", False))[0] == [early.pk, rare[3].pk, rare[2].pk]
    assert sum("results_" in query["sql"] for query in seen) == 5
    assert found(manager, BIGGEST) == [[early.pk]]


@pytest.mark.usefixtures("however_many")
def test_a_problem_that_is_rare_as_the_biggest_is_looked_for_where_it_is(
    manager: User, script: Script, build: Build
) -> None:
    early = [tag(script, build, hours, "too_long") for hours in (-9, -3, -7, -5)]
    tag(script, build, -1, "cut_in", "too_long")
    later = [tag(script, build, hours, "cut_in", "too_long") for hours in range(1, 11)]
    assert found(manager, ANYWHERE, BIGGEST) == [
        [later[9].pk, later[8].pk, later[7].pk],
        [early[1].pk, early[3].pk, early[2].pk],
    ]
    elsewhere = tag(make.script("elsewhere"), build, -2, "too_long")
    assert elsewhere.pk not in found(manager, BIGGEST, script=script.slug)[0]


def test_of_safety_the_untrained_see_no_call(manager: User, trained_eval_member: User, build: Build) -> None:
    safety = make.script("canary", area="safety")
    moved = make.script("moved")
    hidden = [tag(safety, build, 1, "too_long"), tag(moved, build, 2, "too_long", filed_as_safety=True)]
    assert found(manager, ANYWHERE, BIGGEST) == [[], []]
    assert found(trained_eval_member, ANYWHERE) == [[hidden[1].pk, hidden[0].pk]]


def test_the_page_links_to_them(manager_client: CountedClient, script: Script, build: Build) -> None:
    there = [tag(script, build, hours, "too_long") for hours in range(4)]
    page = manager_client.get("/dashboard/").text
    assert all(page.count(f'href="/results/{each.pk}/"') == 2 for each in there[1:])
    assert f'href="/results/{there[0].pk}/"' not in page
