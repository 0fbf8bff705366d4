"""Counts are kept in the transaction that files, corrects, imports or reviews: they are what is counted anew."""

from __future__ import annotations

import random
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import Settings
from pytest_django.fixtures import DjangoAssertNumQueries

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.counts.keep_counts import Tally, count_result, month_of
from results.counts.read_counts import (
    RatingCounts,
    TagCount,
    read_month_tags,
    read_months,
    read_rows,
    read_tags,
)
from results.counts.rebuild_counts import compare_counts
from results.filing.correct_result import ReviewedError, correct_result, filing_of
from results.filing.file_result import file_result
from results.filing.rules import Filing, Ratings
from results.models import MonthCount, MonthTag, ProblemOrder, Result, Source
from results.old_sheet.import_sheet import import_sheet
from results.review.file_review import Judged, file_review
from results.review.pick_review import pick_review
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, RunCount, Script
from tests import make
from tests.results.old_sheet.sheet import as_csv, row

pytestmark = [pytest.mark.data_layer]

NONE = Ratings(None, None, None, None, None)
MOMENTS = [
    datetime(2026, 2, 28, 15, 59, 59, tzinfo=UTC),  # the last second of February, in Hong Kong
    datetime(2026, 2, 28, 16, 0, tzinfo=UTC),
    datetime(2026, 12, 31, 20, 0, tzinfo=UTC),  # already next year's
]
TAGS = ["cut_in", "too_long", "flat_delivery", "stuck_start"]


def filing(script: Script, build: Build, **changes: Any) -> Filing:
    assert script.latest is not None
    return replace(Filing(script.latest, build, MOMENTS[0], Ratings(4, 3, 4, 2, 4), problems=("cut_in",)), **changes)


def filed(tester: User, said: Filing) -> Result:
    return file_result(tester, uuid.uuid4(), said).result


# --- one act at a time --------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_filing_is_counted_under_its_script_build_and_month(trained_tester: User) -> None:
    script, build = make.script("bad-news-day", area="safety"), make.build("2026.43")
    filed(trained_tester, filing(script, build, problems=("too_long", "cut_in"), met_emma_before=True))
    filed(trained_tester, filing(script, build, called_at=MOMENTS[1], ratings=NONE, never_started=True, problems=()))
    february, march = MonthCount.objects.order_by("month")
    assert (february.month, february.runs, february.without_camera) == (date(2026, 2, 1), 1, 1)
    assert (february.filed_as_safety, february.met_emma_before) == (True, True)
    assert (february.content_3, february.emotional_fit_4, february.vision_1) == (1, 1, 0)
    assert (march.month, march.runs, march.never_started, march.content_3) == (date(2026, 3, 1), 0, 1, 0)
    assert set(MonthTag.objects.values_list("tag", "source", "tagged", "biggest")) == {
        ("too_long", "filed", 1, 1),
        ("cut_in", "filed", 1, 0),
    }


@pytest.mark.django_db
def test_a_filing_asks_twice_for_it_whatever_is_tagged(tester: User, django_assert_num_queries: Any) -> None:
    problems = tuple(taxonomy.TAG_BY_KEY)
    made = make.result(tester, make.script(), make.build(), problems=problems)
    of_it = list(made.problems.all())
    with django_assert_num_queries(3):  # the run count, the month, all its tags
        count_result(made, of_it)


@pytest.mark.django_db
def test_a_correction_takes_out_what_was_and_counts_what_is(tester: User) -> None:
    script, old, new = make.script(), make.build("2026.42"), make.build("2026.43")
    result = filed(tester, filing(script, old))
    now = replace(
        filing_of(result), build=new, called_at=MOMENTS[2], problems=("too_long",), ratings=Ratings(1, 1, 1, 1, 1)
    )
    correct_result(tester, result, now, based_on=1)
    assert read_months(tester, by=("build", "month")) == {
        (new.sort_key, date(2027, 1, 1)): read_rows(Result.objects.all())[()]
    }
    assert read_month_tags(tester, Source.FILED)[()].tags == {"too_long": TagCount(1, 1)}
    assert compare_counts() == []


