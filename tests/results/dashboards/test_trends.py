"""Trends over builds and weeks: breaks where results were made by another method, and nothing but those."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from emma_eval.accounts.models import User
from results.dashboards.trends import MOST_BUILDS, MOST_WEEKS, Methods, Stop
from results.models import Result
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script, ScriptVersion
from tests import make
from tests.results.dashboards.conftest import CountedClient, counted_client_of

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

MONDAY = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "after", "reasons"),
    [
        (Methods(), Methods(), ()),
        (Methods(frozenset({1}), frozenset({3})), Methods(frozenset({1}), frozenset({3})), ()),
        (Methods(versions=frozenset({1})), Methods(versions=frozenset({2})), ("script version 2 after version 1",)),
        (
            Methods(versions=frozenset({1})),
            Methods(versions=frozenset({1, 2})),
            ("script versions 1 and 2 after version 1",),
        ),
        (
            Methods(frozenset({1}), frozenset({1})),
            Methods(frozenset({2}), frozenset({2})),
            ("script version 2 after version 1", "edition 2 of the problem tags after edition 1"),
        ),
    ],
)
def test_why_two_do_not_compare(before: Methods, after: Methods, reasons: tuple[str, ...]) -> None:
    assert after.reasons_after(before) == reasons


@pytest.fixture
def script(db: None) -> Script:
    return make.script("edited")


@pytest.fixture
def second(script: Script) -> ScriptVersion:
    """What the script says since it was edited."""
    return version_of(script, 2)


def version_of(script: Script, number: int, **fields: object) -> ScriptVersion:
    same = {
        name: getattr(script.latest, name)
        for name in ("title", "area", "main_dimension", "uses_camera", "summary", "what_to_do", "steps", "anchors")
    }
    return ScriptVersion.objects.create(**{**same, **fields}, script=script, number=number)


def stops(client: CountedClient, query: str = "", path: str = "/dashboard/scripts/edited/") -> tuple[Stop, ...]:
    found: tuple[Stop, ...] = client.get(f"{path}?{query}").context["figures"].trends.stops
    return found


def breaks(found: tuple[Stop, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """The stops that do not compare with the one before, with their reasons."""
    return [
        (stop.label, reasons)
        for before, stop in pairwise(found)
        if (reasons := stop.methods.reasons_after(before.methods))
    ]


def run(script: Script, build: Build, **fields: object) -> Result:
    return make.result(make.user(), script, build, **fields)


def test_a_new_version_of_the_script_breaks_its_trend_over_builds(
    manager_client: CountedClient, script: Script, second: ScriptVersion
) -> None:
    builds = [make.build(f"2026.{number}") for number in (9, 10, 11, 12)]
    for build in builds[:3]:
        run(script, build)
    run(script, builds[2], script_version=second)
    run(script, builds[3], script_version=second)
    assert breaks(stops(manager_client)) == [
        ("2026.11", ("script versions 1 and 2 after version 1",)),
        ("2026.12", ("script version 2 after versions 1 and 2",)),
    ]
    page = manager_client.get("/dashboard/scripts/edited/").text
    assert "Not comparable before 2026.11: script versions 1 and 2 after version 1." in page
    assert breaks(stops(manager_client, path="/dashboard/")) == [], "all scripts together have no version"


def test_a_new_version_breaks_a_trend_over_weeks_and_a_week_without_calls_does_not(
    manager_client: CountedClient, script: Script, second: ScriptVersion
) -> None:
    build = make.build()
    for weeks, version in ((0, script.latest), (2, script.latest), (3, second)):
        run(script, build, called_at=MONDAY + timedelta(weeks=weeks), script_version=version)
    found = stops(manager_client, "over=week")
    assert [(stop.label, stop.counts.runs) for stop in found] == [
        ("1 Jun 2026", 1),
        ("8 Jun 2026", 0),
        ("15 Jun 2026", 1),
        ("22 Jun 2026", 1),
    ]
    assert breaks(found) == [("22 Jun 2026", ("script version 2 after version 1",))]


@pytest.mark.parametrize("path", ["/dashboard/", "/dashboard/scripts/edited/"])
@pytest.mark.parametrize("over", ["build", "week"])
def test_a_new_edition_of_the_tags_breaks_every_trend(
    manager_client: CountedClient, script: Script, path: str, over: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taxonomy, "EDITION", 2)
    for number, edition in enumerate((1, 1, 2)):
        fields = {"called_at": MONDAY + timedelta(weeks=number), "taxonomy_edition": edition}
        run(script, make.build(f"2026.{number}"), **fields)
    found = stops(manager_client, f"build=any&over={over}", path)
    assert [reasons for _, reasons in breaks(found)] == [("edition 2 of the problem tags after edition 1",)]


def test_versions_are_told_by_the_numbers_that_the_viewer_knows(
    manager: User, trained_eval_member: User, script: Script
) -> None:
    """A version in between was Safety: the untrained know neither of it nor of a gap."""
    version_of(script, 2, area="safety")
    third = version_of(script, 3)
    run(script, make.build("2026.9"))
    run(script, make.build("2026.10"), script_version=third)
    said = [breaks(stops(counted_client_of(user))) for user in (manager, trained_eval_member)]
    assert [each[0][1] for each in said] == [
        ("script version 2 after version 1",),
        ("script version 3 after version 1",),
    ]


def test_only_so_many_builds_and_weeks_are_drawn_the_latest(manager_client: CountedClient, script: Script) -> None:
    for number in range(MOST_BUILDS + 3):
        run(script, make.build(f"2026.{number}"), called_at=MONDAY + timedelta(weeks=3 * number))
    found = stops(manager_client)
    assert [stop.label for stop in found] == [f"2026.{number}" for number in range(3, MOST_BUILDS + 3)]
    weekly = stops(manager_client, "over=week")
    assert len(weekly) <= MOST_WEEKS
    assert weekly[-1].counts.runs == 1, "the last is the week of the latest call"


def test_a_trend_over_builds_is_of_every_build_and_of_what_else_is_asked_for(
    manager_client: CountedClient, script: Script
) -> None:
    for number in (9, 10):
        run(script, make.build(f"2026.{number}"), met_emma_before=True)
        run(script, Build.objects.get(name=f"2026.{number}"))
    found = stops(manager_client, "build=2026.9&returning=yes")
    assert [(stop.label, stop.counts.runs) for stop in found] == [("2026.9", 1), ("2026.10", 1)]
