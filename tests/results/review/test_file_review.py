"""Filing a review: beside the tester's row, once, on what the tester says now."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection, transaction

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.webhooks.models import Delivery, Endpoint
from results.filing.correct_result import ReviewedError, correct_result, filing_of
from results.models import Hold, MonthCount, MonthTag, ProblemOrder, QueuedFor, Result, Review, Source
from results.review.file_review import CorrectedMeanwhileError, Judged, file_review
from results.review.hold_result import begin_review, let_go
from results.review.keep_draft import keep_draft
from results.review.open_to import AllInError, FiledError, HeldError, OwnResultError
from results.review.standing import reviewed_results, standing_problems

from .conftest import NOW, Waiting, reviewer

pytestmark = [pytest.mark.data_layer]
AS_FILED = Judged(("too_long", "cut_in"))
OTHERWISE = Judged(("cut_in", "flat_delivery"), "It is the voice.")
LAPSED = NOW + timedelta(minutes=15)


def file_as(person: User, result: Result, judged: Judged = AS_FILED, **more: Any) -> Review:
    return file_review(person, result.pk, judged, **{"based_on": 1, "now": NOW, **more})


def test_the_testers_row_stays_as_it_is_and_the_review_stands_beside_it(rae: User, waiting: Waiting) -> None:
    result = waiting()
    before = Result.objects.filter(pk=result.pk).values().get()
    review = file_as(rae, result, OTHERWISE)
    after = Result.objects.filter(pk=result.pk).values().get()
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"reviewed_at", "queued_for"}
    assert list(result.problems.values_list("tag", flat=True)) == ["too_long", "cut_in"]
    assert list(review.problems.values_list("tag", "position", "rank")) == [("cut_in", 1, 1), ("flat_delivery", 2, 2)]
    assert (review.stands, review.confirms, review.reason) == (True, False, "It is the voice.")
    assert (after["reviewed_at"], after["queued_for"]) == (NOW, None)


def test_what_is_confirmed_keeps_what_is_known_of_its_order(rae: User, waiting: Waiting) -> None:
    result = waiting(ranks=(1, None), problem_order=ProblemOrder.BIGGEST)
    review = file_as(rae, result)
    assert review.confirms
    assert review.problem_order == ProblemOrder.BIGGEST
    assert list(review.problems.values_list("rank", flat=True)) == [1, None]


def test_tags_as_reviewed_are_those_of_the_review_that_stands(rae: User, waiting: Waiting) -> None:
    reviewed, other = waiting(), waiting()
    file_as(rae, reviewed, OTHERWISE)
    rows = Result.objects.all()
    assert {problem.tag for problem in standing_problems(rows)} == {"cut_in", "flat_delivery"}
    assert list(reviewed_results(rows)) == [reviewed]
    assert other.reviews.count() == 0


def test_the_counts_as_reviewed_go_with_it_and_those_as_filed_stay(rae: User, waiting: Waiting) -> None:
    result = waiting()
    file_as(rae, result, OTHERWISE)
    assert sum(count.reviewed for count in MonthCount.objects.all()) == 1
    counted = MonthTag.objects.filter(source=Source.REVIEWED, tagged__gt=0)
    assert set(counted.values_list("tag", "tagged", "biggest")) == {("cut_in", 1, 1), ("flat_delivery", 1, 0)}


def test_its_tester_can_correct_nothing_from_then_on(rae: User, waiting: Waiting) -> None:
    result = waiting()
    file_as(rae, result)
    with pytest.raises(ReviewedError):
        correct_result(result.tester, result, filing_of(result), based_on=1)


def test_a_correction_under_the_reviewers_hands_is_told_and_nothing_is_filed(rae: User, waiting: Waiting) -> None:
    result = waiting()
    begin_review(rae, result, NOW)
    Result.objects.filter(pk=result.pk).update(version=2)
    with pytest.raises(CorrectedMeanwhileError):
        file_as(rae, result)
    assert Review.objects.get().filed_at is None
    assert file_as(rae, result, based_on=2).result_version == 2


def test_it_is_filed_once_and_the_result_is_let_go_of(rae: User, waiting: Waiting) -> None:
    result = waiting()
    begin_review(rae, result, NOW)
    filed = file_as(rae, result)
    assert not Hold.objects.exists()
    with pytest.raises(FiledError) as again:
        file_as(rae, result, OTHERWISE)
    assert again.value.review == filed
    assert Review.objects.count() == 1


def test_nobody_reviews_their_own(rae: User, waiting: Waiting) -> None:
    result = waiting(tester=rae)
    with pytest.raises(OwnResultError):
        begin_review(rae, result, NOW)
    with pytest.raises(OwnResultError):
        file_as(rae, result)


def test_the_trail_says_who_reviewed_and_nothing_of_what_they_found(rae: User, waiting: Waiting) -> None:
    result = waiting()
    file_as(rae, result, OTHERWISE)
    line = AuditEntry.objects.get(action="reviewed a result")
    assert (line.actor, line.details, line.script) == (rae, {}, "")
    assert re.fullmatch(r"review [0-9a-f]{10}", line.target), "nor of which result: gold goes on to look unreviewed"


def test_an_endpoint_is_told_when_a_review_stands_and_not_before(
    rae: User, ron: User, manager: User, waiting: Waiting, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    Endpoint.objects.create(**_endpoint(manager))
    result = waiting()
    file_as(rae, result)
    file_as(ron, result, OTHERWISE)
    assert not Delivery.objects.filter(kind="result.reviewed").exists()
    settings.REVIEWERS_PER_RESULT = 1
    file_as(rae, waiting())
    assert Delivery.objects.filter(kind="result.reviewed").count() == 1


def _endpoint(owner: User) -> dict[str, Any]:
    return {
        "owner": owner,
        "url": "https://hooks.example.org/emma",
        "kinds": ["result.reviewed"],
        "secret": "whsec_" + "c2VjcmV0" * 4,
    }


# --- what was begun goes on ---------------------------------------------------------------------------


def test_whoever_goes_on_after_the_lapse_files_if_nobody_took_it(rae: User, waiting: Waiting) -> None:
    result = waiting()
    begin_review(rae, result, NOW)
    assert file_as(rae, result, now=LAPSED + timedelta(days=3)).stands


def test_if_another_took_it_and_one_review_is_wanted_it_is_theirs(rae: User, ron: User, waiting: Waiting) -> None:
    result = waiting()
    begin_review(rae, result, NOW)
    begin_review(ron, result, LAPSED)
    with pytest.raises(HeldError) as held:
        file_as(rae, result, now=LAPSED)
    assert held.value.hold.reviewer == ron
    file_as(ron, result, now=LAPSED)
    with pytest.raises(AllInError):
        file_as(rae, result, now=LAPSED)


def test_if_another_took_it_and_two_are_wanted_both_file_one_after_the_other(
    rae: User, ron: User, waiting: Waiting, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    result = waiting()
    begin_review(rae, result, NOW)
    begin_review(ron, result, LAPSED)
    with pytest.raises(HeldError):
        file_as(rae, result, now=LAPSED)
    assert Hold.objects.get().reviewer == ron, "somebody else's hold is not let go of"
    file_as(ron, result, now=LAPSED)
    file_as(rae, result, now=LAPSED)
    assert Review.objects.filed().count() == 2


@pytest.mark.parametrize("is_one_filed", [False, True])
def test_whoever_began_is_told_the_same_whether_or_not_there_is_a_review_already(
    is_one_filed: bool, rae: User, ron: User, waiting: Waiting, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    third, result = reviewer("Third"), waiting()
    if is_one_filed:
        file_as(ron, result)
    begin_review(rae, result, NOW)
    let_go(rae, result)
    begin_review(third, result, NOW)
    fields = {"reason": "The voi"}
    kept = keep_draft(rae, result.pk, fields, result_version=1, based_on=0, now=NOW)
    assert isinstance(kept.error, HeldError)
    assert kept.hold is None
    with pytest.raises(HeldError) as held:
        file_as(rae, result)
    assert held.value.hold.reviewer == third
    let_go(third, result)
    assert keep_draft(rae, result.pk, fields, result_version=1, based_on=1, now=NOW).error is None


def test_what_one_has_in_hand_nobody_else_begins(rae: User, ron: User, waiting: Waiting) -> None:
    result = waiting()
    begin_review(rae, result, NOW)
    with pytest.raises(HeldError):
        begin_review(ron, result, NOW)
    assert not ron.reviews.exists()


# --- several reviewers ----------------------------------------------------------------------------------


def test_a_result_waits_until_all_reviews_are_in_and_then_for_a_pick(
    rae: User, ron: User, waiting: Waiting, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    result = waiting(QueuedFor.DISAGREEMENT)
    file_as(rae, result)
    result.refresh_from_db()
    assert (result.queued_for, result.reviewed_at) == (QueuedFor.DISAGREEMENT, NOW)
    file_as(ron, result, OTHERWISE)
    result.refresh_from_db()
    assert result.queued_for == QueuedFor.PICK
    assert not Review.objects.filter(stands=True).exists()


def test_a_result_that_nothing_speaks_for_waits_once_somebody_picked_it(
    rae: User, waiting: Waiting, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    result = waiting(None)
    begin_review(rae, result, NOW)
    result.refresh_from_db()
    assert result.queued_for == QueuedFor.BY_HAND
    file_as(rae, result)
    result.refresh_from_db()
    assert result.queued_for == QueuedFor.BY_HAND


@pytest.mark.django_db(transaction=True)
def test_of_several_who_file_at_the_same_moment_only_as_many_as_are_wanted_do(
    waiting: Waiting, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 3
    result, people = waiting(), [reviewer() for _ in range(8)]
    for person in people:
        with transaction.atomic():
            Review.objects.create(result=result, reviewer=person)
    start = Barrier(len(people))

    def act(person: User) -> bool:
        start.wait()
        try:
            return file_as(person, result).filed_at is not None
        except AllInError:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(len(people)) as pool:
        assert sum(pool.map(act, people)) == 3
    assert Review.objects.filed().count() == 3
    assert Result.objects.get().queued_for == QueuedFor.PICK
