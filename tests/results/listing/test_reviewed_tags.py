"""The list, narrowed by tags as they were filed or as the review that stands says, never by both."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import User
from results.listing.filters import Filters
from results.listing.list_results import Asked, list_results
from results.models import Result, Review
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


def review(result: Result, by: User, *tags: str, stands: bool = True) -> Review:
    made = Review.objects.create(result=result, reviewer=by, filed_at=timezone.now(), stands=stands)
    for place, tag in enumerate(tags, 1):
        made.problems.create(tag=tag, position=place, rank=place)
    return made


@pytest.fixture
def filed(tester: User, eval_member: User, trained_eval_member: User) -> dict[str, Result]:
    """Four results of one tag; two reviews stand, and one of the two said something else than another that does not."""
    script, build = make.script(), make.build()
    names = ("confirmed", "changed", "not reviewed", "not decided")
    made = {name: make.result(tester, script, build, problems=("too_long",)) for name in names}
    review(made["confirmed"], eval_member, "too_long")
    review(made["changed"], eval_member, "cut_in", "too_fast")
    review(made["changed"], trained_eval_member, "weird_gaze", stands=False)
    review(made["not decided"], eval_member, "cut_in", stands=False)
    return made


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        (Filters(problem="too_long"), {"confirmed", "changed", "not reviewed", "not decided"}),
        (Filters(problem="cut_in"), set()),
        (Filters(tags="reviewed"), {"confirmed", "changed"}),
        (Filters(tags="reviewed", problem="too_long"), {"confirmed"}),
        (Filters(tags="reviewed", problem="cut_in"), {"changed"}),
        (Filters(tags="reviewed", problem="cut_in", is_biggest=True), {"changed"}),
        (Filters(tags="reviewed", problem="too_fast"), {"changed"}),
        (Filters(tags="reviewed", problem="too_fast", is_biggest=True), set()),
        (Filters(tags="reviewed", problem="weird_gaze"), set()),
    ],
)
@pytest.mark.parametrize("sort", ["date", "content"])
def test_each_leaves_what_fits(
    tester: User, filed: dict[str, Result], filters: Filters, names: set[str], sort: str
) -> None:
    asked = Asked(filters)
    listing = list_results(tester, Asked(filters, asked.sort.by(sort)))
    assert {row.id for row in listing.rows} == {filed[name].pk for name in names}
    assert listing.count == len(names)
    assert filters.narrow(Result.objects.visible_to(tester)).count() == len(names)


def test_an_address_narrows_and_says_so(tester_client: Client, filed: dict[str, Result]) -> None:
    page = tester_client.get("/results/?tags=reviewed&problem=cut_in").text
    assert "1 result<" in page
    assert "<bdi>Tags as reviewed</bdi>" in page
    assert '<option value="reviewed" selected>As reviewed</option>' in page
    assert 'href="/results/?problem=cut_in"' in page


def test_other_words_narrow_nothing(tester_client: Client, filed: dict[str, Result]) -> None:
    page = tester_client.get("/results/?tags=mine")
    assert "Pick one from the list." in page.text
    assert page.context["listing"].count == 4