@pytest.mark.django_db
def test_a_correction_that_all_results_of_a_call_share_moves_each_of_them(tester: User) -> None:
    one, other, build, call = make.script(), make.script(), make.build(), uuid.uuid4()
    first = file_result(tester, uuid.uuid4(), filing(one, build), call_uuid=call).result
    file_result(tester, uuid.uuid4(), filing(other, build), call_uuid=call)
    correct_result(tester, first, replace(filing_of(first), met_emma_before=True), based_on=1)
    assert {key: counts.runs for key, counts in read_months(tester, by=("met_emma_before",)).items()} == {(True,): 2}
    assert compare_counts() == []


@pytest.mark.django_db
def test_counts_that_are_out_of_step_keep_nobody_from_correcting(tester: User) -> None:
    result = filed(tester, filing(make.script(), make.build(), problems=("cut_in", "too_long")))
    for lost in (MonthCount, MonthTag, RunCount):
        lost.objects.all().delete()
    correct_result(tester, result, replace(filing_of(result), problems=("too_long",), build=make.build()), based_on=1)
    result.refresh_from_db()
    MonthTag.objects.update(tagged=0, biggest=0)
    MonthCount.objects.update(runs=0)
    correct_result(tester, result, replace(filing_of(result), problems=("cut_in", "too_long")), based_on=2)
    assert Result.objects.get().version == 3


@pytest.mark.django_db
def test_a_count_of_reviews_knows_only_the_one_that_stands(tester: User, eval_member: User) -> None:
    result = filed(tester, filing(make.script(), make.build()))
    file_review(eval_member, result.pk, Judged(("too_long",), "She went on."), based_on=1, now=timezone.now())
    found = read_month_tags(tester, Source.REVIEWED)[()]
    assert (found.n, found.tags) == (1, {"too_long": TagCount(1, 1)})
    assert read_month_tags(tester, Source.FILED)[()].tags == {"cut_in": TagCount(1, 1)}
    assert read_months(tester)[()].reviewed == 1


@pytest.mark.django_db
def test_a_result_that_is_not_filed_is_not_counted(tester: User) -> None:
    script, build = make.script(), make.build()
    with transaction.atomic():
        filed(tester, filing(script, build))
        assert MonthCount.objects.exists()
        transaction.set_rollback(True)
    assert not MonthCount.objects.exists()
    assert not MonthTag.objects.exists()


# --- who may see them --------------------------------------------------------------------------------


@pytest.mark.django_db
def test_what_only_the_trained_may_know_of_is_in_nobody_elses_counts(tester: User, trained_tester: User) -> None:
    open_, once, covered = make.script("open"), make.script("once", area="safety"), make.script("now")
    build = make.build()
    for script in (open_, once, covered):
        filed(trained_tester, filing(script, build))
    Script.objects.filter(slug="once").update(area="everyday")
    Script.objects.filter(slug="now").update(area="safety")
    assert set(read_months(tester, by=("script",))) == {("open",)}
    assert read_month_tags(tester, Source.FILED)[()].n == 1
    assert set(read_months(trained_tester, by=("script",))) == {("open",), ("once",), ("now",)}
    assert read_month_tags(trained_tester, Source.FILED)[()].of("cut_in").tagged == 3


@pytest.mark.django_db
def test_months_are_narrowed_like_the_rows(tester: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    everyday, turns = make.script("talk"), make.script("turns", area="turns")
    old, new = make.build("2026.9"), make.build("2026.10")
    for script, build, moment in ((everyday, old, 0), (everyday, new, 1), (turns, new, 2)):
        filed(tester, filing(script, build, called_at=MOMENTS[moment]))
    with django_assert_num_queries(2):  # the first: whether they are trained
        assert set(read_months(tester, build="2026.10", by=("script",))) == {("talk",), ("turns",)}
    assert set(read_months(tester, area="turns", by=("month",))) == {(date(2027, 1, 1),)}
    spring = (date(2026, 3, 1), date(2026, 5, 1))
    assert read_months(tester, months=spring, by=("script", "build")).keys() == {("talk", new.sort_key)}
    assert read_month_tags(tester, Source.FILED, script="talk", months=spring)[()].n == 1
    assert read_months(tester, script="none of ours") == {}


# --- months --------------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("zone", ["Europe/London", "America/New_York", "Asia/Hong_Kong"])
def test_every_hour_of_a_year_is_counted_in_the_month_that_the_rows_say(
    zone: str, tester: User, settings: Settings
) -> None:
    settings.TIME_ZONE = zone
    made = make.result(tester, make.script(), make.build())
    changes = [datetime(2026, month, 1, tzinfo=UTC) + timedelta(hours=h) for month in range(1, 13) for h in (-9, 0, 9)]
    for moment in [*changes, datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 11, 1, 5, 30, tzinfo=UTC)]:
        for called_at in (moment, moment - timedelta(seconds=1)):
            Result.objects.filter(pk=made.pk).update(called_at=called_at)
            assert list(read_rows(Result.objects.all(), ("month",))) == [(month_of(called_at),)]


