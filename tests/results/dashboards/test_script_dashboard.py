"""The dashboard of one script: every figure opens its rows, and nobody learns of a script that is not for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from emma_eval.accounts.models import User
from results.models import Agreement, Result, Ticket
from scripts_catalog.models import Build, Script
from tests import make
from tests.results.dashboards.conftest import CountedClient, counted_client_of
from tests.results.dashboards.rows import count_behind, random_results

pytestmark = pytest.mark.django_db
data_layer = pytest.mark.data_layer

FIRST = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def results(tester: User, trained_tester: User) -> list[Result]:
    return random_results(Random(3), 110, [tester, trained_tester], FIRST, 40)


@pytest.fixture
def script(db: None) -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.10", is_current=True)


@pytest.mark.parametrize("query", ["build=any", "build=any&over=week&tags=reviewed", "from=2026-05-04&returning=no"])
def test_every_figure_opens_the_rows_that_it_counts(results: list[Result], manager: User, query: str) -> None:
    page = counted_client_of(manager).get(f"/dashboard/scripts/show/?{query}")
    links = set(re.findall(r'href="(/results/\?[^"]*)" data-count="(\d+)"', page.text))
    assert len(links) > 15
    links |= set(figures_of_charts(page.context["figures"]))
    for link, count in links:
        assert count_behind(manager, link) == int(count), link
        assert "script=show" in link


def figures_of_charts(figures: Any) -> Iterator[tuple[str, str]]:
    """What the trend counts at each of its points."""
    for stop in figures.trends.stops:
        yield stop.rows.href("dimension=content&low=1&high=5"), str(stop.counts.n("content"))
        yield stop.rows.href("started=yes"), str(stop.counts.runs)


@pytest.mark.parametrize("slug", ["canary", "nothing-here"])
def test_a_script_that_may_not_be_known_is_not_there(results: list[Result], manager: User, slug: str) -> None:
    """To the letter as one that was never there."""
    answer = make.client_of(manager).get(f"/dashboard/scripts/{slug}/")
    assert answer.status_code == 404
    assert "anary" not in answer.text.replace(f"/dashboard/scripts/{slug}/", "")


def test_the_trained_see_the_dashboard_of_a_safety_script(results: list[Result], trained_eval_member: User) -> None:
    page = counted_client_of(trained_eval_member).get("/dashboard/scripts/canary/?build=any")
    assert page.status_code == 200
    assert page.context["figures"].total.took_place.count > 5
    assert "Safety: trained staff only" in page.text


@data_layer
def test_who_ran_it_is_counted_once(manager_client: CountedClient, script: Script, build: Build) -> None:
    people = [make.user(), make.user(), make.user()]
    for person in (*people, people[0], people[0]):
        make.result(person, script, build)
    make.result(make.user(), script, build, never_started=True)
    make.result(make.user(), script, make.build("2026.9"))
    assert "<b>5</b> runs</a> by 3 people;" in manager_client.get("/dashboard/scripts/bad-news-day/").text


@data_layer
def test_the_number_of_queries_does_not_depend_on_what_there_is(
    results: list[Result], manager: User, tester: User
) -> None:
    client = make.client_of(manager)

    def queries(query: str) -> int:
        make.counts()
        with CaptureQueriesContext(connection) as seen:
            assert client.get(f"/dashboard/scripts/show/?{query}").status_code == 200
        return len(seen)

    asked = ("build=any", "build=any&over=week", "from=2026-05-04")
    before = [queries(query) for query in asked]
    for number in range(20):
        made = make.build(f"2027.{number}")
        make.result(make.user(), Script.objects.get(slug="show"), made, problems=("too_long",), called_at=FIRST)
    assert [queries(query) for query in asked] == before
    assert max(before) <= 18


@pytest.mark.parametrize("address", ["/dashboard/?build=any", "/dashboard/scripts/bad-news-day/?build=any"])
def test_a_page_that_is_asked_for_again_shows_what_came_since(
    address: str, trained_eval_member: User, script: Script, build: Build
) -> None:
    """What is kept from page to page is how to ask and how to write, never what was found."""
    client = counted_client_of(trained_eval_member)
    seen = []
    for number in (1, 2):
        result = make.result(make.user(), script, build, problems=("too_long",))
        ticket = Ticket.objects.create(
            link="https://tracker.example.test/1",
            title=f"Ticket {number}",
            tag="too_long",
            build=build,
            added_by=trained_eval_member,
        )
        seen.append((result, ticket))
        page = client.get(address).text
        assert f'data-count="{number}">{number} result{"s" if number > 1 else ""}</a>' in page
        assert all(f'href="/results/{result.pk}/"' in page for result, _ in seen)
        assert all(ticket.title in page for _, ticket in seen)


def test_the_current_build_is_shown_unless_another_is_asked_for(
    tester: User, manager_client: CountedClient, script: Script, build: Build
) -> None:
    make.result(tester, script, make.build("2026.9"))
    page = manager_client.get("/dashboard/scripts/bad-news-day/").text
    assert "Nothing was filed of this script on this build yet." in page
    assert '<a class="button" href="?build=any">Show everything</a>' in page
    assert 'id="trends"' in page, "what was run on other builds is shown in any case"
    assert "<b>1</b> run</a>" in manager_client.get("/dashboard/scripts/bad-news-day/?build=any").text


def test_a_script_that_was_never_run_says_so(manager_client: CountedClient, script: Script) -> None:
    page = manager_client.get("/dashboard/scripts/bad-news-day/").text
    assert "Nothing was filed of this script yet." in page
    assert "How did the ratings move" not in page


def test_htmx_gets_the_figures_alone_and_the_state_is_in_the_address(
    results: list[Result], manager_client: CountedClient
) -> None:
    part = manager_client.get("/dashboard/scripts/show/?build=any&tags=reviewed&to=", headers={"HX-Request": "true"})
    assert "<html" not in part.text
    assert '<section id="figures"' in part.text
    assert part.headers["HX-Push-Url"] == "/dashboard/scripts/show/?build=any&tags=reviewed"
    whole = manager_client.get("/dashboard/scripts/show/?build=any&to=")
    assert (whole.status_code, whole.headers["Location"]) == (302, "/dashboard/scripts/show/?build=any")


def test_whose_tags_are_counted_is_said_wherever_tags_are(results: list[Result], manager_client: CountedClient) -> None:
    for query, words, other in (("", "as filed", "as reviewed"), ("&tags=reviewed", "as reviewed", "tags as filed")):
        page = manager_client.get(f"/dashboard/scripts/show/?build=any{query}").text
        figures = page[page.index('id="figures"') :].lower()
        assert figures.count(f"tags {words}") >= 3
        assert f", {words}</title>" in figures
        assert other not in figures
        assert "ratings as filed" in figures


def test_testers_have_no_dashboard(tester: User, script: Script) -> None:
    assert make.client_of(tester).get("/dashboard/scripts/bad-news-day/").status_code == 403


def test_agreement_is_shown_with_its_interval_and_its_time(
    tester: User, manager_client: CountedClient, script: Script, build: Build
) -> None:
    make.result(tester, script, build)
    kept = {"dimension": "content", "worked_out_at": FIRST, "units": 7, "ratings": 30, "testers": 4}
    Agreement.objects.create(**kept, script=script.slug, alpha=0.71, low=0.61, high=0.83)
    Agreement.objects.create(**kept, script=script.slug, alpha=0.12, with_safety=True)
    Agreement.objects.create(**kept, build=build.sort_key, alpha=0.91, low=0.85, high=0.95)
    page = manager_client.get("/dashboard/scripts/bad-news-day/").text
    assert "<b>0.71</b>" in page
    assert "0.61 to 0.83" in page
    assert "of this script, on every build, worked out 1 May 2026, 08:00" in page
    assert "0.12" not in page
    whole = manager_client.get("/dashboard/").text
    assert "<b>0.91</b>" in whole
    assert "of all scripts on build 2026.10" in whole


def test_agreement_that_was_not_worked_out_is_no_figure(
    tester: User, manager_client: CountedClient, script: Script, build: Build
) -> None:
    make.result(tester, script, build)
    page = manager_client.get("/dashboard/").text
    assert "Not worked out yet. It takes a script that several testers ran on the same build" in page


def test_what_machines_would_say_is_told_as_not_yet_measured(
    tester: User, manager_client: CountedClient, script: Script, build: Build
) -> None:
    make.result(tester, script, build)
    for path in ("/dashboard/", "/dashboard/scripts/bad-news-day/"):
        page = manager_client.get(path).text
        assert 'Scores by machines <span class="badge">not yet measured</span>' in page
        assert "None of them was run yet" in page


# --- returning users ---


def rate(script: Script, build: Build, ratings: list[int], *, returning: bool) -> None:
    for rating in ratings:
        make.result(make.user(), script, build, ratings=rating, met_emma_before=returning)


@pytest.mark.parametrize(
    ("returning", "first_time", "words"),
    [
        ([4, 5, 4, 5, 4], [1, 2, 1, 2, 1], "+3.00 against first-time users, interval 2.20 to 3.80, 5 and 5 ratings"),
        ([1, 3, 2, 3, 2], [2, 3, 2, 1, 3], "no difference shown: 0.00 against first-time users"),
        ([5, 5, 5, 5], [1, 1, 2, 1, 1], "n too small: 4 and 5 ratings"),
    ],
)
def test_returning_and_first_time_users_are_told_apart_only_where_the_data_can(
    manager_client: CountedClient,
    script: Script,
    build: Build,
    returning: list[int],
    first_time: list[int],
    words: str,
) -> None:
    rate(script, build, returning, returning=True)
    rate(script, build, first_time, returning=False)
    for path in ("/dashboard/", "/dashboard/scripts/bad-news-day/"):
        differences = manager_client.get(path).context["figures"].returning.differences
        assert differences[1].dimension.key == "content"
        assert differences[1].words.startswith(words)


def test_returning_users_of_one_script_are_not_held_against_first_time_users_of_another(
    manager_client: CountedClient, script: Script, build: Build
) -> None:
    rate(script, build, [5, 4, 5, 4, 5], returning=True)
    rate(make.script("hard"), build, [1, 2, 1, 2, 1], returning=False)
    said = manager_client.get("/dashboard/").context["figures"].returning.differences
    assert {each.words for each in said} == {"nothing to compare"}


def test_nobody_is_compared_where_only_some_are_counted(
    manager_client: CountedClient, script: Script, build: Build
) -> None:
    rate(script, build, [5, 4, 5], returning=True)
    page = manager_client.get("/dashboard/?returning=yes").text
    assert "Only returning users are counted now." in page
    assert 'id="returning-title"' not in page


def test_dates_of_more_than_a_month_are_counted_to_the_day(
    tester: User, manager_client: CountedClient, script: Script, build: Build
) -> None:
    for day in range(40):
        make.result(tester, script, build, called_at=FIRST + timedelta(days=day))
    for query, runs in (("to=2026-05-31", 31), ("from=2026-05-31", 10), ("from=2026-05-02&to=2026-06-02", 32)):
        page = manager_client.get(f"/dashboard/scripts/bad-news-day/?{query}")
        assert page.context["figures"].total.took_place.count == runs, query
