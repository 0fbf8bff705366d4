"""The Scripts tab."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from emma_eval.accounts.models import User
from scripts_catalog.models import RunCount, Script
from tests import make

pytestmark = pytest.mark.django_db


def titles(client: Client, query: str = "") -> list[str]:
    return re.findall(r'<h3><a href="[^"]+">([^<]+)</a>', client.get(f"/scripts/?{query}").text)


@pytest.fixture
def catalogue(db: None) -> None:
    make.script("bad-news-day", area="feelings", title="Bad news day", main_dimension="emotional_fit")
    make.script("show-an-object", area="camera", title="Show an object", uses_camera=True, main_dimension="vision")
    make.script("cafe", area="everyday", title="Im CAFÉ", summary="Noise.", steps=["Order a Flat White."])


def test_it_groups_scripts_by_area_in_the_order_of_the_areas(tester_client: Client, catalogue: None) -> None:
    assert titles(tester_client) == ["Im CAFÉ", "Bad news day", "Show an object"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=NEWS", ["Bad news day"]),
        ("q=café", ["Im CAFÉ"]),
        ("q=flat+white", ["Im CAFÉ"]),
        ("q=noise", ["Im CAFÉ"]),
        ("q=nothing+like+it", []),
        ("area=camera", ["Show an object"]),
        ("dimension=emotional_fit", ["Bad news day"]),
        ("camera=yes", ["Show an object"]),
        ("camera=no&q=bad", ["Bad news day"]),
        ("area=garden", ["Im CAFÉ", "Bad news day", "Show an object"]),
        ("area=safety", ["Im CAFÉ", "Bad news day", "Show an object"]),
        ("retired=on", ["Im CAFÉ", "Bad news day", "Show an object"]),
    ],
)
def test_it_is_narrowed_by_the_address(tester_client: Client, catalogue: None, query: str, found: list[str]) -> None:
    assert titles(tester_client, query) == found


def test_it_says_how_often_each_was_run_on_the_current_build(tester_client: Client, catalogue: None) -> None:
    old, new = make.build("2026.42"), make.build("2026.46", is_current=True)
    script = Script.objects.get(slug="bad-news-day")
    RunCount.objects.add(script, old, filed_as_safety=False, runs=9)
    RunCount.objects.add(script, new, filed_as_safety=False, runs=3)
    RunCount.objects.add(script, new, filed_as_safety=True, runs=4)
    page = tester_client.get("/scripts/").text
    assert "run <b>3</b> times on <bdi>2026.46</bdi>" in page
    assert titles(tester_client, "unrun=on") == ["Im CAFÉ", "Show an object"]


def test_the_trained_count_runs_that_were_safety_too(trained_tester: User, catalogue: None) -> None:
    build, script = make.build(is_current=True), Script.objects.get(slug="bad-news-day")
    RunCount.objects.add(script, build, filed_as_safety=False, runs=3)
    RunCount.objects.add(script, build, filed_as_safety=True, runs=4)
    assert "run <b>7</b> times" in make.client_of(trained_tester).get("/scripts/").text


def test_it_hides_safety_scripts_from_the_untrained(tester_client: Client, trained_tester: User) -> None:
    make.script("quiet-hint", area="safety", title="A quiet hint")
    page = tester_client.get("/scripts/?q=quiet").text
    assert "A quiet hint" not in page
    assert "Safety" not in page
    assert "0 scripts" in page
    assert "A quiet hint" in make.client_of(trained_tester).get("/scripts/?area=safety").text


def test_retired_scripts_are_listed_for_the_eval_team_alone(eval_client: Client, catalogue: None) -> None:
    Script.objects.filter(slug="bad-news-day").update(retired_at="2026-01-01T00:00Z")
    assert titles(eval_client) == ["Im CAFÉ", "Show an object"]
    assert titles(eval_client, "retired=on") == ["Bad news day"]


def test_an_empty_catalogue_says_what_will_be_here(tester_client: Client, eval_client: Client) -> None:
    assert "No scripts yet" in tester_client.get("/scripts/").text
    assert "/scripts/new/" not in tester_client.get("/scripts/").text
    assert "Write the first one" in eval_client.get("/scripts/").text


def test_filters_that_fit_nothing_offer_the_way_back(tester_client: Client, catalogue: None) -> None:
    assert "No script fits" in tester_client.get("/scripts/?q=zzz").text


def test_htmx_gets_the_list_alone_and_the_address_to_show(tester_client: Client, catalogue: None) -> None:
    answer = tester_client.get("/scripts/?q=news&area=&camera=", headers={"HX-Request": "true"})
    assert answer["HX-Replace-Url"] == "/scripts/?q=news"
    assert "<html" not in answer.text
    assert titles(tester_client, "q=news") == ["Bad news day"]
    assert "1 script found" in answer.text


def test_it_asks_the_database_as_often_for_many_scripts_as_for_few(
    tester_client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    build = make.build(is_current=True)
    for count in (1, 30):
        for _ in range(count):
            RunCount.objects.add(make.script(), build, filed_as_safety=False)
        with django_assert_num_queries(5):
            tester_client.get("/scripts/")


def test_it_escapes_what_a_script_says(tester_client: Client) -> None:
    make.script(title="<script>alert(1)</script>", summary="<img src=x onerror=alert(1)>")
    page = tester_client.get("/scripts/").text
    assert "<script>alert" not in page
    assert "<img src=x" not in page