# --- any acts in any order -------------------------------------------------------------------------------


@dataclass
class World:
    """Some scripts, builds and people, and what they did."""

    rng: random.Random
    folder: Path
    scripts: list[Script] = field(default_factory=list)
    builds: list[Build] = field(default_factory=list)
    testers: list[User] = field(default_factory=list)
    reviewers: list[User] = field(default_factory=list)

    @classmethod
    def made(cls, seed: int, folder: Path) -> World:
        return cls(
            random.Random(seed),
            folder,
            [make.script(), make.script(uses_camera=True), make.script(area="safety")],
            [make.build(), make.build()],
            [make.user(None, Role.TESTER, is_trained=True) for _ in range(2)],
            [make.user(None, Role.EVAL_TEAM, is_trained=True) for _ in range(2)],
        )

    def said(self, script: Script) -> Filing:
        rng = self.rng
        tags = tuple(rng.sample(TAGS, rng.randrange(4)))
        common = filing(script, rng.choice(self.builds), called_at=rng.choice(MOMENTS), problems=tags)
        common = replace(common, met_emma_before=rng.random() < 0.5, problem_order=rng.choice(list(ProblemOrder)))
        if rng.random() < 0.2:
            return replace(common, ratings=NONE, never_started=True)
        used = rng.random() < 0.5
        ratings = Ratings(*(rng.randint(1, 5) for _ in range(5)), rng.randint(1, 5) if used else None)
        return replace(common, ratings=ratings, camera_used=used)

    def one(self) -> Result | None:
        found = list(Result.objects.order_by("pk"))
        return self.rng.choice(found) if found else None

    def file(self) -> None:
        filed(self.rng.choice(self.testers), self.said(self.rng.choice(self.scripts)))

    def correct(self) -> None:
        result = self.one()
        if result is None:
            return
        said = replace(self.said(result.script), script_version=result.script_version)
        try:
            correct_result(result.tester, result, said, based_on=result.version)
        except ReviewedError:
            assert result.reviewed_at is not None

    def import_(self) -> None:
        label = taxonomy.TAG_BY_KEY
        rows = [
            row(
                script=self.rng.choice(self.scripts).slug,
                time=f"{self.rng.randint(1, 28)}/{self.rng.randint(1, 3)}/2026 {self.rng.randint(10, 20)}:44",
                build=self.rng.choice(self.builds).name,
                content=str(self.rng.randint(1, 5)),
                voice_problems=label["too_fast"].label,
                biggest=self.rng.choice(["", label["too_fast"].label]),
            )
            for _ in range(3)
        ]
        import_sheet(as_csv(self.folder / f"{uuid.uuid4()}.csv", rows), None, "sheet", only_good=True)

    def review(self) -> None:
        result = self.one()
        if result is None:
            return
        for reviewer in self.reviewers[: site.REVIEWERS_PER_RESULT]:
            if not result.reviews.filed().filter(reviewer=reviewer).exists() and result.tester != reviewer:
                tags = tuple(self.rng.sample(TAGS, self.rng.randrange(3)))
                with transaction.atomic():
                    result.refresh_from_db()
                    if result.reviews.filed().count() < site.REVIEWERS_PER_RESULT:
                        judged = Judged(tags, "Heard again.")
                        file_review(reviewer, result.pk, judged, based_on=result.version, now=timezone.now())

    def pick(self) -> None:
        of_several = [each for each in Result.objects.all() if each.reviews.filed().count() > 1]
        if of_several:
            result = self.rng.choice(of_several)
            pick_review(
                self.reviewers[0], result.pk, self.rng.choice(list(result.reviews.all())).pk, "The clearer one."
            )

    def move(self) -> None:
        """A script into Safety, or out of it: its rows stay as they were filed."""
        Script.objects.filter(pk=self.scripts[0].pk).update(area=self.rng.choice(["safety", "everyday"]))
        self.scripts[0].refresh_from_db()


