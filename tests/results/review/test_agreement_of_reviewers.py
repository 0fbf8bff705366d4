"""How far reviewers agree with known answers and with what stands; and who reads whose."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.conf import LazySettings
from scipy import stats

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import ProblemOrder, QueuedFor, Result, Review
from results.review.agreement_of_reviewers import Ordered, Pair, agreement_of, agreement_of_all, overlap_of
from results.review.file_review import Judged, file_review
from results.review.gold import retire_gold, set_gold
from results.review.hold_result import begin_review
from results.review.pick_review import pick_review
from scripts_catalog import taxonomy
from tests import make

from .conftest import NOW, Waiting, reviewer

pytestmark = pytest.mark.django_db
GOLD = ("cut_in", "too_long", "weird_gaze")


@pytest.fixture
def lea(db: None) -> User:
    return reviewer("Lea", Role.EVAL_LEAD)


def review(person: User, result: Result, *tags: str) -> Review:
    begin_review(person, result, NOW)
    return file_review(person, result.pk, Judged(tags, "Heard it."), based_on=1, now=NOW)


def answer(lea: User, person: User, waiting: Waiting, *answers: tuple[str, ...]) -> list[Result]:
    made = []
    for tags in answers:
        result = waiting()
        set_gold(lea, result.pk, GOLD, "Known.")
        review(person, result, *tags)
        made.append(result)
    return made


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ((), (), 1.0),
        (("a",), (), 0.0),
        (("a",), ("b",), 0.0),
        (("a", "b"), ("b", "a"), 1.0),
        (("a", "b"), ("b", "c"), 1 / 3),
        (("a",), ("a", "b", "c", "d"), 0.25),
    ],
)
def test_the_overlap_is_what_both_have_of_what_either_has(
    one: tuple[str, ...], other: tuple[str, ...], overlap: float
) -> None:
    assert overlap_of(one, other) == pytest.approx(overlap)


@pytest.mark.parametrize(
    ("mine", "order", "other", "biggest", "same_order"),
    [
        (("a", "b"), ProblemOrder.OVERALL, ("a", "b"), True, True),
        (("a", "b"), ProblemOrder.OVERALL, ("b", "a"), False, False),
        (("a", "b"), ProblemOrder.BIGGEST, ("a", "b"), True, None),
        (("a", "b"), ProblemOrder.GROUPS, ("a", "b"), None, None),
        (("a", "b"), ProblemOrder.GROUPS, ("a", "c"), None, False),
        (("a",), ProblemOrder.GROUPS, ("a",), True, True),
        ((), ProblemOrder.OVERALL, (), True, True),
        ((), ProblemOrder.OVERALL, ("a",), False, False),
    ],
)
def test_an_order_that_is_not_known_is_neither_the_same_nor_another(
    mine: tuple[str, ...],
    order: ProblemOrder,
    other: tuple[str, ...],
    biggest: bool | None,
    same_order: bool | None,
) -> None:
    pair = Pair(Review(), Ordered(mine, order), Ordered(other), "")
    assert (pair.same_biggest, pair.same_order) == (biggest, same_order)


@pytest.mark.data_layer
def test_the_three_figures_with_their_intervals(lea: User, rae: User, waiting: Waiting) -> None:
    said = [GOLD, GOLD, GOLD, ("cut_in", "weird_gaze"), ("too_long", "cut_in", "weird_gaze"), ("off_topic",)]
    answer(lea, rae, waiting, *said)
    found = agreement_of(rae, rae).gold
    assert found.n == 6
    assert found.biggest is not None
    assert found.order is not None
    assert found.overlap is not None
    assert (found.biggest.part, found.biggest.n) == (4, 6)
    assert (found.order.part, found.order.n) == (3, 6)
    overlaps = [1, 1, 1, 2 / 3, 1, 0]
    expected = stats.ttest_1samp(overlaps, 0).confidence_interval(0.95)
    assert found.overlap.mean == pytest.approx(sum(overlaps) / 6)
    assert found.overlap.low == pytest.approx(expected.low)
    assert found.overlap.high == 1.0, "cut off where no mean can lie"
    wilson = stats.binomtest(4, 6).proportion_ci(method="wilson")
    assert (found.biggest.low, found.biggest.high) == pytest.approx((wilson.low, wilson.high))


@pytest.mark.data_layer
def test_an_answer_that_is_changed_is_compared_anew_and_a_retired_one_still_counts(
    lea: User, rae: User, waiting: Waiting
) -> None:
    (result,) = answer(lea, rae, waiting, ("off_topic",))
    assert agreement_of(rae, rae).gold.pairs[0].same_biggest is False
    set_gold(lea, result.pk, ("off_topic",), "On a second hearing.")
    retire_gold(lea, result.pk)
    assert [pair.same_order for pair in agreement_of(rae, rae).gold.pairs] == [True]


@pytest.mark.data_layer
def test_with_what_stands_only_where_several_reviewed(
    lea: User, rae: User, ron: User, waiting: Waiting, settings: LazySettings
) -> None:
    alone = waiting()
    review(rae, alone, "too_long", "cut_in")
    settings.REVIEWERS_PER_RESULT = 2
    picked, not_yet = waiting(), waiting()
    for result in (picked, not_yet):
        review(rae, result, "weird_gaze", "cut_in")
        chosen = review(ron, result, "weird_gaze", "too_long")
        if result == picked:
            pick_review(lea, result.pk, chosen.pk, "Heard it too.")
    hers, his = agreement_of(rae, rae).standing, agreement_of(ron, ron).standing
    assert [pair.result for pair in hers.pairs] == [picked]
    assert (hers.pairs[0].same_biggest, hers.pairs[0].same_order) == (True, False)
    assert hers.pairs[0].overlap == pytest.approx(1 / 3)
    assert his.pairs[0].same_order is True, "one's own, where it was picked"


@pytest.mark.data_layer
def test_nothing_of_safety_is_counted_for_the_untrained(lea: User, rae: User, waiting: Waiting) -> None:
    answer(lea, rae, waiting, GOLD)
    hidden = waiting(script=make.script(area=taxonomy.SAFETY))
    trained_lead = reviewer("Tara", Role.EVAL_LEAD, is_trained=True)
    set_gold(trained_lead, hidden.pk, GOLD, "Known.")
    Review.objects.create(result=hidden, reviewer=rae, filed_at=NOW, is_of_gold=True)
    assert agreement_of(rae, rae).gold.n == 1
    assert [each.gold.n for each in agreement_of_all(lea)] == [1]
    assert [each.gold.n for each in agreement_of_all(trained_lead)] == [2]


def test_leads_read_everybody_reviewers_themselves_and_others_nothing(
    lea: User, rae: User, ron: User, waiting: Waiting
) -> None:
    answer(lea, rae, waiting, GOLD)
    answer(lea, ron, waiting, ())
    lead, own = make.client_of(lea), make.client_of(rae)
    page = lead.get("/review/agreement/").text
    assert [name in page for name in ("Rae", "Ron")] == [True, True]
    assert "Agreement of" in lead.get(f"/review/agreement/?reviewer={ron.pk}").text
    page = own.get("/review/agreement/").text
    assert "Your agreement" in page
    assert "Ron" not in page
    assert own.get(f"/review/agreement/?reviewer={rae.pk}").status_code == 200
    for stranger in (ron.pk, 0, "x", 10**30):
        assert own.get(f"/review/agreement/?reviewer={stranger}").status_code == 404
    for role in (Role.TESTER, Role.MANAGER, Role.ADMINISTRATOR):
        assert make.client_of(make.user(None, role)).get("/review/agreement/").status_code == 403
    assert agreement_of_all(rae) == []


def test_the_known_answer_shows_only_after_ones_own_is_filed(lea: User, rae: User, waiting: Waiting) -> None:
    result = waiting()
    set_gold(lea, result.pk, GOLD, "Because of the second minute.")
    begin_review(rae, result, NOW)
    client = make.client_of(rae)
    assert "second minute" not in client.get("/review/agreement/").text
    file_review(rae, result.pk, Judged(GOLD, "Heard it."), based_on=1, now=NOW)
    assert "second minute" in client.get("/review/agreement/").text


def test_every_figure_says_its_n_and_leads_to_its_rows(lea: User, rae: User, waiting: Waiting) -> None:
    answer(lea, rae, waiting, GOLD, GOLD, ("cut_in",), ("off_topic",))
    client = make.client_of(rae)
    page = client.get("/review/agreement/").text
    assert page.count("n too small") == 3
    told = re.sub(r"<[^>]+>", "", page[page.index('<dl class="agreed">') : page.index("</dl>")])
    assert "%" not in told, "a share of so few is no figure, as elsewhere"
    assert "n too small 3 of 4" in told
    assert "n too small 4 results" in told
    figures = [
        unescape(link) for link in re.findall(r'class="figure[^"]*">(?:n too small )?<a [^>]*href="([^"]+)"', page)
    ]
    rows = [
        client.get("/review/agreement/" + link.split("#")[0]).text.count('class="side-by-side"') for link in figures
    ]
    assert rows == [3, 4, 2]


def test_a_reviewer_who_has_none_is_told_so(rae: User) -> None:
    page = make.client_of(rae).get("/review/agreement/").text
    assert page.count("Nothing yet") == 2


def test_leads_reach_the_rows_of_each_figure(lea: User, rae: User, waiting: Waiting) -> None:
    answer(lea, rae, waiting, *[GOLD] * 5, ("off_topic",))
    client = make.client_of(lea)
    page = client.get("/review/agreement/").text
    figures = [unescape(link) for link in re.findall(r'class="figure[^"]*"><a href="([^"]+)"', page)]
    assert [link.split("#")[1] for link in figures] == ["gold", "gold", "gold"]
    rows = [
        client.get("/review/agreement/" + link.split("#")[0]).text.count('class="side-by-side"') for link in figures
    ]
    assert rows == [5, 6, 5]
    assert QueuedFor.SAMPLE.label not in page
