"""How far testers agree: worked out beside the pages, of what each person may know of."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import krippendorff
import numpy as np
import pytest
from django.conf import settings
from django.utils import timezone

from emma_eval.accounts.keys import least_key_at
from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.counts.changes import SLACK
from results.counts.read_agreement import read_agreement, read_every_agreement
from results.counts.when_agreement import LOOKED_EVERY, NOT_YET
from results.counts.work_out_agreement import work_out_agreement as work_out
from results.filing.correct_result import correct_result, filing_of
from results.filing.file_result import file_result
from results.filing.rules import Filing, Ratings
from results.models import DIMENSION_KEYS, Agreement, Result
from results.tasks import work_out_agreement as hourly
from scripts_catalog.models import Build, Script
from scripts_catalog.publish_version import publish_script, publish_version
from scripts_catalog.wording import Wording
from tests import make

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]

NOW = datetime(2026, 10, 1, 9, tzinfo=UTC)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def testers(db: None) -> list[User]:
    return [make.user(None, Role.TESTER, is_trained=True) for _ in range(3)]


@pytest.fixture
def builds(db: None) -> list[Build]:
    return [make.build("2026.42"), make.build("2026.43")]


def rate(testers: list[User], script: Script, build: Build, *ratings: int, **fields: Any) -> None:
    """One result of each tester, all of whose ratings are the same."""
    for tester, rating in zip(testers, ratings, strict=False):
        make.result(tester, script, build, ratings=rating, **fields)


def test_alpha_is_that_of_the_package_overall_and_of_each_script_and_build(
    testers: list[User], builds: list[Build]
) -> None:
    talk, show = make.script("talk"), make.script("show", uses_camera=True)
    rate(testers, talk, builds[0], 1, 2, 2)
    rate(testers, talk, builds[1], 4, 4, 5)
    rate(testers, show, builds[0], 3, 3)
    rate(testers, show, builds[1], 5)  # by one alone: with nobody to agree with
    assert work_out(NOW, rng())
    user = testers[0]
    found = read_agreement(user)["content"]
    said = krippendorff.alpha(
        [[1, 4, 3], [2, 4, 3], [2, 5, np.nan]], level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5]
    )
    assert found.alpha == pytest.approx(said)
    assert (found.units, found.ratings, found.testers, found.worked_out_at) == (3, 8, 3, NOW)
    assert (found.low, found.high) == (None, None)  # of three units nothing more can be said
    of_talk = read_agreement(user, script="talk")["content"]
    assert of_talk.alpha == pytest.approx(krippendorff.alpha([[1, 4], [2, 4], [2, 5]], level_of_measurement="ordinal"))
    of_build = read_agreement(user, build="2026.42")["content"]
    assert (of_build.units, of_build.ratings) == (2, 5)
    vision = read_agreement(user)["vision"]
    assert (vision.alpha, vision.units, vision.ratings, vision.testers) == (None, 1, 2, 2)
    assert vision.why == "All ratings are the same, so agreement can’t be told from habit."
    assert read_agreement(user, script="show", build="")["content"].why == vision.why


def test_with_units_enough_there_is_an_interval_and_the_same_again(testers: list[User]) -> None:
    script = make.script()
    for number in range(8):
        rate(testers, script, make.build(), 1 + number % 5, 1 + number % 5, 1 + (number + number % 2) % 5)
    work_out(NOW, rng())
    first = read_agreement(testers[0])["content"]
    assert first.low is not None
    assert first.low < first.alpha < first.high
    Agreement.objects.all().delete()
    work_out(NOW, rng())
    again = read_agreement(testers[0])["content"]
    assert (again.low, again.alpha, again.high) == (first.low, first.alpha, first.high)


def test_one_tester_agrees_with_nobody(tester: User, builds: list[Build]) -> None:
    script = make.script()
    rate([tester, tester], script, builds[0], 1, 5)
    work_out(NOW, rng())
    found = read_agreement(tester)["content"]
    assert (found.alpha, found.units, found.testers) == (None, 0, 0)
    assert found.why == "No two testers have rated the same script on the same build."


def test_a_testers_rating_is_that_of_their_latest_call(testers: list[User], builds: list[Build]) -> None:
    script = make.script()
    rate(testers[:1], script, builds[0], 5, called_at=NOW - timedelta(days=2))
    rate(testers[:1], script, builds[0], 1, called_at=NOW - timedelta(days=9))  # filed later, of an earlier call
    rate(testers[1:2], script, builds[0], 5)
    rate(testers, script, builds[1], 2, 2)
    make.result(testers[2], script, builds[0], never_started=True)
    work_out(NOW, rng())
    found = read_agreement(testers[0])["content"]
    assert (found.alpha, found.ratings) == (1.0, 4)


def test_what_only_the_trained_may_know_of_is_in_their_figures_alone(
    tester: User, testers: list[User], builds: list[Build]
) -> None:
    open_, covered, once = make.script("open"), make.script("covered", area="safety"), make.script("once")
    for build in builds:
        rate(testers, open_, build, 2, 4, 4)
        rate(testers, covered, build, 1, 5, 1)
        rate(testers, once, build, 5, 1, 1, filed_as_safety=True)
    work_out(timezone.now() + timedelta(hours=1), rng())
    assert read_agreement(tester)["content"].units == 2
    assert read_agreement(testers[0])["content"].units == 6
    for slug in ("covered", "once"):
        assert read_agreement(tester, script=slug) == {}
        assert read_agreement(testers[0], script=slug)["content"].units == 2


def test_a_script_that_moves_into_safety_is_in_nobodys_open_figures_from_that_moment(
    tester: User, testers: list[User], builds: list[Build]
) -> None:
    script = make.script("bad-news-day")
    rate(testers, script, builds[0], 2, 4, 4)
    work_out(timezone.now() - timedelta(hours=2), rng())
    assert read_agreement(tester)["content"].units == 1
    assert script.latest is not None
    wording = replace(script.latest.wording, area="safety")
    publish_version(script, wording, by=None, started_from=script.latest.pk)
    assert read_agreement(tester) == {}
    assert read_agreement(tester, build="2026.42") == {}
    assert read_agreement(testers[0])["content"].units == 1
    work_out(timezone.now() + timedelta(hours=1), rng())
    assert read_agreement(tester)["content"].units == 0


def test_a_script_that_always_was_safety_keeps_nothing_from_the_untrained(
    tester: User, testers: list[User], builds: list[Build]
) -> None:
    """Neither on a new site, whose scripts were shipped a moment ago, nor when such a script is written anew."""
    rate(testers, make.script("open"), builds[0], 2, 4, 4)
    first = publish_script("quiet", wording_of(make.script("pattern"), area="safety"), by=None, is_shipped=True)
    work_out(timezone.now(), rng())
    before = read_every_agreement(tester)
    assert {row.script for row in before} == {"", "open"}
    wording = replace(first.wording, title="Quiet, anew")
    assert publish_version(first.script, wording, by=None, started_from=first.pk, is_shipped=True)
    assert read_every_agreement(tester) == before


def test_a_script_that_moved_into_safety_and_was_written_anew_there_did_move(
    tester: User, testers: list[User], builds: list[Build]
) -> None:
    script = make.script("bad-news-day")
    rate(testers, script, builds[0], 2, 4, 4)
    work_out(timezone.now(), rng())
    for title in ("Moved", "Moved, and anew"):
        assert script.latest is not None
        wording = wording_of(script, area="safety", title=title)
        publish_version(script, wording, by=None, started_from=script.latest.pk)
        script.refresh_from_db()
        assert read_every_agreement(tester) == []
    assert work_out(timezone.now() + timedelta(minutes=11), rng()), "at once, for nothing can be read"
    assert read_agreement(tester)["content"].units == 0


def wording_of(script: Script, **changed: str) -> Wording:
    assert script.latest is not None
    return replace(script.latest.wording, **changed)  # type: ignore[arg-type]


def test_it_is_worked_out_anew_when_something_changed_and_an_hour_has_gone(
    testers: list[User], builds: list[Build]
) -> None:
    script, start = make.script(), timezone.now() + timedelta(hours=2)
    assert work_out(start, rng())
    assert not work_out(start + timedelta(hours=3), rng())  # nothing was filed
    assert script.latest is not None
    said = Filing(script.latest, builds[0], NOW, Ratings(4, 3, 4, 2, 4))
    filed = [file_result(tester, uuid.uuid4(), said).result for tester in testers]
    Agreement.objects.update(worked_out_at=timezone.now() - timedelta(minutes=61))
    assert work_out(timezone.now(), rng())
    assert not work_out(timezone.now(), rng())  # not an hour ago
    Agreement.objects.update(worked_out_at=timezone.now() - timedelta(minutes=61))
    assert work_out(timezone.now(), rng())
    assert read_agreement(testers[0])["content"].ratings == 3
    Agreement.objects.update(worked_out_at=timezone.now() - timedelta(minutes=61))
    correct_result(testers[0], filed[0], replace(filing_of(filed[0]), comment="Otherwise."), based_on=1)
    assert work_out(timezone.now(), rng())


def test_what_only_the_trained_may_know_of_moves_no_time_that_the_untrained_read(
    tester: User, testers: list[User], builds: list[Build]
) -> None:
    rate(testers, make.script("open"), builds[0], 2, 4, 4)
    quiet = make.script("quiet", area="safety")
    work_out(timezone.now(), rng())
    earlier = timezone.now() - timedelta(hours=3)
    age_everything(earlier)
    assert quiet.latest is not None
    said = Filing(quiet.latest, builds[0], NOW, Ratings(4, 3, 4, 2, 4))
    filed = [file_result(tester, uuid.uuid4(), said).result for tester in testers]
    correct_result(testers[0], filed[0], replace(filing_of(filed[0]), comment="Otherwise."), based_on=1)
    publish_version(quiet, wording_of(quiet, title="Quiet, anew"), by=None, started_from=quiet.latest.pk)
    publish_script("quieter", wording_of(quiet), by=None)
    before = read_every_agreement(tester)
    assert work_out(timezone.now(), rng())
    assert read_agreement(testers[0])["content"].units == 2
    assert read_every_agreement(tester) == before
    assert {row.worked_out_at for row in read_every_agreement(tester)} == {earlier + SLACK + timedelta(minutes=1)}


@pytest.mark.parametrize("area", ["safety", "everyday"])
def test_a_move_into_safety_or_out_of_it_does_move_it(
    tester: User, testers: list[User], builds: list[Build], area: str
) -> None:
    script = make.script("moving", area="everyday" if area == "safety" else "safety")
    rate(testers, script, builds[0], 2, 4, 4, filed_as_safety=False)
    work_out(timezone.now(), rng())
    age_everything(timezone.now() - timedelta(hours=3))
    assert script.latest is not None
    publish_version(script, wording_of(script, area=area), by=None, started_from=script.latest.pk)
    now = timezone.now() + timedelta(minutes=11)
    assert work_out(now, rng())
    assert read_agreement(tester)["content"].worked_out_at == now
    assert read_agreement(tester)["content"].units == (0 if area == "safety" else 1)


def age_everything(moment: datetime) -> None:
    """As if all results were filed and all was worked out at this time."""
    for result in Result.objects.all():
        Result.objects.filter(pk=result.pk).update(
            id=result.pk - least_key_at(timezone.now()) + least_key_at(moment) - 1
        )
    Agreement.objects.update(worked_out_at=moment + SLACK + timedelta(minutes=1))


def test_while_nothing_could_be_told_it_does_not_wait_an_hour(testers: list[User], builds: list[Build]) -> None:
    script, now = make.script(), timezone.now()
    assert work_out(now - timedelta(minutes=30), rng())
    assert script.latest is not None
    for tester in testers:
        file_result(tester, uuid.uuid4(), Filing(script.latest, builds[0], NOW, Ratings(4, 3, 4, 2, 4)))
    assert work_out(now, rng())
    assert read_agreement(testers[0])["content"].units == 1
    file_result(testers[0], uuid.uuid4(), Filing(script.latest, builds[1], NOW, Ratings(4, 3, 4, 2, 4)))
    assert not work_out(now + timedelta(minutes=59), rng())
    assert work_out(now + timedelta(minutes=61), rng())


def test_pages_know_how_often_the_task_looks() -> None:
    said = settings.CELERY_BEAT_SCHEDULE["work out agreement"]
    assert (said["task"], said["schedule"]) == (hourly.name, LOOKED_EVERY.total_seconds())
    assert NOT_YET.endswith("looked at every 5 minutes.")


def test_what_is_gone_is_told_of_no_more(testers: list[User], builds: list[Build]) -> None:
    script = make.script("talk")
    rate(testers, script, builds[0], 2, 4, 4)
    hourly()
    assert len(read_agreement(testers[0], build="2026.42")) == len(DIMENSION_KEYS)
    script.results.update(build=builds[1].sort_key)
    Agreement.objects.update(worked_out_at=timezone.now() - timedelta(hours=5))
    file_result(testers[0], uuid.uuid4(), Filing(script.latest, builds[1], NOW, Ratings(4, 3, 4, 2, 4)))  # type: ignore[arg-type]
    hourly()
    assert read_agreement(testers[0], build="2026.42") == {}
    assert len(read_agreement(testers[0], build="2026.43")) == len(DIMENSION_KEYS)
    hourly()
