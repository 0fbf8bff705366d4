"""Work in progress is kept, and the result stays in hand as long as work goes on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from emma_eval.accounts.models import User
from results.models import Hold, Result, Review
from results.review.file_review import Judged, file_review
from results.review.hold_result import begin_review, let_go
from results.review.keep_draft import ChangedElsewhereError, Kept, NotBegunError, ReviewDraft, fields_in, keep_draft
from results.review.open_to import AllInError, FiledError, HeldError

from .conftest import NOW, Waiting

pytestmark = [pytest.mark.data_layer]
FIELDS = {"judged": "changed", "reason": "The voi", "place-cut_in": "1"}
LAPSED = NOW + timedelta(minutes=15)


def keep(person: User, result: Result, fields: dict[str, str] = FIELDS, **more: Any) -> Kept:
    return keep_draft(person, result.pk, fields, **{"result_version": 1, "based_on": 0, "now": NOW, **more})


def test_what_is_typed_is_kept_and_the_time_for_it_grows(rae: User, waiting: Waiting) -> None:
    result = waiting()
    begin_review(rae, result, NOW)
    kept = keep(rae, result, now=NOW + timedelta(minutes=14))
    assert kept.hold is not None
    assert Hold.objects.get().until == NOW + timedelta(minutes=29)
    assert ReviewDraft.of(Review.objects.get()).fields == FIELDS


def test_the_same_words_again_only_hold_it_longer(rae: User, waiting: Waiting) -> None:
    result = waiting()
    begin_review(rae, result, NOW)
    first = keep(rae, result)
    again = keep(rae, result, based_on=0, now=NOW + timedelta(minutes=5))
    assert again.draft == first.draft
    assert Hold.objects.get().until == NOW + timedelta(minutes=20)


def test_an_older_tab_writes_over_nothing(rae: User, waiting: Waiting) -> None:
    result = waiting()
    begin_review(rae, result, NOW)
    keep(rae, result)
    with pytest.raises(ChangedElsewhereError):
        keep(rae, result, {"reason": "Something else."}, based_on=0)
    assert ReviewDraft.of(Review.objects.get()).fields == FIELDS
    assert keep(rae, result, {"reason": "Something else."}, based_on=1).draft.edition == 2


def test_after_a_lapse_it_is_taken_in_hand_again_unless_somebody_else_has_it(
    rae: User, ron: User, waiting: Waiting
) -> None:
    result = waiting()
    begin_review(rae, result, NOW)
    assert keep(rae, result, now=LAPSED).hold is not None
    begin_review(ron, result, LAPSED + timedelta(hours=1))
    late = keep(rae, result, {"reason": "More."}, based_on=1, now=LAPSED + timedelta(hours=1))
    assert isinstance(late.error, HeldError)
    assert Hold.objects.get().reviewer == ron
    assert ReviewDraft.of(rae.reviews.get()).fields == {"reason": "More."}


def test_it_is_kept_even_when_others_have_finished(rae: User, ron: User, waiting: Waiting) -> None:
    result = waiting()
    begin_review(rae, result, NOW)
    let_go(rae, result)
    file_review(ron, result.pk, Judged(("too_long", "cut_in")), based_on=1, now=NOW)
    assert isinstance(keep(rae, result).error, AllInError)
    assert ReviewDraft.of(rae.reviews.get()).fields == FIELDS


def test_a_reviewer_has_three_in_hand_at_most_and_the_oldest_goes_back_with_its_draft(
    rae: User, ron: User, waiting: Waiting
) -> None:
    made = [waiting() for _ in range(15)]
    begin_review(rae, made[0], NOW)
    keep(rae, made[0])
    for number, result in enumerate(made[1:], 1):
        begin_review(rae, result, NOW + timedelta(seconds=number))
    later = NOW + timedelta(seconds=20)
    assert held_by(rae) == {result.pk for result in made[-3:]}
    assert begin_review(ron, made[0], later)
    assert ReviewDraft.of(rae.reviews.get(result=made[0])).fields == FIELDS
    keep(rae, made[1], now=later)
    assert held_by(rae) == {made[1].pk, *(result.pk for result in made[-2:])}, "a save takes no fourth one either"


def test_a_page_that_is_open_while_another_one_is_worked_on_prolongs_nothing(rae: User, waiting: Waiting) -> None:
    left, in_work = waiting(), waiting()
    begin_review(rae, left, NOW)
    keep(rae, left)
    begin_review(rae, in_work, NOW + timedelta(minutes=1))
    for minute in range(2, 20):
        for result in (left, in_work):
            keep(rae, result, now=NOW + timedelta(minutes=minute))
    assert Hold.objects.get(result=left).until == LAPSED
    assert Hold.objects.get(result=in_work).until == NOW + timedelta(minutes=19 + 15)
    words = {"reason": "I go on with this one."}
    assert keep(rae, left, words, based_on=1, now=NOW + timedelta(minutes=20)).hold is not None
    assert held_by(rae) == {left.pk, in_work.pk}


def held_by(person: User) -> set[int]:
    return set(Hold.objects.filter(reviewer=person).values_list("result", flat=True))


@pytest.mark.django_db(transaction=True)
def test_many_presses_at_once_hold_no_more(rae: User, waiting: Waiting) -> None:
    made = [waiting() for _ in range(12)]
    start = Barrier(len(made))

    def press(result: Result) -> None:
        start.wait()
        try:
            begin_review(rae, result, NOW)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(made)) as pool:
        list(pool.map(press, made))
    assert len(held_by(rae)) == 3
    assert rae.reviews.count() == 12


def test_what_was_not_begun_or_is_filed_is_no_draft(rae: User, waiting: Waiting) -> None:
    result = waiting()
    with pytest.raises(NotBegunError):
        keep(rae, result)
    file_review(rae, result.pk, Judged(("too_long", "cut_in")), based_on=1, now=NOW)
    with pytest.raises(FiledError):
        keep(rae, result)
    assert Review.objects.get().draft == {}


def test_only_what_the_form_asks_is_kept() -> None:
    sent = {"judged": "right", "place-cut_in": "1", "stop": "1", "reason": 7, "place-too_long": "", "csrf": "x"}
    assert fields_in(sent) == {"judged": "right", "place-cut_in": "1"}
