"""Reviewers, leads and testers at one result at the same moment: things happen in one order, and counts follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.conf import LazySettings

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from results.counts.rebuild_counts import compare_counts, rebuild_counts
from results.filing.correct_result import ReviewedError, correct_result, filing_of
from results.models import Hold, QueuedFor, Result, Review, ReviewedProblem
from results.review.file_review import CorrectedMeanwhileError, Judged, file_review
from results.review.hold_result import begin_review
from results.review.open_to import AllInError, HeldError
from results.review.pick_review import NothingToPickError, pick_review
from results.review.take_next import take_next
from tests.at_once import at_once

from .conftest import NOW, Waiting, reviewer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.data_layer]
ROUNDS = range(5)
OTHER = Judged(("cut_in",), "Heard it otherwise.")
AS_FILED = Judged(("too_long", "cut_in"))


def kinds(answers: list[Any]) -> Counter[Any]:
    return Counter(map(type, answers))


def files(person: User, result: Result, judged: Judged = OTHER, *, based_on: int = 1) -> Callable[[], Review]:
    return lambda: file_review(person, result.pk, judged, based_on=based_on, now=NOW)


@pytest.fixture
def people(db: None) -> list[User]:
    return [reviewer() for _ in range(3)]


@pytest.fixture
def lead(db: None) -> User:
    return reviewer("Lea", Role.EVAL_LEAD)


def test_of_two_who_file_at_once_one_stands_where_one_is_wanted(waiting: Waiting, people: list[User]) -> None:
    for _ in ROUNDS:
        result = waiting()
        rebuild_counts()
        answers = at_once(*(files(person, result, judged) for person, judged in zip(people, (OTHER, AS_FILED))))  # noqa: B905
        assert kinds(answers) == {Review: 1, AllInError: 1}
        result.refresh_from_db()
        assert (result.queued_for, result.reviews.filter(stands=True).count()) == (None, 1)
        assert compare_counts() == []


def test_of_two_who_file_at_once_both_wait_for_a_pick_where_two_are_wanted(
    waiting: Waiting, people: list[User], settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    for _ in ROUNDS:
        result = waiting()
        assert kinds(at_once(files(people[0], result), files(people[1], result, AS_FILED))) == {Review: 2}
        result.refresh_from_db()
        assert (result.queued_for, result.reviews.filter(stands=True).count()) == (QueuedFor.PICK, 0)
        tags = ReviewedProblem.objects.filter(review__result=result).values_list("tag", flat=True)
        assert sorted(tags) == ["cut_in", "cut_in", "too_long"]


def test_a_press_sent_twice_at_once_files_one_review(waiting: Waiting, people: list[User]) -> None:
    for _ in ROUNDS:
        result = waiting()
        answers = at_once(*[files(people[0], result)] * 3)
        assert kinds(answers)[Review] == 1, answers
        assert ReviewedProblem.objects.filter(review__result=result).count() == 1


@pytest.mark.parametrize("wanted", [2, 3])
def test_a_pick_while_a_third_files_is_made_only_when_all_are_in(
    wanted: int, waiting: Waiting, people: list[User], lead: User, settings: LazySettings
) -> None:
    """Two are in. Where two are wanted the third comes too late; where three are, the pick waits or is refused."""
    settings.REVIEWERS_PER_RESULT = wanted
    for _ in ROUNDS:
        result = waiting()
        rebuild_counts()
        begin_review(people[2], result, NOW)
        Result.objects.get(pk=result.pk).hold.delete()
        first, _second = (files(person, result)() for person in people[:2])
        picked, third = at_once(lambda: pick_review(lead, result.pk, first.pk, "Plain."), files(people[2], result))  # noqa: B023
        if wanted == 2:
            assert (type(picked), type(third)) == (Review, AllInError)
        else:
            assert isinstance(third, Review)
            assert isinstance(picked, (NothingToPickError, Review))
        result.refresh_from_db()
        stands = list(result.reviews.filter(stands=True).values_list("pk", flat=True))
        assert stands == ([first.pk] if isinstance(picked, Review) else [])
        assert result.queued_for == (None if isinstance(picked, Review) else QueuedFor.PICK)
        assert compare_counts() == []


def test_of_two_picks_at_once_the_later_takes_the_place_of_the_earlier(
    waiting: Waiting, people: list[User], lead: User, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    other_lead = reviewer("Lou", Role.EVAL_LEAD)
    for number in ROUNDS:
        result = waiting()
        rebuild_counts()
        first, second = files(people[0], result)(), files(people[1], result, AS_FILED)()
        at_once(
            lambda: pick_review(lead, result.pk, first.pk, "Plain."),  # noqa: B023
            lambda: pick_review(other_lead, result.pk, second.pk, "Plain, too."),  # noqa: B023
        )
        assert result.reviews.filter(stands=True).count() == 1
        lines = AuditEntry.objects.filter(action="picked a review", target=str(result.pk))
        assert sorted(bool(line.details["instead_of"]) for line in lines) == [False, True], number
        assert compare_counts() == []


def test_a_correction_while_a_review_is_filed_is_made_before_it_or_refused(
    tester: User, waiting: Waiting, people: list[User]
) -> None:
    """Never are tags judged that the tester was just changing, and never is a result corrected that was reviewed."""
    seen = set()
    for number in range(12):
        result = waiting()
        rebuild_counts()
        said = replace(filing_of(result), problems=("long_silence",), comment=f"Again {number}")
        corrected, filed = at_once(
            lambda: correct_result(tester, result, said, based_on=1),  # noqa: B023
            files(people[0], result),
        )
        outcome = (isinstance(corrected, ReviewedError), isinstance(filed, CorrectedMeanwhileError))
        assert outcome in {(True, False), (False, True)}, (corrected, filed)
        seen.add(outcome)
        result.refresh_from_db()
        assert (result.version, result.reviewed_at is None) == ((2, True) if outcome == (False, True) else (1, False))
        assert compare_counts() == []


def test_who_takes_a_result_while_it_is_corrected_or_reviewed_reviews_what_it_says_then(
    tester: User, waiting: Waiting, people: list[User]
) -> None:
    for number in ROUNDS:
        Hold.objects.all().delete()
        Result.objects.update(queued_for=None)
        result = waiting()
        said = replace(filing_of(result), comment=f"Again {number}")
        taken, corrected, filed = at_once(
            lambda: take_next(people[0], NOW),
            lambda: correct_result(tester, result, said, based_on=1),  # noqa: B023
            files(people[1], result),
        )
        assert taken in {None, result}
        assert isinstance(corrected, ReviewedError) or isinstance(filed, (CorrectedMeanwhileError, HeldError))
        result.refresh_from_db()
        if taken is not None and result.reviewed_at is None:  # None: it was being written at that very moment
            review = Review.objects.get(result=result, reviewer=people[0])
            answer = file_review(people[0], result.pk, OTHER, based_on=result.version, now=NOW)
            assert (answer.pk, answer.result_version) == (review.pk, 2)
