"""Many moments leave the rest of a page in reach: a few stand in sight, the others are folded away."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from emma_eval.accounts.models import User
from results.live_call.fold_moments import MOST_IN_SIGHT, fold_moments
from results.models import MOST_MOMENTS, Moment
from tests import make

MANY = ("",) * 9 + ("a laugh",) + ("",) * 9 + ("a cough",)


def marked(*words: str) -> list[Moment]:
    return [Moment(pk=place, at_ms=place, words=said) for place, said in enumerate(words)]


def test_few_moments_are_all_in_sight() -> None:
    folded = fold_moments(marked(*("",) * MOST_IN_SIGHT))
    assert (len(folded.in_sight), folded.folded) == (MOST_IN_SIGHT, ())
    assert folded
    assert not fold_moments([])


def test_those_with_words_come_first_into_sight_and_all_stay_in_the_order_of_the_clock() -> None:
    folded = fold_moments(marked(*MANY))
    assert [moment.at_ms for moment in folded.in_sight] == [0, 1, 2, 3, 4, 5, 9, 19]
    assert [moment.at_ms for moment in folded.folded] == [6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18]


@pytest.mark.django_db
def test_two_hundred_moments_are_folded_on_the_form_and_on_the_result(tester: User, tester_client: Client) -> None:
    script, build = make.script(), make.build(is_current=True)
    call = make.call(tester, script, build=build, moments=("",) * (MOST_MOMENTS - 1) + ("a laugh",))
    form = tester_client.get("/results/new/", {"call": call.uuid, "script": script.slug}).text
    result = make.result(tester, script, build, call_uuid=call.uuid)
    for page in (form, tester_client.get(result.get_absolute_url()).text):
        before, _, after = page.partition('<details class="more-moments">')
        assert "a laugh" in before
        assert f"{MOST_MOMENTS - MOST_IN_SIGHT} more" in after
        numbers = re.findall(r'id="moment-(\d+)"', page)
        assert (len(numbers), len(set(numbers))) == (MOST_MOMENTS, MOST_MOMENTS)
        assert len(re.findall(r'id="moment-\d+"', before)) == MOST_IN_SIGHT


@pytest.mark.django_db
def test_withdrawn_moments_are_on_neither(tester: User, tester_client: Client) -> None:
    script, build = make.script(), make.build(is_current=True)
    call = make.call(tester, script, build=build, moments=("zq-slip",))
    call.moments.update(is_withdrawn=True)
    form = tester_client.get("/results/new/", {"call": call.uuid, "script": script.slug}).text
    result = make.result(tester, script, build, call_uuid=call.uuid)
    for page in (form, tester_client.get(result.get_absolute_url()).text):
        assert 'id="moments"' not in page
        assert "zq-slip" not in page
