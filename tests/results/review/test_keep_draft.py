"""Work in progress is kept, and the result stays in hand as long as work goes on."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

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
