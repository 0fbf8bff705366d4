"""The figures of both dashboards against the plainest recount of random rows, whichever way they are counted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.conf import LazySettings
from django.utils import timezone
from scipy import stats

from emma_eval.accounts.models import User
from results.charts.svg import Reading
from results.counts.read_counts import RatingCounts
from results.dashboards.asked import Over
from results.dashboards.problems import Problems
from results.models import DIMENSION_KEYS, Result
from tests import make
from tests.results.dashboards.conftest import counted_client_of
from tests.results.dashboards.rows import as_filed, as_reviewed, mean_by_hand, random_results, tags_by_hand

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

BERLIN = ZoneInfo("Europe/Berlin")
# Around the night in which Berlin's clocks go forward, and the end of a month.
FIRST = datetime(2026, 3, 20, 20, tzinfo=UTC)
DAYS = 20

Fits = Callable[[Result], bool]


def local_day(result: Result) -> Any:
    return result.called_at.astimezone(BERLIN).date()


CASES: list[Any] = [
    pytest.param("build=any", lambda result: True, id="everything, by months"),
    pytest.param("", lambda result: result.build.name == "2026.10", id="the current build"),
    pytest.param("build=2026.9", lambda result: result.build.name == "2026.9", id="a build"),
    pytest.param("build=any&from=2026-03-01&to=2026-03-31", lambda result: local_day(result).month == 3, id="a month"),
    pytest.param("build=any&from=2026-04-01", lambda result: local_day(result).month == 4, id="from a month on"),
    pytest.param(
        "build=any&from=2026-03-28&to=2026-03-29",
        lambda result: (local_day(result).month, local_day(result).day) in {(3, 28), (3, 29)},
        id="the days around the change of clocks",
    ),
    pytest.param("build=any&returning=yes", lambda result: result.met_emma_before, id="returning users"),
    pytest.param(
        "build=2026.11&returning=no&from=2026-03-22",
        lambda result: (
            result.build.name == "2026.11"
            and not result.met_emma_before
            and local_day(result).isoformat() >= "2026-03-22"
        ),
        id="several at once, by rows",
    ),
]


@pytest.fixture(autouse=True)
def _in_berlin(settings: LazySettings) -> None:
    settings.TIME_ZONE = "Europe/Berlin"


@pytest.fixture
def results(tester: User, trained_tester: User) -> list[Result]:
    return random_results(Random(11), 100, [tester, trained_tester], FIRST, DAYS)


def pages(user: User, query: str, results: list[Result]) -> list[tuple[Any, list[Result]]]:
    """Both dashboards' figures, each with the results that it is of."""
    client = counted_client_of(user)
    visible = [result for result in results if user.is_trained or not result.script.is_safety]
    overview = client.get(f"/dashboard/?{query}").context
    script = client.get(f"/dashboard/scripts/show/?{query}").context
    return [(overview, visible), (script, [result for result in visible if result.script_id == "show"])]


@pytest.mark.parametrize(("query", "fits"), CASES)
def test_means_intervals_and_counts_are_those_counted_by_hand(
    results: list[Result], manager: User, trained_eval_member: User, query: str, fits: Fits
) -> None:
    for user in (manager, trained_eval_member):
        for page, rows in pages(user, query, results):
            of = [result for result in rows if fits(result)]
            check_line(page["figures"].total, of)


def check_line(line: Any, of: list[Result]) -> None:
    runs = [result for result in of if not result.never_started]
    assert line.took_place.count == len(runs)
    assert line.never_started.count == len(of) - len(runs)
    for cell in line.cells:
        key = cell.dimension.key
        ratings = [rating for result in runs if (rating := getattr(result, key)) is not None]
        assert [figure.count for figure in cell.values] == [ratings.count(value) for value in range(1, 6)]
        assert cell.not_applicable.count == (len(runs) - len(ratings) if key == "vision" else 0)
        check_mean(cell.reading, ratings)


def check_mean(reading: Reading, ratings: list[int]) -> None:
    assert reading.n == len(ratings)
    if len(ratings) < 5:
        assert reading.value is None
        return
    assert (reading.value, reading.low, reading.high) == pytest.approx(mean_by_hand(ratings))


