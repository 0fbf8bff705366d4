"""The dashboard of all scripts: counts, means and shares, each with the rows that it counts."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from random import Random

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from emma_eval.accounts.models import User
from results.dashboards.overview import Dashboard
from results.models import Problem, ProblemOrder, Result
from scripts_catalog.models import Build, Script
from tests import make
from tests.results.dashboards.conftest import counted_client_of
from tests.results.dashboards.rows import count_behind

pytestmark = pytest.mark.django_db
data_layer = pytest.mark.data_layer

MARCH = datetime(2026, 3, 3, 12, tzinfo=UTC)


@pytest.fixture
def script(db: None) -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.10")


def figures(client: Client, query: str = "") -> Dashboard:
    page = client.get(f"/dashboard/?{query}")
    assert page.status_code == 200
    found: Dashboard = page.context["figures"]
    return found


@data_layer
def test_a_mean_is_of_the_ratings_given(tester: User, manager_client: Client, script: Script, build: Build) -> None:
    for rating in (1, 2, 2, 5, 5, 5):
        make.result(tester, script, build, ratings=rating)
    cell = figures(manager_client).lines[0].cells[0]
    assert [figure.count for figure in cell.values] == [1, 2, 0, 0, 3]
    assert cell.rated.count == 6
    assert cell.mean == pytest.approx(20 / 6)


@data_layer
def test_na_and_calls_that_never_started_are_in_no_mean(
    tester: User, manager_client: Client, script: Script, build: Build
) -> None:
    for _ in range(5):
        make.result(tester, script, build, ratings=3)
    make.result(tester, script, build, ratings=5, camera_used=True)
    make.result(tester, script, build, never_started=True)
    line = figures(manager_client).lines[0]
    vision = line.cells[-1]
    assert (line.took_place.count, line.never_started.count) == (6, 1)
    assert (vision.rated.count, vision.not_applicable.count) == (1, 5)
    assert vision.mean is None
    assert line.cells[0].rated.count == 6


@pytest.mark.parametrize(("ratings", "shown"), [(4, "n too small"), (5, "3.00")])
def test_a_mean_of_few_ratings_is_not_shown(
    tester: User, manager_client: Client, script: Script, build: Build, ratings: int, shown: str
) -> None:
    for _ in range(ratings):
        make.result(tester, script, build, ratings=3)
    page = manager_client.get("/dashboard/").text
    assert ("<b>3.00</b>" in page) == (shown == "3.00")
    assert f"n {ratings}<" in page


@data_layer
def test_an_unknown_order_is_never_counted_as_biggest(
    tester: User, manager_client: Client, script: Script, build: Build
) -> None:
    make.result(tester, script, build, problems=("too_long", "cut_in"))
    for order, rank in ((ProblemOrder.GROUPS, None), (ProblemOrder.BIGGEST, 1)):
        result = make.result(tester, script, build, problem_order=order)
        Problem.objects.create(result=result, tag="cut_in", position=1, rank=rank)
        Problem.objects.create(result=result, tag="too_fast", position=2, rank=None)
    found = figures(manager_client)
    often = {shown.ranked.label: shown.figure.count for shown in found.problems.by_count}
    biggest = {shown.ranked.label: shown.figure.count for shown in found.problems.by_biggest}
    cut_in = "Cut in while the user was still talking"
    assert often == {cut_in: 3, "Too fast / no pauses": 2, "Too long or rambling": 1}
    assert list(often) == [cut_in, "Too fast / no pauses", "Too long or rambling"]
    assert biggest == {cut_in: 1, "Too long or rambling": 1}


@pytest.fixture
def filed(tester: User) -> None:
    """Results of several scripts, builds and days, some Safety, some that never started."""
    random = Random(5)
    scripts = [
        *(make.script(f"s-{number}", uses_camera=number == 1) for number in range(3)),
        make.script("show", area="camera", uses_camera=True),
        make.script("canary", area="safety"),
    ]
    builds = [make.build(name) for name in ("2026.9", "2026.10 (beta & co)")]
    tags = ("too_long", "cut_in", "too_fast", "stuck_start")
    for _ in range(70):
        never = random.random() < 0.15
        made = make.result(
            tester,
            random.choice(scripts),
            random.choice(builds),
            ratings=random.randint(1, 5),
            problems=tuple(random.sample(tags, random.randint(0, 3))),
            called_at=MARCH + timedelta(hours=random.randint(0, 100)),
            **({"never_started": True, "camera_used": False} if never else {}),
        )
        if random.random() < 0.3:
            Result.objects.filter(pk=made.pk).update(problem_order=ProblemOrder.GROUPS)
            Problem.objects.filter(result=made).update(rank=None)


@pytest.mark.parametrize("query", ["", "build=2026.10+(beta+%26+co)&from=2026-03-04&to=2026-03-06", "area=camera"])
@pytest.mark.parametrize("is_trained", [False, True], ids=["untrained", "trained"])
def test_every_figure_opens_the_rows_that_it_counts(
    filed: None, manager: User, trained_eval_member: User, query: str, is_trained: bool
) -> None:
    user = trained_eval_member if is_trained else manager
    page = counted_client_of(user).get(f"/dashboard/?{query}").text
    links = set(re.findall(r'href="(/results/\?[^"]*)" data-count="(\d+)"', page))
    assert len(links) > 40
    assert re.search(r'data-count="\d+"><b>\d\.\d\d</b>', page), "a mean is a link"
    for link, count in links:
        assert count_behind(user, link) == int(count), link


def test_the_untrained_count_nothing_of_safety(
    trained_tester: User, manager_client: Client, trained_eval_member: User, build: Build
) -> None:
    canary = make.script("canary", area="safety", title="Canary")
    for _ in range(6):
        make.result(trained_tester, canary, build, problems=("too_long",))
    page = manager_client.get("/dashboard/")
    assert "Canary" not in page.text
    assert "Safety" not in page.text
    assert "Too long or rambling" not in page.text
    assert "As soon as results are filed" in page.text
    assert figures(counted_client_of(trained_eval_member)).total.took_place.count == 6


@data_layer
def test_the_number_of_queries_does_not_depend_on_what_there_is(filed: None, manager: User) -> None:
    client = make.client_of(manager)

    def queries() -> int:
        make.counts()
        with CaptureQueriesContext(connection) as seen:
            figures(client)
        return len(seen)

    few = queries()
    for number in range(30):
        make.result(make.user(), make.script(f"more-{number}"), make.build(), problems=("too_long",))
    assert queries() == few <= 16


def test_a_chart_and_its_table_say_the_same(filed: None, manager_client: Client) -> None:
    page = manager_client.get("/dashboard/").text
    desc = re.search(r"<desc[^>]*>(.*?)</desc>", page)
    assert desc
    row = re.search(r'<th scope="row">Content</th>(.*?)</tr>', page, re.DOTALL)
    assert row
    shown = [
        int(count)
        for count in re.findall(r'data-count="\d+">(\d+)<|class="quiet">(0)<', row[1])
        for count in count
        if count
    ]
    said = re.search(r"Content: (\d+) × 1, (\d+) × 2, (\d+) × 3, (\d+) × 4, (\d+) × 5", desc[1])
    assert said
    assert shown[1:6] == [int(count) for count in said.groups()]
    assert shown[0] == sum(shown[1:6])


@pytest.mark.parametrize("query", ["build=nope", "area=safety", "from=x", "from=2026-03-02&to=2026-03-01"])
def test_a_bad_filter_is_told_and_the_rest_is_shown(filed: None, manager_client: Client, query: str) -> None:
    page = manager_client.get(f"/dashboard/?{query}")
    assert page.status_code == 200
    assert 'class="error-summary"' in page.text
    assert page.context["figures"].lines


def test_htmx_gets_the_figures_alone(filed: None, manager_client: Client) -> None:
    part = manager_client.get("/dashboard/?area=&build=2026.9", headers={"HX-Request": "true"})
    assert "<html" not in part.text
    assert '<section id="figures"' in part.text
    assert part.headers["HX-Push-Url"] == "/dashboard/?build=2026.9"


# --- which build is counted --------------------------------------------------------------------------


def heading(client: Client, query: str = "") -> str:
    """What the page says that it counts."""
    page = client.get(f"/dashboard/{query}", follow=True).text
    found = re.search(r'<div class="figures-head">\s*<h2>(.*?)</h2>', page)
    assert found
    return unescape(re.sub(r"<[^>]+>", "", found[1]))


@pytest.fixture
def two_builds(tester: User, script: Script) -> None:
    """Two results on the build before, one on the current one."""
    before, current = make.build("2026.9"), make.build("2026.10", is_current=True)
    make.result(tester, script, before)
    make.result(tester, script, before)
    make.result(tester, script, current)


@pytest.mark.parametrize(
    ("query", "runs", "said"),
    [
        ("", 1, "Build 2026.10, the current build · tags as filed"),
        ("?build=", 1, "Build 2026.10, the current build · tags as filed"),
        ("?area=everyday", 1, "Build 2026.10, the current build · Everyday talk · tags as filed"),
        (
            "?build=2026.9&from=2026-03-02&to=2099-12-31",
            2,
            "Build 2026.9 · from 2 Mar 2026 · to 31 Dec 2099 · tags as filed",
        ),
        ("?build=any", 3, "Every build · tags as filed"),
        ("?build=nope", 3, "Every build · tags as filed"),
    ],
)
def test_it_counts_the_current_build_unless_asked_and_says_which(
    two_builds: None, manager_client: Client, query: str, runs: int, said: str
) -> None:
    page = manager_client.get(f"/dashboard/{query}", follow=True)
    assert page.context["figures"].total.took_place.count == runs
    assert heading(manager_client, query) == said


def test_any_build_is_one_choice_away(two_builds: None, manager_client: Client) -> None:
    page = manager_client.get("/dashboard/").text
    assert '<option value="any">Any</option>' in page
    assert '<option value="2026.10" selected>2026.10</option>' in page
    assert '<a href="?build=any">Everything</a>' in page
    assert '<option value="any" selected>Any</option>' in manager_client.get("/dashboard/?build=any").text


def test_without_a_current_build_it_counts_every_build(
    tester: User, manager_client: Client, script: Script, build: Build
) -> None:
    make.result(tester, script, build)
    assert figures(manager_client).total.took_place.count == 1
    assert heading(manager_client) == "Every build · tags as filed"


def test_a_current_build_without_results_leads_to_the_others(
    tester: User, manager_client: Client, script: Script, build: Build
) -> None:
    make.result(tester, script, build)
    make.build("2026.11", is_current=True)
    page = manager_client.get("/dashboard/").text
    assert "Nothing was filed on this build yet." in page
    assert '<a class="button" href="?build=any">Show everything</a>' in page


# --- the worst script --------------------------------------------------------------------------------


@pytest.fixture
def rated(tester: User, build: Build) -> None:
    """Means of Content of 4, 2 and 3, and a script with too few ratings for one."""
    for slug, runs, content in (("anna", 5, 4), ("bert", 6, 2), ("carl", 7, 3), ("dora", 4, 1)):
        script = make.script(slug)
        for _ in range(runs):
            made = make.result(tester, script, build, ratings=4)
            Result.objects.filter(pk=made.pk).update(content=content)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["anna", "bert", "carl", "dora"]),
        ("sort=script&direction=desc", ["dora", "carl", "bert", "anna"]),
        ("sort=content", ["bert", "carl", "anna", "dora"]),
        ("sort=content&direction=desc", ["anna", "carl", "bert", "dora"]),
        ("sort=runs&direction=desc", ["carl", "bert", "anna", "dora"]),
        ("sort=vision", ["anna", "bert", "carl", "dora"]),
        ("sort=password&direction=desc", ["anna", "bert", "carl", "dora"]),
    ],
)
def test_scripts_sort_by_a_mean_and_those_without_one_come_last(
    rated: None, manager_client: Client, query: str, expected: list[str]
) -> None:
    assert [line.slug for line in figures(manager_client, query).lines] == expected


def test_one_press_of_a_head_brings_the_lowest_mean_to_the_top(rated: None, manager_client: Client) -> None:
    head = re.search(r'<th [^>]*><a id="sort-content" href="(\?[^"]*)" hx-get', manager_client.get("/dashboard/").text)
    assert head
    page = manager_client.get(f"/dashboard/{unescape(head[1])}")
    assert page.context["figures"].lines[0].slug == "bert"
    assert 'class="head-content number" aria-sort="ascending"' in page.text
    assert page.text.count("aria-sort") == 1
    assert '<input type="hidden" name="sort" value="content" form="filters">' in page.text
    again = re.search(r'<a id="sort-content" href="(\?[^"]*)"', page.text)
    assert again
    assert figures(manager_client, unescape(again[1]).lstrip("?")).lines[0].slug == "anna"


def test_the_lowest_mean_is_named_with_its_rows(rated: None, manager_client: Client) -> None:
    page = manager_client.get("/dashboard/").text
    said = re.search(r'<p class="lowest">(.*?)</p>', page)
    assert said
    words = unescape(re.sub(r"<[^>]+>", "", said[1]))
    assert words == "The lowest mean is 2.00: Content of Bert, from 6 ratings."
    link = re.search(r'href="(/results/[^"]*)"', said[1])
    assert link
    rows = manager_client.get(unescape(link[1])).context["listing"]
    assert rows.count == 6
    assert {row.title for row in rows.rows} == {"Bert"}


def test_means_that_are_as_low_are_counted(tester: User, manager_client: Client, build: Build) -> None:
    for slug, runs in (("anna", 5), ("bert", 7)):
        script = make.script(slug)
        for _ in range(runs):
            make.result(tester, script, build, ratings=2)
    lowest = figures(manager_client).lowest
    assert lowest
    assert (lowest.line.slug, lowest.cell.rated.count, lowest.as_low) == ("bert", 7, 9)
    assert "9 others are as low." in manager_client.get("/dashboard/").text


def test_with_few_ratings_no_mean_is_named_the_lowest(
    tester: User, manager_client: Client, script: Script, build: Build
) -> None:
    for _ in range(4):
        make.result(tester, script, build, ratings=1)
    page = manager_client.get("/dashboard/").text
    assert "n is too small to name the lowest mean: no script has 5 ratings" in page
    assert "The lowest mean is" not in page


def test_a_dimension_that_was_never_rated_is_na_and_not_too_small(
    tester: User, manager_client: Client, script: Script, build: Build
) -> None:
    for _ in range(5):
        make.result(tester, script, build)
    page = manager_client.get("/dashboard/").text
    cell = re.search(r'<td class="number mean" data-label="Vision">(.*?)</td>', page)
    assert cell
    assert re.sub(r"<[^>]+>", "", cell[1]) == "N/A 5"


def test_testers_have_no_dashboard(tester_client: Client, eval_client: Client) -> None:
    assert tester_client.get("/dashboard/").status_code == 403
    assert eval_client.get("/dashboard/").status_code == 200
