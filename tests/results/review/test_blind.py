"""Nobody sees of a review more than they may, anywhere, as long as others are at work."""

from __future__ import annotations

import json

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.comments.comment_on import comment_on
from results.models import GoldAnswer, QueuedFor, Result
from results.review.file_review import Judged, file_review
from results.review.hold_result import begin_review
from results.review.pick_review import pick_review
from tests import make
from tests.results.export.asking import exported

from .conftest import NOW, Waiting, reviewer

pytestmark = [pytest.mark.django_db]
SECRET = "zq-reason"
HIDDEN_TAG, ITS_LABEL = "mispronounced", "Mispronounced or unclear words"
HERS = Judged((HIDDEN_TAG,), f"{SECRET}: I heard it.")


@pytest.fixture
def half(rae: User, waiting: Waiting, settings: LazySettings) -> Result:
    """Two reviews are wanted, one is in, with a comment of its reviewer."""
    settings.REVIEWERS_PER_RESULT = 2
    made = waiting(QueuedFor.DISAGREEMENT)
    begin_review(rae, made, NOW)
    comment_on(rae, made, f"{SECRET}: as I said.")
    file_review(rae, made.pk, HERS, based_on=1, now=NOW)
    return Result.objects.get(pk=made.pk)


def pages_of(client: Client, result: Result) -> dict[str, str]:
    """Every page on which something of the result stands, and the file of the list."""
    paths = [
        result.get_absolute_url(),
        reverse("review_queue"),
        reverse("review", args=[result.pk]),
        reverse("review_pick", args=[result.pk]),
        reverse("comments", args=[result.pk]),
        reverse("threads"),
        *(reverse("results") + query for query in ("", "?review=reviewed", "?review=pick", "?review=waiting")),
        *(reverse("results") + f"?tags=reviewed&problem={tag}" for tag in (HIDDEN_TAG, "cut_in")),
    ]
    return {path: said_by(client, path) for path in paths}


def said_by(client: Client, path: str) -> str:
    answer = client.get(path)
    return answer.getvalue().decode() if answer.streaming else answer.text


@pytest.mark.parametrize("roles", [(Role.EVAL_TEAM,), (Role.EVAL_LEAD,), (Role.EVAL_TEAM, Role.EVAL_LEAD)])
def test_the_later_one_reads_nothing_of_the_earlier_anywhere(half: Result, roles: tuple[Role, ...]) -> None:
    client = make.client_of(make.user("later@example.test", *roles))
    assert [path for path, page in pages_of(client, half).items() if SECRET in page] == []


def test_nor_does_anybody_tell_that_there_is_one(half: Result, ron: User, waiting: Waiting) -> None:
    """To the letter: one with a review in it is shown as one without, but for its own key."""
    client = make.client_of(ron)
    other = waiting(QueuedFor.DISAGREEMENT, called_at=half.called_at, filed_at=half.filed_at)
    Result.objects.filter(pk=other.pk).update(filed_at=half.filed_at)

    def page(result: Result) -> str:
        text = said_by(client, result.get_absolute_url()).replace(str(result.pk), "KEY")
        return text.replace(str(result.call_uuid), "CALL")[: text.index("csrfmiddlewaretoken")]

    assert page(half) == page(other)
    queue = client.get(reverse("review_queue")).context["queue"]
    assert [(each.reason, each.count) for each in queue.waiting] == [(QueuedFor.DISAGREEMENT, 2)]
    listed = client.get(reverse("results") + "?review=reviewed").context["listing"]
    assert listed.count == 0


def test_ones_own_review_stays_readable(half: Result, rae: User) -> None:
    assert SECRET in said_by(make.client_of(rae), half.get_absolute_url())


def test_the_file_of_the_list_does_not_say_when_it_was_reviewed(half: Result, ron: User) -> None:
    def said() -> object:
        [line] = exported(make.client_of(ron), "jsonl", columns=["id", "reviewed_at"]).splitlines()
        return json.loads(line)["reviewed_at"]

    assert said() is None
    file_review(ron, half.pk, Judged(("cut_in",), "Only that."), based_on=1, now=NOW)
    assert said() is not None


def test_when_all_are_in_the_team_reads_both_and_the_tester_what_stands(
    half: Result, tester: User, manager: User, ron: User, eval_lead: User
) -> None:
    his = file_review(ron, half.pk, Judged(("cut_in",), "Only that."), based_on=1, now=NOW)
    other = make.user("other@example.test", Role.TESTER)
    readers = {"team": reviewer("Later"), "tester": tester, "manager": manager, "another tester": other}

    def who_read(words: str) -> set[str]:
        return {name for name, who in readers.items() if words in said_by(make.client_of(who), half.get_absolute_url())}

    assert (who_read("I heard it."), who_read("Only that.")) == ({"team"}, {"team"})
    pick_review(eval_lead, half.pk, his.pk, "He is right.")
    assert (who_read("I heard it."), who_read("Only that.")) == ({"team"}, {"team", "tester", "manager"})
    assert "Ron" not in said_by(make.client_of(tester), half.get_absolute_url())


def test_gold_looks_like_what_nobody_reviewed_until_one_has_answered(
    rae: User, ron: User, eval_lead: User, waiting: Waiting
) -> None:
    gold = waiting()
    GoldAnswer.objects.create(result=gold, tags=["cut_in"], why=f"{SECRET} why", set_by=eval_lead)
    answer = file_review(rae, gold.pk, HERS, based_on=1, now=NOW)
    assert (answer.is_of_gold, answer.stands) == (True, False)
    gold.refresh_from_db()
    assert (gold.reviewed_at, gold.queued_for) == (None, QueuedFor.OTHER_TAG)
    assert [path for path, page in pages_of(make.client_of(ron), gold).items() if SECRET in page] == []
    begin_review(ron, gold, NOW)
    page = said_by(make.client_of(ron), reverse("review", args=[gold.pk]))
    assert "gold" not in page.lower()