ACTS: dict[str, Callable[[World], None]] = {
    "file": World.file,
    "correct": World.correct,
    "import": World.import_,
    "review": World.review,
    "pick": World.pick,
    "move": World.move,
}


@pytest.mark.django_db
@pytest.mark.parametrize("reviewers", [1, 2])
def test_whatever_is_done_the_kept_counts_are_those_counted_anew(reviewers: int, tmp_path: Path) -> None:
    done = dict.fromkeys(ACTS, 0)

    @settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(acts=st.lists(st.sampled_from(list(ACTS)), min_size=3, max_size=14), seed=st.integers(0, 2**32))
    def try_one(acts: list[str], seed: int) -> None:
        with transaction.atomic():
            world = World.made(seed, tmp_path)
            for act in ("file", *acts):
                ACTS[act](world)
                done[act] += 1
            assert compare_counts() == []
            assert_read_alike(world.testers[0])
            transaction.set_rollback(True)

    before, site.REVIEWERS_PER_RESULT = site.REVIEWERS_PER_RESULT, reviewers
    try:
        try_one()
    finally:
        site.REVIEWERS_PER_RESULT = before
    assert min(done.values()) > 0


def assert_read_alike(user: User) -> None:
    """What is read from the months is what is read from the rows."""
    rows, by = Result.objects.visible_to(user), ("script", "build", "month", "met_emma_before")
    assert read_months(user, by=by) == read_rows(rows, by)
    assert sum(read_months(user, by=by).values(), RatingCounts()) == read_rows(rows)[()]
    for source in Source:
        assert read_month_tags(user, source, by=by) == read_tags(rows, source, by)


# --- many at once ------------------------------------------------------------------------------------------


def together(acts: list[Callable[[], Any]]) -> list[Any]:
    gate = threading.Barrier(len(acts))

    def one(act: Callable[[], Any]) -> Any:
        gate.wait()
        try:
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(one, acts))


@pytest.mark.django_db(transaction=True)
def test_filing_correcting_and_importing_at_once_lose_no_count_and_never_wait_in_a_ring(tmp_path: Path) -> None:
    testers = [make.user(None, Role.TESTER) for _ in range(8)]
    scripts, builds = [make.script(f"script-{n}") for n in range(4)], [make.build(f"2026.{n}") for n in range(3)]
    first = [[filed(one, filing(script, builds[0])) for script in scripts] for one in testers[:4]]
    sheet = [
        row(script=script.slug, build=build.name, tester=f"{n}@example.test", time=f"{n}/2/2026 {hour}:00")
        for n in range(1, 9)
        for script in scripts
        for hour, build in enumerate(builds, 10)
    ]
    path = as_csv(tmp_path / "sheet.csv", sheet)

    def correct(own: list[Result], rng: random.Random) -> None:
        for result in rng.sample(own, len(own)):
            tags = tuple(rng.sample(TAGS, 3))
            said = replace(filing_of(result), build=rng.choice(builds), problems=tags, called_at=rng.choice(MOMENTS))
            correct_result(result.tester, result, said, based_on=1)

    def file(tester: User, rng: random.Random) -> None:
        for script in rng.sample(scripts, len(scripts)):
            filed(tester, filing(script, rng.choice(builds), problems=tuple(rng.sample(TAGS, 3))))

    acts: list[Callable[[], Any]] = [lambda: import_sheet(path, None, "sheet", only_good=True)]
    acts += [lambda own=own, n=n: correct(own, random.Random(n)) for n, own in enumerate(first)]
    acts += [lambda one=one, n=n: file(one, random.Random(n)) for n, one in enumerate(testers[4:])]
    together(acts)
    assert Result.objects.count() == 16 + 16 + len(sheet)
    assert sum(MonthCount.objects.values_list("runs", flat=True)) == Result.objects.count()
    assert compare_counts() == []


def test_a_tally_that_changes_nothing_writes_nothing(
    tester: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    result = make.result(tester, make.script(), make.build(), problems=("cut_in",))
    problems, tally = list(result.problems.all()), Tally()
    tally.count(result, problems, -1)
    tally.count(result, problems)
    with django_assert_num_queries(0):
        tally.write()
