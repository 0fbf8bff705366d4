"""The next of the queue: the most pressing, for one reviewer at a time, and never the same for two."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier

import pytest
from django.conf import LazySettings
from django.db import connection

from emma_eval.accounts.models import User
from results.models import Hold, QueuedFor, Result, Review
from results.review import take_next as taking
from results.review.file_review import Judged, file_review
from results.review.hold_result import let_go
from results.review.take_next import take_next
from scripts_catalog.models import Script
from tests import make

from .conftest import NOW, Waiting, reviewer

pytestmark = [pytest.mark.data_layer]
LAPSED = NOW + timedelta(minutes=15)


def test_the_most_pressing_goes_first(rae: User, waiting: Waiting) -> None:
    made = [waiting(reason) for reason in (QueuedFor.SAMPLE, QueuedFor.VERY_LOW, QueuedFor.OTHER_TAG)]
    made += [waiting(QueuedFor.DISAGREEMENT), waiting(QueuedFor.DISAGREEMENT), waiting(None)]
    taken = []
    for _ in range(5):
        result = take_next(rae, NOW)
        assert result is not None
        taken.append(result.pk)
        let_go(rae, result)
    assert set(taken[:2]) == {made[3].pk, made[4].pk}
    assert taken[2:] == [made[place].pk for place in (2, 1, 0)]


def test_of_equals_one_of_the_oldest_goes_next_and_nobody_knows_which(
    rae: User, waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "DRAWN_FROM", 4)
    made = [waiting() for _ in range(6)]
    taken = Counter(_taken_and_put_back(rae) for _ in range(200))
    assert set(taken) == {each.pk for each in made[:4]}
    assert min(taken.values()) > 20, "one in four each: 50 of 200"


def _taken_and_put_back(person: User) -> int:
    result = take_next(person, NOW)
    assert result is not None
    Hold.objects.all().delete()
    Review.objects.all().delete()
    return result.pk


def test_a_second_press_takes_no_second_result(rae: User, waiting: Waiting) -> None:
    waiting()
    waiting()
    assert take_next(rae, NOW) == take_next(rae, NOW + timedelta(minutes=14))
    assert Hold.objects.count() == 1


def test_what_somebody_has_in_hand_is_nobody_elses_until_it_lapses(rae: User, ron: User, waiting: Waiting) -> None:
    result = waiting()
    assert take_next(rae, NOW) == result
    assert take_next(ron, LAPSED - timedelta(seconds=1)) is None
    assert take_next(ron, LAPSED) == result
    assert Hold.objects.get().reviewer == ron


def test_what_was_begun_and_left_comes_again_only_when_nothing_else_is_left(rae: User, waiting: Waiting) -> None:
    made = {waiting(), waiting()}
    first = take_next(rae, NOW)
    assert first is not None
    let_go(rae, first)
    second = take_next(rae, NOW)
    assert {first, second} == made
    assert second is not None
    let_go(rae, second)
    assert take_next(rae, NOW) in made


def test_nobody_gets_what_they_filed_themselves(rae: User, waiting: Waiting) -> None:
    waiting(tester=rae)
    assert take_next(rae, NOW) is None


def test_nothing_of_safety_comes_to_the_untrained_whenever_it_became_that(rae: User, waiting: Waiting) -> None:
    filed_so = waiting(script=make.script("quiet-talk", area="safety"))
    moved = make.script("moved")
    by_now = waiting(script=moved)
    Script.objects.filter(pk=moved.pk).update(area="safety")
    trained = reviewer(is_trained=True)
    assert take_next(rae, NOW) is None
    taken = []
    for _ in range(2):
        result = take_next(trained, NOW)
        assert result is not None
        taken.append(result)
        let_go(trained, result)
    assert set(taken) == {filed_so, by_now}


def test_a_training_that_ended_closes_what_was_in_hand(waiting: Waiting) -> None:
    waiting(script=make.script("quiet-talk", area="safety"))
    trained = reviewer(is_trained=True)
    assert take_next(trained, NOW) is not None
    trained.trainings.all().delete()
    assert take_next(User.objects.get(pk=trained.pk), NOW) is None


def test_a_reviewer_who_has_filed_gets_others_while_more_reviews_are_wanted(
    rae: User, ron: User, waiting: Waiting, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    made = {waiting(), waiting()}
    taken = []
    for _ in range(2):
        result = take_next(rae, NOW)
        assert result is not None
        taken.append(result)
        file_review(rae, result.pk, Judged(("too_long", "cut_in")), based_on=1, now=NOW)
    assert set(taken) == made
    assert take_next(rae, NOW) is None
    assert take_next(ron, NOW) in made


# --- at the same moment -----------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_twenty_reviewers_at_once_never_get_the_same_result(waiting: Waiting) -> None:
    """Each takes five, one right after the other; a queue of a hundred is then in hands, each result in one."""
    for _ in range(100):
        waiting()
    reviewers = [reviewer() for _ in range(20)]
    start = Barrier(len(reviewers))

    def take_five(person: User) -> list[int]:
        start.wait()
        try:
            return [pk for _ in range(5) if (pk := _take_and_file(person, NOW))]
        finally:
            connection.close()

    with ThreadPoolExecutor(len(reviewers)) as pool:
        taken = [pk for found in pool.map(take_five, reviewers) for pk in found]
    assert len(taken) == 100
    assert len(set(taken)) == 100
    assert Review.objects.filter(stands=True).count() == 100


def _take_and_file(person: User, now: datetime) -> int | None:
    result = take_next(person, now)
    if result is None:
        return None
    file_review(person, result.pk, Judged(("too_long", "cut_in")), based_on=1, now=now)
    return result.pk


@pytest.mark.django_db(transaction=True)
def test_twenty_who_reach_for_fewer_results_than_they_are_share_them(waiting: Waiting) -> None:
    for _ in range(7):
        waiting()
    reviewers = [reviewer() for _ in range(20)]
    start = Barrier(len(reviewers))

    def take(person: User) -> Result | None:
        start.wait()
        try:
            return take_next(person, NOW)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(reviewers)) as pool:
        taken = [result.pk for result in pool.map(take, reviewers) if result]
    assert len(taken) == len(set(taken))
    assert set(taken) == set(Hold.objects.values_list("result", flat=True))
    # Who asked while all rows were being locked may have got none; the next press finds what is left.
    again = [result.pk for person in reviewers if (result := take_next(person, NOW))]
    assert len(set(again)) == 7
