"""The tags as reviewed beside many rows: exactly what each page shows of the review that stands, in one query."""

from __future__ import annotations

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import GoldAnswer, QueuedFor, Result, Review
from results.review.as_reviewed import PlacedTag, reason_shown, tags_as_reviewed
from results.review.blind import reviews_shown_to
from results.review.file_review import Judged, file_review
from results.review.gold import set_gold
from results.review.hold_result import begin_review
from results.review.pick_review import pick_review
from tests import make

from .conftest import NOW, Waiting, reviewer

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
HERS, HIS = Judged(("too_long", "mispronounced"), "So."), Judged((), "No problem at all.")


def by_pages(person: User, rows: list[Result]) -> dict[int, tuple[PlacedTag, ...]]:
    """What the pages of these results show, one after the other."""
    standing = [review for row in rows for review in reviews_shown_to(person, row) if review.stands]
    return {
        review.result_id: tuple(PlacedTag(each.tag, each.rank) for each in review.problems.order_by("position"))
        for review in standing
    }


def test_everybody_is_told_what_the_pages_show_them(
    waiting: Waiting, rae: User, ron: User, tester: User, manager: User, settings: LazySettings
) -> None:
    """One that waits, one in hand, one half reviewed, one that waits for a pick, those that stand, gold, Safety."""
    settings.REVIEWERS_PER_RESULT = 2
    lead = make.user("lead@example.test", Role.EVAL_LEAD)
    _, in_hand, half, to_pick, picked, turned_gold, gold = (waiting(QueuedFor.SAMPLE) for _ in range(7))
    safety = waiting(QueuedFor.SAMPLE, script=make.script("quiet-talk", area="safety"))
    begin_review(ron, in_hand, NOW)
    set_gold(lead, gold.pk, ("weird_gaze",), "Heard it.")
    for each in (half, gold):
        file_review(rae, each.pk, HERS, based_on=1, now=NOW)
    for each in (to_pick, picked, turned_gold, safety):
        file_review(rae, each.pk, HERS, based_on=1, now=NOW)
        file_review(ron, each.pk, HIS, based_on=1, now=NOW)
    for each, by in ((picked, ron), (turned_gold, rae), (safety, rae)):
        pick_review(lead, each.pk, Review.objects.get(result=each, reviewer=by).pk, "Right.")
    GoldAnswer.objects.create(result=turned_gold, tags=["cut_in"], why="Late.", set_by=lead)
    name_of = {picked.pk: "picked", turned_gold.pk: "turned gold", safety.pk: "safety"}
    people = {
        "rae": rae,
        "lead": lead,
        "manager": manager,
        "tester": tester,
        "another reviewer": reviewer("Later"),
        "another tester": make.user("other@example.test", Role.TESTER),
        "trained": reviewer("Trained", is_trained=True),
    }
    told = {}
    for who, person in people.items():
        rows = list(Result.objects.visible_to(person))
        found = tags_as_reviewed(person, rows)
        assert found == by_pages(person, rows), who
        told[who] = {name_of.get(key, "another") for key in found}
    both = {"picked", "turned gold"}
    assert told == {
        **dict.fromkeys(("rae", "lead", "manager", "tester"), both),
        "another reviewer": {"picked"},
        "another tester": set(),
        "trained": {"picked", "safety"},
    }
    assert tags_as_reviewed(manager, [Result.objects.get(pk=picked.pk)]) == {picked.pk: ()}, "reviewed, and no problem"


def test_it_is_one_query_and_none_where_nothing_was_reviewed(waiting: Waiting, rae: User, manager: User) -> None:
    rows = [waiting() for _ in range(5)]

    def queries() -> int:
        found = [Result.objects.get(pk=row.pk) for row in rows]
        manager.has_role(Role.MANAGER)
        with CaptureQueriesContext(connection) as seen:
            tags_as_reviewed(manager, found)
        return len(seen)

    assert queries() == 0
    file_review(rae, rows[0].pk, HERS, based_on=1, now=NOW)
    assert queries() == 1
    for row in rows[1:]:
        file_review(rae, row.pk, HERS, based_on=1, now=NOW)
    assert queries() == 1


def test_why_a_row_waits_is_told_to_those_who_review_and_lead(rae: User, manager: User, tester: User) -> None:
    reasons = (None, QueuedFor.DISAGREEMENT.value)
    assert [reason_shown(rae, reason) for reason in reasons] == [None, QueuedFor.DISAGREEMENT]
    assert [reason_shown(manager, reason) for reason in reasons] == [None, QueuedFor.DISAGREEMENT]
    assert [reason_shown(tester, reason) for reason in reasons] == [None, None]