@pytest.mark.parametrize("whose", ["", "&tags=reviewed"])
@pytest.mark.parametrize(("query", "fits"), CASES)
def test_problems_are_those_counted_by_hand(
    results: list[Result], manager: User, query: str, fits: Fits, whose: str
) -> None:
    for page, rows in pages(manager, query + whose, results):
        of = [result for result in rows if fits(result)]
        if whose:
            of = [result for result in of if result.reviews.filter(stands=True).exists()]
        tagged, biggest = tags_by_hand(of, as_reviewed if whose else as_filed)
        problems: Problems = page["figures"].problems
        assert problems.n.count == len(of)
        assert {shown.ranked.tag: shown.figure.count for shown in problems.by_count} == dict(tagged)
        assert {shown.ranked.tag: shown.figure.count for shown in problems.by_biggest} == dict(biggest)
        for shown in (*problems.by_count, *problems.by_biggest):
            if len(of) >= 5:
                interval = stats.binomtest(shown.figure.count, len(of)).proportion_ci(method="wilson")
                assert shown.share.value == pytest.approx(shown.figure.count / len(of))
                assert (shown.share.low, shown.share.high) == pytest.approx((interval.low, interval.high))
            else:
                assert shown.share.value is None


def test_ratings_are_the_same_whosever_tags_are_counted(results: list[Result], manager: User) -> None:
    """Reviewers judge tags and no ratings."""
    client = counted_client_of(manager)
    filed, reviewed = (client.get(f"/dashboard/?build=any{tags}").context["figures"] for tags in ("", "&tags=reviewed"))
    assert filed.total.counts == reviewed.total.counts
    assert filed.problems.n != reviewed.problems.n


def test_lines_are_those_counted_by_hand(results: list[Result], manager: User) -> None:
    figures = counted_client_of(manager).get("/dashboard/?build=any").context["figures"]
    assert [line.slug for line in figures.lines] == ["edited", "other", "plain", "show"]
    for line in figures.lines:
        check_line(line, [result for result in results if result.script_id == line.slug])


@pytest.mark.parametrize("script", ["", "edited"])
def test_builds_are_those_counted_by_hand(results: list[Result], manager: User, script: str) -> None:
    path = f"/dashboard/scripts/{script}/" if script else "/dashboard/"
    stops = counted_client_of(manager).get(f"{path}?build=2026.9").context["figures"].trends.stops
    assert [stop.label for stop in stops] == ["2026.9", "2026.10", "2026.11"]
    for stop in stops:
        check_stop(stop.counts, [result for result in visible(results, script) if result.build.name == stop.label])


@pytest.mark.parametrize("script", ["", "edited"])
def test_weeks_are_those_counted_by_hand_from_monday_to_sunday_of_the_site(
    results: list[Result], manager: User, script: str
) -> None:
    path = f"/dashboard/scripts/{script}/" if script else "/dashboard/"
    figures = counted_client_of(manager).get(f"{path}?build=any&over={Over.WEEK}").context["figures"]
    by_week: dict[str, list[Result]] = {}
    for result in visible(results, script):
        monday = local_day(result) - timedelta(days=local_day(result).weekday())
        by_week.setdefault(f"{monday.day} {monday:%b %Y}", []).append(result)
    assert [stop.label for stop in figures.trends.stops] == [
        label for label in ("16 Mar 2026", "23 Mar 2026", "30 Mar 2026", "6 Apr 2026") if label in by_week
    ]
    for stop in figures.trends.stops:
        check_stop(stop.counts, by_week[stop.label])


def visible(results: list[Result], script: str) -> list[Result]:
    return [result for result in results if not result.script.is_safety and script in ("", result.script_id)]


def check_stop(counts: RatingCounts, of: list[Result]) -> None:
    runs = [result for result in of if not result.never_started]
    assert counts.runs == len(runs)
    for key in DIMENSION_KEYS:
        ratings = [getattr(result, key) for result in runs]
        assert counts.counts[key] == tuple(ratings.count(value) for value in range(1, 6))


def test_a_call_in_the_hour_before_a_local_midnight_is_of_that_day_week_and_month(tester: User, manager: User) -> None:
    """23:30 in Berlin on Sunday, the day the clocks went forward, and on the last of March: before it in UTC."""
    script, build = make.script(), make.build()
    for moment in ("2026-03-29T21:30", "2026-03-29T22:30", "2026-03-31T21:30", "2026-03-31T22:30"):
        make.result(tester, script, build, called_at=datetime.fromisoformat(f"{moment}:00+00:00"))
    client = counted_client_of(manager)

    def runs(query: str) -> int:
        return client.get(f"/dashboard/?{query}").context["figures"].total.took_place.count

    assert runs("from=2026-03-29&to=2026-03-29") == 1
    assert runs("from=2026-03-01&to=2026-03-31") == 3
    stops = client.get("/dashboard/?over=week").context["figures"].trends.stops
    assert [(stop.label, stop.counts.runs) for stop in stops] == [("23 Mar 2026", 1), ("30 Mar 2026", 3)]
    assert timezone.get_default_timezone_name() == "Europe/Berlin"
