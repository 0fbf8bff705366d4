"""Do our testers agree? What was worked out is read as it stands; how far ratings lie apart is counted now."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import User
from results.dashboards.agreement import Agreements
from results.models import DIMENSION_KEYS, Agreement
from scripts_catalog.models import Build
from scripts_catalog.publish_version import publish_version
from tests import make

pytestmark = pytest.mark.django_db
WHEN = datetime(2099, 5, 4, 2, 30, tzinfo=UTC)


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.43", is_current=True)


def kept(dimension: str, alpha: float | None, **fields: object) -> Agreement:
    interval = {} if alpha is None else {"low": alpha - 0.1, "high": alpha + 0.1}
    counts = {"units": 12, "ratings": 60, "testers": 4, "worked_out_at": WHEN}
    return Agreement.objects.create(dimension=dimension, alpha=alpha, **{**interval, **counts, **fields})


def agreed(client: Client, query: str = "") -> Agreements:
    page = client.get(f"/dashboard/agreement/?{query}")
    assert page.status_code == 200
    found: Agreements = page.context["agreed"]
    return found


def test_it_answers_by_the_customary_bounds_and_names_what_cannot_be_told(manager_client: Client) -> None:
    for dimension, alpha in (("listening_timing", 0.84), ("content", 0.8), ("voice_audio", 0.7), ("face_video", 0.41)):
        kept(dimension, alpha)
    kept("vision", None, why="No two testers have rated it.")
    found = agreed(manager_client)
    assert found.answer == (
        "They agree well enough to rely on Listening & timing (0.84) and Content (0.80). "
        "Conclusions from Voice & audio (0.70) are tentative. They do not agree enough on Face & video (0.41). "
        "Emotional fit and Vision can’t be told."
    )
    assert [each.reads_as for each in found.overall] == [
        "can be relied on",
        "can be relied on",
        "for tentative conclusions alone",
        "not to be relied on",
        "can’t be told: not worked out yet",
        "can’t be told: no two testers have rated it",
    ]
    page = manager_client.get("/dashboard/agreement/").text
    assert "0.74 to 0.94" in page
    assert "0.667" in page
    assert "4 May 2099" in page


def test_before_anything_was_worked_out_both_pages_say_the_same_at_any_time(
    manager_client: Client, tester: User, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = make.script("far")
    for who, rating in ((tester, 1), (make.user(), 5)):
        make.result(who, far, build, ratings=rating)
    found = agreed(manager_client)
    assert found.answer == (
        "Not worked out yet. It takes a script that several testers ran on the same build, "
        "and is looked at every 5 minutes."
    )
    assert found.answer in manager_client.get("/dashboard/").text
    assert "every hour" not in manager_client.get("/dashboard/agreement/").text
    assert found.widest, "which stands on the same page and is no contradiction"
    later = timezone.now() + timedelta(minutes=7)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert agreed(manager_client).answer == found.answer


def test_of_few_units_there_is_neither_a_figure_nor_a_verdict(
    manager_client: Client, tester: User, build: Build
) -> None:
    make.result(tester, make.script("bad-news-day"), build)
    kept("content", 0.91)
    for place in ({}, {"build": build.sort_key}, {"script": "bad-news-day"}):
        kept("face_video", 1.0, units=4, low=None, high=None, **place)
    kept("vision", None, units=0, why="No two testers have rated it.")
    found = agreed(manager_client)
    assert found.answer == (
        "They agree well enough to rely on Content (0.91). n is too small in Face & video. "
        "Listening & timing, Voice & audio, Emotional fit and Vision can’t be told."
    )
    small = next(each for each in found.overall if each.dimension.key == "face_video")
    assert (small.alpha, small.reads_as) == (None, "n too small")
    for matrix in (found.by_build, found.by_script):
        assert matrix is not None
        squares = [square for row in matrix.rows for square in row.squares if square.n]
        assert [(square.value, square.in_words) for square in squares] == [(None, "n too small, n 4")]
    for path in ("/dashboard/agreement/", "/dashboard/", "/dashboard/scripts/bad-news-day/?build=any"):
        page = manager_client.get(path).text
        assert "n too small" in page
        assert "1.00" not in page.split('id="agreement-head"')[-1], path
    whole = manager_client.get("/dashboard/").text
    assert '<td class="quiet">n too small</td>' in whole


def test_of_few_units_alone_it_says_what_it_takes(manager_client: Client) -> None:
    for dimension in DIMENSION_KEYS[:3]:
        kept(dimension, 1.0, units=3, low=None, high=None)
    answer = agreed(manager_client).answer
    assert answer.startswith(
        "That can’t be told yet: that takes 5 scripts on a build that several testers rated. n is too small in "
    )
    assert "rely" not in answer


def test_where_nobody_ran_the_same_it_says_so(manager_client: Client) -> None:
    for dimension in DIMENSION_KEYS:
        kept(dimension, None, units=0, why="No two testers have rated the same script on the same build.")
    assert agreed(manager_client).answer == (
        "That can’t be told yet: no two testers have rated the same script on the same build."
    )


def test_counts_that_no_list_can_show_are_said_to_open_none(manager_client: Client, build: Build) -> None:
    kept("content", 0.7)
    kept("content", 0.7, build=build.sort_key, units=9)
    kept("content", 0.9, script=make.script("far").slug, units=3)
    page = manager_client.get("/dashboard/agreement/").text
    assert "These counts open no list" in page
    assert "a square opens all ratings of its dimension on its build, also those" in page
    assert "a square opens all ratings of its dimension in its script, also those" in page


def test_builds_and_scripts_have_a_square_each_that_opens_their_rows(
    manager_client: Client, tester: User, build: Build
) -> None:
    script = make.script("bad-news-day", title="Bad news day")
    make.result(tester, script, build)
    kept("content", 0.7, build=build.sort_key, units=9)
    kept("content", 0.9, script="bad-news-day", units=3)
    found = agreed(manager_client)
    assert found.by_build is not None
    assert found.by_script is not None
    assert found.by_build.columns == ("2026.43",)
    square = found.by_build.rows[1].squares[0]
    assert (square.value, square.n) == (0.7, 9)
    assert found.by_build.rows[0].squares[0].why == "not worked out yet"
    assert found.by_script.rows[0].label == "Bad news day"
    assert found.by_script.rows[0].squares[1].value is None, "of three units, but its rows are there"
    for link in (square.href, found.by_script.rows[0].squares[1].href):
        rows = manager_client.get(link).context
        assert not rows["form"].errors
        assert rows["listing"].count == 1


def test_only_the_newest_builds_are_drawn(manager_client: Client) -> None:
    for number in range(8):
        kept("content", 0.5, build=make.build(f"2026.{10 + number}").sort_key)
    found = agreed(manager_client)
    assert found.by_build is not None
    assert found.by_build.columns == tuple(f"2026.{number}" for number in range(12, 18))


def test_ratings_that_lie_furthest_apart_come_first_with_their_rows(
    manager_client: Client, tester: User, build: Build
) -> None:
    other, third = make.user(), make.user()
    far, near, alone = (make.script(slug) for slug in ("far", "near", "alone"))
    for who, rating in ((tester, 1), (other, 5), (third, 5)):
        make.result(who, far, build, ratings=3, content=rating)
    for who, rating in ((tester, 3), (other, 4)):
        make.result(who, near, build, ratings=3, content=rating)
    for rating in (1, 5):
        make.result(tester, alone, build, ratings=rating)
    make.result(other, far, make.build("2026.42"), ratings=1)
    found = agreed(manager_client).widest
    assert [(each.slug, each.dimension.key, each.counts, each.testers) for each in found] == [
        ("far", "content", (1, 0, 0, 0, 2), 3),
        ("near", "content", (0, 0, 1, 1, 0), 2),
    ]
    page = manager_client.get("/dashboard/agreement/").text
    assert "in “" in page.partition('aria-labelledby="widest-title')[2].partition("</svg>")[0], "a bar names its script"
    assert re.search(r"from 1 to 5, in <a[^>]*>3</a> ratings of 3 testers", page)
    links = re.findall(r'href="(/results/\?[^"]*)" data-count="(\d+)"', page)
    assert len(links) == 2
    for link, count in links:
        assert manager_client.get(unescape(link)).context["listing"].count == int(count)


def test_another_build_is_one_choice_away(manager_client: Client, tester: User, build: Build) -> None:
    before, script = make.build("2026.42"), make.script("far")
    for who, rating in ((tester, 1), (make.user(), 5)):
        make.result(who, script, before, ratings=rating)
    assert not agreed(manager_client).widest
    assert len(agreed(manager_client, "build=2026.42").widest) == 5
    part = manager_client.get("/dashboard/agreement/?build=2026.42", headers={"HX-Request": "true"})
    assert "<html" not in part.text
    assert part.text.lstrip().startswith('<div id="figures"')


def test_a_build_that_is_not_there_is_told(manager_client: Client, build: Build) -> None:
    assert 'class="error-summary"' in manager_client.get("/dashboard/agreement/?build=nope").text


def test_the_untrained_are_told_nothing_of_safety(
    manager_client: Client, trained_eval_member: User, trained_tester: User, build: Build
) -> None:
    canary = make.script("canary", area="safety", title="Canary")
    for who, rating in ((trained_tester, 1), (trained_eval_member, 5)):
        make.result(who, canary, build, ratings=rating)
    kept("content", 0.11, script="canary", with_safety=True)
    kept("content", 0.22, with_safety=True)
    kept("content", 0.33)
    # Left from before the script became Safety.
    kept("content", 0.44, script="canary")
    page = manager_client.get("/dashboard/agreement/").text
    assert "Canary" not in page
    assert [figure in page for figure in ("0.11", "0.22", "0.33", "0.44")] == [False, False, True, False]
    trained = make.client_of(trained_eval_member).get("/dashboard/agreement/").text
    assert "Canary" in trained
    assert "0.22" in trained
    assert "0.33" not in trained


def test_what_counts_a_script_that_just_became_safety_is_told_to_nobody_untrained(
    manager_client: Client, tester: User, build: Build
) -> None:
    script = make.script("moved")
    kept("content", 0.33, worked_out_at=datetime(2020, 1, 1, tzinfo=UTC))
    assert "0.33" in manager_client.get("/dashboard/agreement/").text
    assert script.latest is not None
    wording = replace(script.latest.wording, area="safety")
    publish_version(script, wording, by=None, started_from=script.latest.pk)
    assert "0.33" not in manager_client.get("/dashboard/agreement/").text


def test_testers_may_not_open_it(tester_client: Client) -> None:
    assert tester_client.get("/dashboard/agreement/").status_code == 403
