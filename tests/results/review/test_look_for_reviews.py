"""What comes into the queue: by itself when it is filed, corrected or imported, and by comparing, once an hour."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.filing.correct_result import correct_result, filing_of
from results.filing.file_result import file_result
from results.filing.rules import Filing, Ratings
from results.models import GoldAnswer, QueuedFor, QueueWalk, Result, Review
from results.old_sheet.import_sheet import import_sheet
from results.review import look_for_reviews as looking
from results.review.file_review import Judged, file_review
from results.review.find_disagreement import Given, far_from_the_others, median_of
from results.review.look_for_reviews import look_for_reviews
from results.review.reasons import is_drawn
from scripts_catalog.models import Build, Script
from tests import make
from tests.results.old_sheet.sheet import as_csv
from tests.results.old_sheet.sheet import row as sheet_row

from .conftest import NOW, Waiting, reviewer

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]
GOOD = Ratings(4, 4, 4, 4, 4)
OTHER = "other_content"


@pytest.fixture(autouse=True)
def _nothing_is_drawn(settings: LazySettings) -> None:
    settings.REVIEW_SHARE = 0


def filing(script: Script, build: Build, **changes: Any) -> Filing:
    assert script.latest is not None
    return replace(Filing(script.latest, build, NOW, GOOD, comment="It was odd."), **changes)


def reason_of(result: Result) -> int | None:
    return Result.objects.values_list("queued_for", flat=True).get(pk=result.pk)


# --- when it is filed ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"problems": ("cut_in",)}, None),
        ({"problems": ("cut_in", OTHER)}, QueuedFor.OTHER_TAG),
        ({"ratings": replace(GOOD, content=1)}, QueuedFor.VERY_LOW),
        ({"ratings": replace(GOOD, content=2)}, None),
        ({"ratings": replace(GOOD, content=1), "problems": (OTHER,)}, QueuedFor.OTHER_TAG),
    ],
)
def test_filing_says_why_it_is_to_be_looked_at(
    tester: User, script: Script, build: Build, changes: dict[str, Any], reason: QueuedFor | None
) -> None:
    assert reason_of(file_result(tester, uuid.uuid4(), filing(script, build, **changes)).result) == reason


def test_a_correction_says_it_anew(tester: User, script: Script, build: Build) -> None:
    result = file_result(tester, uuid.uuid4(), filing(script, build, problems=(OTHER,))).result
    correct_result(tester, result, replace(filing_of(result), problems=("cut_in",)), based_on=1)
    assert reason_of(result) is None


def test_an_import_says_it_too(tmp_path: Path, script: Script) -> None:
    rows = [sheet_row(script=script.slug, time="1/3/2026 10:01", content="1"), sheet_row(script=script.slug)]
    import_sheet(as_csv(tmp_path / "s.csv", rows), None, "s.csv")
    assert sorted(Result.objects.values_list("queued_for", flat=True), key=str) == [QueuedFor.VERY_LOW, None]


def test_the_share_is_drawn_from_the_drafts_and_drawn_the_same_again() -> None:
    drafts = [uuid.uuid5(uuid.NAMESPACE_URL, str(number)) for number in range(10_000)]
    drawn = {share: {draft for draft in drafts if is_drawn(draft, share)} for share in (0, 10, 30, 100)}
    assert not drawn[0]
    assert 900 < len(drawn[10]) < 1100
    assert drawn[10] < drawn[30] < drawn[100] == set(drafts)
    assert {draft for draft in drafts if is_drawn(draft, 10)} == drawn[10]


def test_a_tester_who_makes_the_uuid_cannot_choose(settings: LazySettings) -> None:
    """What is drawn depends on a secret: with another one, others are, and no more than by chance the same."""
    drafts = [uuid.uuid5(uuid.NAMESPACE_URL, str(number)) for number in range(10_000)]
    here = {draft for draft in drafts if is_drawn(draft, 10)}
    by_hand = {draft for draft in drafts if int.from_bytes(sha256(draft.bytes).digest()[:4]) * 100 < 10 * 2**32}
    settings.SECRET_KEY = "another secret that is long enough for a site"
    elsewhere = {draft for draft in drafts if is_drawn(draft, 10)}
    for other in (by_hand, elsewhere):
        assert 50 < len(here & other) < 150


def test_what_was_drawn_waits_on_when_the_secret_is_another(
    tester: User, waiting: Waiting, settings: LazySettings
) -> None:
    settings.REVIEW_SHARE = 50
    made = [waiting(QueuedFor.SAMPLE, problems=()) for _ in range(8)]
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = (
        "a new secret that is long enough for it",
        [settings.SECRET_KEY],
    )
    look_for_reviews(NOW)
    for result in made:
        correct_result(tester, result, replace(filing_of(result), comment="More of it."), based_on=1)
    assert {reason_of(result) for result in made} == {QueuedFor.SAMPLE}


# --- results of before ----------------------------------------------------------------------------------


def test_results_of_before_get_in_by_batches_and_once(
    waiting: Waiting, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "BATCH", 3)
    plain = [waiting(None) for _ in range(5)]
    odd = [waiting(None, problems=(OTHER,)) for _ in range(5)]
    assert look_for_reviews(NOW) == 5
    assert {reason_of(result) for result in odd} == {QueuedFor.OTHER_TAG}
    assert {reason_of(result) for result in plain} == {None}
    assert look_for_reviews(NOW + timedelta(hours=1)) == 0
    settings.REVIEW_SHARE = 100
    assert look_for_reviews(NOW + timedelta(hours=2)) == 5
    assert {reason_of(result) for result in plain} == {QueuedFor.SAMPLE}


def test_a_walk_that_was_broken_off_goes_on_where_it_was(waiting: Waiting) -> None:
    made = sorted((waiting(None, problems=(OTHER,)) for _ in range(4)), key=lambda result: result.pk)
    QueueWalk.objects.create(pk=1, share=0, up_to=made[1].pk)
    look_for_reviews(NOW)
    assert [reason_of(result) for result in made] == [None, None, QueuedFor.OTHER_TAG, QueuedFor.OTHER_TAG]


def test_what_was_reviewed_gets_in_no_more_and_gold_moves_as_any_other(
    rae: User, eval_lead: User, waiting: Waiting
) -> None:
    reviewed, gold = waiting(None, problems=(OTHER,)), waiting(None, problems=(OTHER,))
    file_review(rae, reviewed.pk, Judged((OTHER,)), based_on=1, now=NOW)
    GoldAnswer.objects.create(result=gold, tags=[OTHER], why="Plain.", set_by=eval_lead)
    look_for_reviews(NOW)
    assert (reason_of(reviewed), reason_of(gold)) == (None, QueuedFor.OTHER_TAG)


def test_fewer_wanted_reviews_settle_what_has_enough(
    rae: User, ron: User, waiting: Waiting, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 3
    one, two = waiting(), waiting()
    for person, result in ((rae, one), (rae, two), (ron, two)):
        file_review(person, result.pk, Judged(("too_long", "cut_in")), based_on=1, now=NOW)
    settings.REVIEWERS_PER_RESULT = 1
    assert look_for_reviews(NOW) == 2
    assert (reason_of(one), reason_of(two)) == (None, QueuedFor.PICK)
    assert Review.objects.get(stands=True).result == one


# --- results beside each other ----------------------------------------------------------------------------


def rated(result: int, tester: int, content: int | None) -> Given:
    return Given(result, tester, (None, content, None, None, None, None))


@pytest.mark.parametrize(
    ("given", "far"),
    [
        ([(1, 1, 5), (2, 2, 2)], {1, 2}),
        ([(1, 1, 5), (2, 2, 3)], set()),
        ([(1, 1, 5), (2, 1, 1)], set()),  # one person twice is no second opinion
        ([(1, 1, 1), (2, 2, 4), (3, 3, 4), (4, 4, 5)], {1}),  # one stands alone, the others agree
        ([(1, 1, 1), (2, 2, 4), (3, 2, 4), (4, 2, 1)], {1, 2, 3}),  # the other's median is 4; of that one, 1
        ([(1, 1, None), (2, 2, 1)], set()),
        ([(1, 1, 5)], set()),
        ([], set()),
    ],
)
def test_far_is_three_from_the_median_of_the_other_testers(given: list[Any], far: set[int]) -> None:
    assert far_from_the_others([rated(*each) for each in given]) == far


@pytest.mark.parametrize(
    ("counts", "median"),
    [({}, None), ({4: 1}, 4), ({1: 1, 4: 1}, 2.5), ({1: 3, 5: 2}, 1), ({2: 2, 3: 2}, 2.5), ({1: 1, 2: 1, 5: 1}, 2)],
)
def test_the_median_of_counts(counts: dict[int, int], median: float | None) -> None:
    assert median_of(counts) == median


def test_testers_who_disagree_bring_their_results_in_and_agreeing_takes_them_out(
    script: Script, build: Build, tester: User
) -> None:
    other = make.user("tom@example.test", Role.TESTER)
    hers = file_result(tester, uuid.uuid4(), filing(script, build)).result
    his = file_result(other, uuid.uuid4(), filing(script, build, ratings=replace(GOOD, content=1))).result
    now = timezone.now()
    assert look_for_reviews(now) == 2
    assert (reason_of(hers), reason_of(his)) == (QueuedFor.DISAGREEMENT, QueuedFor.DISAGREEMENT)
    assert look_for_reviews(now) == 0
    correct_result(other, his, replace(filing_of(his), ratings=replace(GOOD, content=3)), based_on=1)
    assert look_for_reviews(now) == 1
    assert (reason_of(hers), reason_of(his)) == (None, None)


def test_other_builds_and_scripts_and_calls_that_never_started_are_no_comparison(
    script: Script, build: Build, tester: User
) -> None:
    other = make.user("tom@example.test", Role.TESTER)
    file_result(tester, uuid.uuid4(), filing(script, build))
    low = replace(GOOD, content=2)
    file_result(other, uuid.uuid4(), filing(script, make.build("2026.11"), ratings=replace(low, content=1)))
    file_result(other, uuid.uuid4(), filing(make.script("small-talk"), build, ratings=replace(low, content=1)))
    look_for_reviews(timezone.now())
    assert not Result.objects.filter(queued_for=QueuedFor.DISAGREEMENT).exists()


def test_a_reviewed_result_is_compared_with_and_stays_reviewed(script: Script, build: Build, tester: User) -> None:
    other, rae = make.user("tom@example.test", Role.TESTER), reviewer("Rae")
    hers = file_result(tester, uuid.uuid4(), filing(script, build)).result
    file_review(rae, hers.pk, Judged(()), based_on=1, now=NOW)
    his = file_result(other, uuid.uuid4(), filing(script, build, ratings=replace(GOOD, content=1))).result
    look_for_reviews(timezone.now())
    assert (reason_of(hers), reason_of(his)) == (None, QueuedFor.DISAGREEMENT)
