"""The pick between several reviews: by a lead, when all are in, and again if need be."""

from __future__ import annotations

import pytest
from django.conf import LazySettings

from emma_eval.accounts.models import AuditEntry, User
from results.models import MonthTag, Result, Review, Source
from results.review.file_review import Judged, file_review
from results.review.pick_review import NothingToPickError, pick_review, reviews_to_pick

from .conftest import NOW, Waiting

pytestmark = [pytest.mark.data_layer]
HERS, HIS = Judged(("too_long", "cut_in")), Judged(("flat_delivery",), "It is the voice.")


@pytest.fixture
def result(rae: User, ron: User, waiting: Waiting, settings: LazySettings) -> Result:
    settings.REVIEWERS_PER_RESULT = 2
    made = waiting()
    file_review(rae, made.pk, HERS, based_on=1, now=NOW)
    file_review(ron, made.pk, HIS, based_on=1, now=NOW)
    return Result.objects.get(pk=made.pk)


def counted() -> set[str]:
    return set(MonthTag.objects.filter(source=Source.REVIEWED, tagged__gt=0).values_list("tag", flat=True))


def test_the_one_that_is_picked_stands_and_is_counted(eval_lead: User, ron: User, result: Result) -> None:
    his = ron.reviews.get()
    pick_review(eval_lead, result.pk, his.pk, "He listened longer.")
    stands = Review.objects.get(stands=True)
    assert (stands, stands.stood_by) == (his, eval_lead)
    assert counted() == {"flat_delivery"}
    result.refresh_from_db()
    assert result.queued_for is None


def test_a_lead_may_pick_again_and_the_trail_keeps_both(eval_lead: User, rae: User, ron: User, result: Result) -> None:
    pick_review(eval_lead, result.pk, ron.reviews.get().pk, "He listened longer.")
    pick_review(eval_lead, result.pk, rae.reviews.get().pk, "She was right after all.")
    assert Review.objects.get(stands=True).reviewer == rae
    assert counted() == {"too_long", "cut_in"}
    lines = AuditEntry.objects.filter(action="picked a review").order_by("pk").values_list("details", flat=True)
    assert list(lines) == [
        {"person": ron.pk, "instead_of": "", "why": "He listened longer."},
        {"person": rae.pk, "instead_of": f"that of person {ron.pk}", "why": "She was right after all."},
    ]


def test_the_same_pick_twice_is_one(eval_lead: User, ron: User, result: Result) -> None:
    for _ in range(2):
        pick_review(eval_lead, result.pk, ron.reviews.get().pk, "He listened longer.")
    assert AuditEntry.objects.filter(action="picked a review").count() == 1


def test_before_all_are_in_there_is_nothing_to_pick(
    eval_lead: User, rae: User, waiting: Waiting, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    made = waiting()
    review = file_review(rae, made.pk, HERS, based_on=1, now=NOW)
    assert reviews_to_pick(Result.objects.get(pk=made.pk)) == []
    with pytest.raises(NothingToPickError):
        pick_review(eval_lead, made.pk, review.pk, "Hers.")


def test_a_review_of_another_result_can_not_be_picked(
    eval_lead: User, rae: User, result: Result, waiting: Waiting, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 1
    other = file_review(rae, waiting().pk, HERS, based_on=1, now=NOW)
    with pytest.raises(NothingToPickError):
        pick_review(eval_lead, result.pk, other.pk, "Hers.")
