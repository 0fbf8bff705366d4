"""Figures for programs are those of the pages: both are asked for the same, of results drawn at random."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from numpy.random import default_rng

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.charts.svg import Reading
from results.counts.read_counts import RatingCounts
from results.counts.work_out_agreement import work_out_agreement
from results.dashboards.asked import Rows
from results.dashboards.dimensions import Cell, Line, cells_of
from results.dashboards.grouped import By
from results.dashboards.overview import Dashboard
from results.dashboards.problems import Problems
from results.models import DIMENSION_KEYS, Agreement, Result, Review, ReviewedProblem, Round, Wanted
from scripts_catalog.models import Build, Script
from tests import make
from tests.programs import Program

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
PATH = "/api/v1/figures/"
TAGS = ("too_long", "cut_in", "too_fast", "stuck_start")
BEGIN = datetime(2026, 3, 20, 9, tzinfo=UTC)


@pytest.fixture
def filed(db: None) -> list[Result]:
    """Three builds, four scripts of which one is Safety, three months; some reviewed, some never started."""
    rng = Random(20_260_302)
    builds = [make.build(name, is_current=name == "2026.43") for name in ("2026.9", "2026.42", "2026.43")]
    scripts = [make.script(f"script-{number}", area="memory" if number else "everyday") for number in range(3)]
    scripts.append(make.script("quiet-talk", area="safety"))
    testers = [make.user(f"t{number}@example.test", name=f"Tester {number}") for number in range(3)]
    made = [_draw(rng, testers, scripts, builds) for _ in range(100)]
    for result in made[::3]:
        review = Review.objects.create(
            result=result, reviewer=testers[0], filed_at=BEGIN, stands=True, reason="I heard it."
        )
        for place, tag in enumerate(rng.sample(TAGS, rng.randint(0, 3)), 1):
            ReviewedProblem.objects.create(review=review, tag=tag, position=place, rank=place)
        Result.objects.filter(pk=result.pk).update(reviewed_at=BEGIN)
    make.counts()
    return made


def _draw(rng: Random, testers: list[User], scripts: list[Script], builds: list[Build]) -> Result:
    is_none = rng.random() < 0.1
    rated = {} if is_none else {key: rng.randint(1, 5) for key in DIMENSION_KEYS[:-1]}
    with_camera = not is_none and rng.random() < 0.4
    if with_camera:
        rated["vision"] = rng.randint(1, 5)
    return make.result(
        *(rng.choice(testers), rng.choice(scripts), rng.choice(builds)),
        problems=tuple(rng.sample(TAGS, rng.randint(0, 3))),
        never_started=is_none,
        camera_used=with_camera,
        met_emma_before=rng.random() < 0.5,
        called_at=BEGIN + timedelta(hours=rng.randint(0, 24 * 60)),
        call_uuid=uuid.UUID(int=rng.getrandbits(128)),
        **rated,
    )


@pytest.fixture
def program(manager: User) -> Program:
    return Program(manager)


def read(program: Client, path: str) -> Any:
    answer = program.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def reading(found: Reading) -> dict[str, float | None]:
    return {"value": found.value, "low": found.low, "high": found.high, "n": found.n}


def rated(cell: Cell) -> dict[str, Any]:
    shown = cell.reading
    return {
        "dimension": cell.dimension.key,
        "counts": [figure.count for figure in cell.values],
        "n": cell.rated.count,
        "not_applicable": cell.not_applicable.count,
        "mean": shown.value,
        "low": shown.low,
        "high": shown.high,
    }


def counted(line: Line) -> dict[str, Any]:
    return {
        "runs": line.took_place.count,
        "never_started": line.never_started.count,
        "reviewed": line.counts.reviewed,
        "dimensions": [rated(cell) for cell in line.cells],
    }


def without_problems(said: dict[str, Any]) -> dict[str, Any]:
    return {name: said[name] for name in ("runs", "never_started", "reviewed", "dimensions")}


def ranked(problems: Problems) -> list[dict[str, Any]]:
    return [
        {
            "tag": shown.ranked.tag,
            "label": shown.ranked.label,
            "tagged": shown.ranked.often.count,
            "tagged_share": reading(shown.ranked.share),
            "biggest": shown.ranked.biggest.count,
            "biggest_share": reading(shown.ranked.biggest_share),
        }
        for shown in problems.by_count
    ]


ASKED = [
    "build=any",
    "build=2026.43",
    "build=any&tags=reviewed",
    "build=2026.42&area=memory&returning=yes",
    "build=any&from=2026-04-01&to=2026-04-30",
    "build=any&from=2026-03-25&to=2026-04-11&tags=reviewed",
]


@pytest.mark.parametrize("is_trained", [False, True], ids=["not trained", "trained"])
def test_the_figures_are_those_of_the_dashboard(filed: list[Result], is_trained: bool) -> None:
    user = make.user("max@example.test", Role.MANAGER, is_trained=is_trained)
    client, program = make.client_of(user), Program(user)
    for asked in ASKED:
        shown = client.get(f"/dashboard/?{asked}").context["figures"]
        by_slug = same_as_the_page(shown, read(program, f"{PATH}?{asked}&by=script"))
        assert ("quiet-talk" in by_slug) == (is_trained and "memory" not in asked)


def same_as_the_page(shown: Dashboard, said: dict[str, Any]) -> dict[str, Any]:
    assert without_problems(said["total"]) == counted(shown.total)
    assert said["total"]["problems"] == ranked(shown.problems)
    assert said["total"]["tagged_n"] == shown.problems.n.count
    assert sum(row["runs"] for row in said["groups"]) == said["total"]["runs"]
    by_slug = {row["key"]: without_problems(row) for row in said["groups"]}
    assert by_slug == {line.slug: counted(line) for line in shown.lines}
    return by_slug


@pytest.mark.parametrize("over", ["build", "week"])
def test_the_trend_is_that_of_the_dashboard(filed: list[Result], program: Program, manager: User, over: str) -> None:
    shown = make.client_of(manager).get(f"/dashboard/?build=any&over={over}").context["figures"]
    said = read(program, f"{PATH}?by={over}")["groups"]
    stops = [counted(Line("", "", stop.counts, Rows(""))) for stop in shown.trends.stops if stop.counts.results]
    drawn = ("runs", "never_started", "dimensions")  # no trend shows how many were reviewed
    assert [[row[name] for name in drawn] for row in said] == [[stop[name] for name in drawn] for stop in stops]
    assert len(said) >= 3
    if over == "build":
        assert [row["key"] for row in said] == ["2026.9", "2026.42", "2026.43"]


@pytest.mark.parametrize("narrowed", ["tags=filed", "tags=reviewed", "tags=filed&area=memory&returning=no"])
def test_each_group_is_what_its_filter_leaves(filed: list[Result], program: Program, narrowed: str) -> None:
    """Which the tests above hold against the page."""
    for by in By:
        groups = read(program, f"{PATH}?{narrowed}&by={by}")["groups"]
        assert len(groups) > 1 or "returning" in narrowed
        for row in groups:
            asked = days(by, row["key"]) if by in {By.WEEK, By.MONTH} else f"{by}={row['key']}"
            rest = narrowed.replace("&returning=no", "") if by == By.RETURNING else narrowed
            total = read(program, f"{PATH}?{rest}&{asked}")["total"]
            assert {name: row[name] for name in total} == total, (by, row["key"])


def test_of_one_script_there_are_the_same_groups(filed: list[Result], program: Program) -> None:
    for by in By:
        of_one = read(program, f"{PATH}?script=script-1&by={by}")
        assert sum(row["runs"] for row in of_one["groups"]) == of_one["total"]["runs"] > 0


def days(by: str, first: str) -> str:
    begin = datetime.fromisoformat(first).date()
    if by == "week":
        assert begin.weekday() == 0
        return f"from={begin}&to={begin + timedelta(days=6)}"
    after = (begin + timedelta(days=32)).replace(day=1)
    return f"from={begin}&to={after - timedelta(days=1)}"


def test_what_is_too_small_is_null_with_its_n(tester: User, program: Program) -> None:
    script, build = make.script("bad-news-day"), make.build("2026.43")
    for _ in range(4):
        make.result(tester, script, build, ratings=3, problems=("cut_in",))
    make.counts()
    total = read(program, PATH)["total"]
    assert total["dimensions"][0] == {
        "dimension": "listening_timing",
        "counts": [0, 0, 4, 0, 0],
        "n": 4,
        "not_applicable": 0,
        "mean": None,
        "low": None,
        "high": None,
    }
    assert total["problems"][0]["tagged_share"] == {"value": None, "low": None, "high": None, "n": 4}
    assert total["problems"][0]["tagged"] == 4


def test_numbers_are_not_rounded(tester: User, program: Program) -> None:
    script, build = make.script("bad-news-day"), make.build("2026.43")
    for rating in (1, 2, 2, 5, 5, 5):
        make.result(tester, script, build, ratings=rating)
    make.counts()
    (content,) = (row for row in read(program, PATH)["total"]["dimensions"] if row["dimension"] == "content")
    mean = cells_of(RatingCounts(counts=dict.fromkeys(DIMENSION_KEYS, (1, 2, 0, 0, 3))), Rows(""))[1].reading
    assert (content["mean"], content["low"], content["high"]) == (20 / 6, mean.low, mean.high)


# --- two builds beside each other ----------------------------------------------------------------------


@pytest.mark.parametrize("asked", ["", "build=2026.42&with=2026.9&tags=reviewed", "area=memory&unchanged=yes"])
def test_a_comparison_is_that_of_the_page(filed: list[Result], program: Program, manager: User, asked: str) -> None:
    shown = make.client_of(manager).get(f"/dashboard/compare/?{asked}").context["compared"]
    said = read(program, f"{PATH}comparison/?{asked}")
    assert (said["build"], said["other"]) == (shown.two.build.name, shown.two.other.name)
    assert said["answer"] == shown.answer
    assert len(said["dimensions"]) == 6
    for row, each in zip(said["dimensions"], shown.dimensions, strict=True):
        assert (row["build"], row["other"]) == (reading(each.build.reading), reading(each.other.reading))
        assert row["words"] == each.words
        if each.is_compared:
            found = (each.difference.difference, each.difference.low, each.difference.high, each.is_shown, each.is_sure)
            assert tuple(row["difference"][name] for name in ("value", "low", "high", "is_shown", "is_sure")) == found
    for row, each in zip(said["scripts"], shown.lines, strict=True):
        assert (row["script"], row["runs_build"], row["runs_other"]) == (each.slug, each.runs.n, each.other_runs.n)
        assert [cell["words"] for cell in row["dimensions"]] == [cell.words for cell in each.cells]
    for row, each in zip(said["problems"], shown.problems, strict=True):
        assert (row["tag"], row["build"]["tagged"], row["build"]["n"]) == (each.tag, each.build.part, each.build.n)
        assert row["words"] == each.words
    assert "quiet-talk" not in str(said)


def test_builds_that_are_not_there_or_the_same_are_told(filed: list[Result], program: Program) -> None:
    for asked, place in (
        ("build=1999.1", "build"),
        ("build=2026.42&with=2026.42", "with"),
        ("unchanged=no", "unchanged"),
    ):
        answer = program.get(f"{PATH}comparison/?{asked}")
        assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, place)


# --- agreement, coverage -------------------------------------------------------------------------------


def test_agreement_is_that_of_the_page(filed: list[Result], program: Program, manager: User) -> None:
    later = timezone.now() + timedelta(hours=1)  # a script that just became Safety keeps figures from the untrained
    work_out_agreement(later, default_rng(7))
    shown = make.client_of(manager).get("/dashboard/agreement/").context["agreed"]
    said = read(program, f"{PATH}agreement/")
    assert (said["answer"], said["build"]) == (shown.answer, "2026.43")
    overall = {row["dimension"]: row for row in said["alphas"] if row["script"] is None and row["build"] is None}
    for each in shown.overall:
        row = overall[each.dimension.key]
        assert (row["alpha"], row["low"], row["high"]) == (each.alpha, each.kept.low, each.kept.high)
    assert {row["script"] for row in said["alphas"]} == {None, "script-0", "script-1", "script-2"}
    assert [(row["script"], row["counts"]) for row in said["widest"]] == [
        (each.slug, list(each.counts)) for each in shown.widest
    ]


def test_agreement_of_few_units_is_no_figure(program: Program) -> None:
    kept = {"ratings": 8, "testers": 2, "worked_out_at": timezone.now()}
    Agreement.objects.create(dimension="content", alpha=0.9, low=0.8, high=0.95, units=5, **kept)
    Agreement.objects.create(dimension="face_video", alpha=1.0, units=4, **kept)
    said = {row["dimension"]: row for row in read(program, f"{PATH}agreement/")["alphas"]}
    told = [tuple(said[key][name] for name in ("alpha", "low", "why")) for key in ("content", "face_video")]
    assert told == [(0.9, 0.8, ""), (None, None, "n is too small: under 5 units.")]
    assert "n is too small in Face & video." in read(program, f"{PATH}agreement/")["answer"]


def test_coverage_is_that_of_the_page(filed: list[Result], program: Program, manager: User) -> None:
    build = Build.objects.get(name="2026.43")
    round_ = Round.objects.create(name="Before the release", build=build, begun_by=manager)
    Wanted.objects.create(round=round_, script=Script.objects.get(slug="script-1"), runs=1000)
    shown = make.client_of(manager).get(f"/dashboard/coverage/?round={round_.pk}").context["coverage"]
    said = read(program, f"{PATH}coverage/?build=2026.43&round={round_.pk}")
    assert (said["runs"], said["wanted"], said["missing"]) == (shown.total.count, shown.wanted, shown.missing)
    assert [(row["script"], row["runs"], row["people"], row["wanted"]) for row in said["scripts"]] == [
        (line.slug, line.runs.count, line.people, line.wanted) for line in (*shown.run, *shown.not_run)
    ]
    assert [(row["name"], row["runs"]) for row in said["testers"]] == [
        (line.name, line.runs.count) for line in shown.testers
    ]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("?by=day", "by"),
        ("?build=1999.1", "build"),
        ("?area=safety", "area"),
        ("?script=quiet-talk", "script"),
        ("?low=1", "low"),
        ("?from=2026-13-01", "from"),
        ("?tags=all", "tags"),
        ("agreement/?build=1999.1", "build"),
        ("coverage/?build=1999.1", "build"),
        ("coverage/?area=safety", "area"),
        ("coverage/?round=7", "round"),
    ],
)
def test_what_is_not_understood_is_refused(program: Program, path: str, place: str) -> None:
    make.build("2026.43")
    make.script("quiet-talk", area="safety")
    answer = program.get(f"{PATH}{path}")
    assert answer.status_code == 422
    assert [fault["parameter"] for fault in answer.json()["errors"]] == [place]
