"""Counts of ratings and tags, read from the results: by what, of whom, and in whose time zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest
from pytest_django import Settings
from pytest_django.fixtures import DjangoAssertNumQueries

from emma_eval.accounts.models import User
from results.counts.read_counts import RatingCounts, TagCount, read_rows, read_tags
from results.counts.site_dates import shifts_of
from results.models import Result, ReviewedProblem, Source
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def review(result: Result, reviewer: User, *tags: str, stands: bool = True) -> None:
    made = result.reviews.create(reviewer=reviewer, filed_at=at("2026-10-01T09:00"), stands=stands)
    for place, tag in enumerate(tags, 1):
        ReviewedProblem.objects.create(review=made, tag=tag, position=place, rank=place)


def test_each_rating_is_counted_by_dimension_in_one_query(
    tester: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    script, camera, build = make.script("talk"), make.script("show", uses_camera=True), make.build("2026.43")
    make.result(tester, script, build, ratings=2)
    make.result(tester, script, build, ratings=5, content=1)
    make.result(tester, camera, build, ratings=4)
    make.result(tester, camera, build, never_started=True, camera_used=False)
    with django_assert_num_queries(1):
        found = read_rows(Result.objects.all(), ("script",))
    assert found[("talk",)].runs == 2
    assert found[("talk",)].without_camera == 2
    assert found[("talk",)].counts["content"] == (1, 1, 0, 0, 0)
    assert found[("talk",)].counts["voice_audio"] == (0, 1, 0, 0, 1)
    assert found[("talk",)].n("vision") == 0
    assert (found[("show",)].runs, found[("show",)].never_started, found[("show",)].without_camera) == (1, 1, 0)
    assert found[("show",)].counts["vision"] == (0, 0, 0, 1, 0)


def test_the_parts_add_up_to_the_whole(tester: User) -> None:
    scripts, build = [make.script(), make.script(uses_camera=True)], make.build()
    for ratings in (1, 3, 3, 5):
        for script in scripts:
            make.result(tester, script, build, ratings=ratings, met_emma_before=ratings == 3)
    parts = read_rows(Result.objects.all(), ("script", "met_emma_before"))
    assert len(parts) == 4
    assert sum(parts.values(), RatingCounts()) == read_rows(Result.objects.all())[()]


def test_nothing_filed_has_no_key(db: None) -> None:
    assert read_rows(Result.objects.all()) == {}
    assert read_rows(Result.objects.all(), ("script",)) == {}
    assert read_tags(Result.objects.all(), Source.FILED) == {}
    assert read_tags(Result.objects.all(), Source.REVIEWED, ("week",)) == {}


def test_what_nothing_is_counted_by_is_refused(db: None) -> None:
    with pytest.raises(ValueError, match="comment"):
        read_rows(Result.objects.all(), ("comment",))


def test_tags_as_filed_and_as_reviewed_are_never_mixed(tester: User, eval_member: User, manager: User) -> None:
    script, build = make.script("talk"), make.build()
    first = make.result(tester, script, build, problems=("cut_in", "too_long"))
    second = make.result(tester, script, build, problems=("cut_in",), ranks=(None,))
    make.result(tester, script, build, problems=("stuck_start",), never_started=True)
    review(first, eval_member, "too_long", "off_topic")
    review(first, manager, "flat_delivery", stands=False)
    review(second, manager, "cut_in", stands=False)
    filed = read_tags(Result.objects.all(), Source.FILED)[()]
    assert (filed.n, filed.source) == (3, Source.FILED)
    assert filed.tags == {"cut_in": TagCount(2, 1), "too_long": TagCount(1, 0), "stuck_start": TagCount(1, 1)}
    reviewed = read_tags(Result.objects.all(), Source.REVIEWED, ("script",))[("talk",)]
    assert (reviewed.n, reviewed.source) == (1, Source.REVIEWED)
    assert reviewed.tags == {"too_long": TagCount(1, 1), "off_topic": TagCount(1, 0)}
    assert read_rows(Result.objects.all())[()].reviewed == 1


def test_a_review_that_finds_nothing_is_counted_too(tester: User, eval_member: User) -> None:
    review(make.result(tester, make.script(), make.build(), problems=("cut_in",)), eval_member)
    found = read_tags(Result.objects.all(), Source.REVIEWED)[()]
    assert (found.n, found.tags) == (1, {})
    assert found.of("cut_in") == TagCount(0, 0)


EDGES = [
    # zone, moment (UTC), Monday of its week, first day of its month
    ("Europe/London", "2026-03-29T00:59:59", "2026-03-23", "2026-03-01"),  # the clocks go forward at 01:00
    ("Europe/London", "2026-03-31T22:59:59", "2026-03-30", "2026-03-01"),  # already summer time: 23:59:59
    ("Europe/London", "2026-03-31T23:00:00", "2026-03-30", "2026-04-01"),
    ("Europe/London", "2026-10-25T23:59:59", "2026-10-19", "2026-10-01"),  # the clocks went back at 01:00
    ("Europe/London", "2026-10-26T00:00:00", "2026-10-26", "2026-10-01"),
    ("Europe/London", "2026-10-25T01:30:00", "2026-10-19", "2026-10-01"),  # the second 01:30 of that day
    ("America/New_York", "2026-03-09T03:59:59", "2026-03-02", "2026-03-01"),  # Sunday, an hour later than a week before
    ("America/New_York", "2026-03-09T04:00:00", "2026-03-09", "2026-03-01"),
    ("America/New_York", "2026-11-01T03:59:59", "2026-10-26", "2026-10-01"),  # before the clocks go back that day
    ("America/New_York", "2026-11-01T04:00:00", "2026-10-26", "2026-11-01"),
    ("America/New_York", "2026-11-02T04:59:59", "2026-10-26", "2026-11-01"),  # after: midnight is at 05:00
    ("America/New_York", "2026-11-02T05:00:00", "2026-11-02", "2026-11-01"),
    ("Asia/Hong_Kong", "2026-02-28T15:59:59", "2026-02-23", "2026-02-01"),
    ("Asia/Hong_Kong", "2026-02-28T16:00:00", "2026-02-23", "2026-03-01"),
    ("Asia/Hong_Kong", "2026-12-31T16:00:00", "2026-12-28", "2027-01-01"),  # the week stays the old year's
    ("Asia/Hong_Kong", "2027-01-03T16:00:00", "2027-01-04", "2027-01-01"),
]


ZONES = ["Europe/London", "America/New_York", "Asia/Hong_Kong", "Australia/Lord_Howe", "Africa/Casablanca", "UTC"]


@pytest.mark.parametrize("zone", ZONES)
def test_any_moment_lies_in_the_week_and_month_of_the_sites_calendar(
    zone: str, tester: User, settings: Settings
) -> None:
    settings.TIME_ZONE = zone
    rng, site, made = Random(zone), ZoneInfo(zone), make.result(tester, make.script(), make.build())
    changes = [begin for begin, _ in shifts_of(site, 2028)]
    moments = [begin + timedelta(seconds=second) for begin in changes[:12] for second in (-1, 0, 1)]
    moments += [at("2001-01-01T00:00") + timedelta(seconds=rng.randrange(800_000_000)) for _ in range(60)]
    for moment in moments:
        Result.objects.filter(pk=made.pk).update(called_at=moment)
        day = moment.astimezone(site).date()
        key = (day - timedelta(days=day.weekday()), day.replace(day=1))
        assert list(read_rows(Result.objects.all(), ("week", "month"))) == [key], moment


@pytest.mark.parametrize(("zone", "moment", "monday", "month"), EDGES)
def test_weeks_and_months_begin_at_the_sites_midnight(
    zone: str, moment: str, monday: str, month: str, tester: User, settings: Settings
) -> None:
    settings.TIME_ZONE = zone
    make.result(tester, make.script(), make.build(), called_at=at(moment), problems=("cut_in",))
    key = (date.fromisoformat(monday), date.fromisoformat(month))
    assert list(read_rows(Result.objects.all(), ("week", "month"))) == [key]
    assert list(read_tags(Result.objects.all(), Source.FILED, ("week", "month"))) == [key]
