"""A reviewer who writes down whatever the site shows can't tell gold before answering it.

Three reviewers work through one queue, and read everything at each step: the queue and its counts, the list by every
filter of reviews, the page of each result with whose hands it is in, what comes next.
"""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.db import transaction
from django.utils import timezone

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from results.listing.reviewed import REVIEW_STATES, WAITING
from results.models import GoldAnswer, QueuedFor, Result, Review
from results.review.file_review import Judged, file_review
from results.review.gold import set_gold
from results.review.hold_result import let_go
from results.review.show_queue import show_queue
from results.review.take_next import take_next
from tests import make

from .conftest import NOW, Waiting, reviewer

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
AS_FILED = Judged(("too_long", "cut_in"))
SECRET_PARTS = re.compile(r'name="csrfmiddlewaretoken" value="\w+"|nonce="[^"]+"|X-CSRFToken[^}]+|\bby \d\d:\d\d')


@pytest.fixture
def team(db: None) -> list[User]:
    return [reviewer("Rae"), reviewer("Ron"), reviewer("Ria")]


@pytest.fixture
def lead(db: None) -> User:
    return reviewer("Lea", Role.EVAL_LEAD)


@pytest.fixture(autouse=True)
def _drawn_the_same_in_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "choice", random.Random(7).choice)


# --- before anybody has answered one -----------------------------------------------------------------


def test_until_one_is_answered_all_is_the_same_to_the_letter(
    team: list[User], lead: User, waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same draws, in a world in which some are gold and in one in which none is: nobody reads a difference."""
    made = [waiting(reason) for reason in (QueuedFor.OTHER_TAG, QueuedFor.SAMPLE) for _ in range(6)]
    gold = [made[1], made[4], made[8]]

    def written_down() -> list[str]:
        monkeypatch.setattr(secrets, "choice", random.Random(7).choice)
        return [line for step in range(4) for line in _one_step(team[step % 3], step, {each.pk for each in gold})]

    with _undone():
        without = written_down()
    with _undone():
        for result in gold:
            set_gold(lead, result.pk, ("cut_in",), "Plain.")
        assert written_down() == without
    assert any("in hand" in line for line in without)


def _one_step(person: User, step: int, never_filed: set[int]) -> list[str]:
    """Take one; file it, or leave it where it is one of these."""
    now = timezone.now()
    taken = take_next(person, now)
    assert taken is not None
    read = [str(taken.pk), *_everything_read_by(person)]
    if taken.pk in never_filed:
        let_go(person, taken)
    else:
        file_review(person, taken.pk, AS_FILED, based_on=1, now=now)
    return read


def _everything_read_by(person: User) -> list[str]:
    client = make.client_of(person)
    paths = ["/review/", *(f"/results/?review={state}" for state in REVIEW_STATES)]
    for pk in Result.objects.order_by("pk").values_list("pk", flat=True):
        paths += [f"/results/{pk}/", f"/review/{pk}/"]
    pages = (client.get(path, follow=True).text for path in paths)
    return [re.sub(r"\d\d:\d\d|\d+ (second|minute)s?", "TIME", SECRET_PARTS.sub("", page)) for page in pages]


@contextmanager
def _undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


# --- while others answer ---------------------------------------------------------------------------------


@dataclass
class Notes:
    """What an attacker writes down: of everything that one rule points at, how much is gold that others answered."""

    pointed_at: int = 0
    right: int = 0

    def add(self, suspects: set[int], gold: set[int]) -> None:
        self.pointed_at += len(suspects)
        self.right += len(suspects & gold)

    @property
    def share(self) -> float:
        return self.right / self.pointed_at if self.pointed_at else 0.0


@dataclass
class Attack:
    """Four rules, applied by every reviewer before each press of Next.

    `waits`: whatever the list says waits for me. `oldest`: the oldest five of it. `passed by`: older than something
    that others have reviewed. `given`: what I was given.
    """

    notes: dict[str, Notes] = field(default_factory=lambda: {name: Notes() for name in ("waits", "passed by", "given")})
    emptied: int = 0

    def step(self, person: User, number: int) -> None:
        now = NOW + timedelta(hours=number)
        gold = _answered_gold()
        listed = _listed(person)
        mine = set(Review.objects.filter(reviewer=person).values_list("result", flat=True))
        suspects = listed - mine
        counted = sum(each.count for each in show_queue(person, now).waiting)
        assert counted == len(suspects), "list and counts agree"
        newest_reviewed = Result.objects.filter(reviewed_at__isnull=False).order_by("-pk").first()
        self.notes["waits"].add(suspects, gold)
        if newest_reviewed is not None:
            self.notes["passed by"].add({pk for pk in suspects if pk < newest_reviewed.pk}, gold)
        taken = take_next(person, now)
        assert (taken is not None) == bool(suspects), "what is listed is given: nothing is left that never comes"
        if taken is None:
            self.emptied += 1
            return
        self.notes["given"].add({taken.pk}, gold)
        file_review(person, taken.pk, AS_FILED, based_on=1, now=now)


def _answered_gold() -> set[int]:
    answered = Review.objects.filed().filter(is_of_gold=True).values("result")
    return set(GoldAnswer.objects.filter(retired_at=None, result__in=answered).values_list("result", flat=True))


def _listed(person: User) -> set[int]:
    listing = make.client_of(person).get(f"/results/?review={WAITING}&per=100").context["listing"]
    listed = {row.pk for row in Result.objects.visible_to(person).filter(queued_for__lt=QueuedFor.PICK)}
    assert listing.count == len(listed)
    return listed


def test_by_no_rule_does_a_reviewer_point_at_gold_more_often_than_the_share(
    team: list[User], lead: User, waiting: Waiting, settings: LazySettings
) -> None:
    settings.GOLD_SHARE = 10
    made = [waiting() for _ in range(60)]
    for result in random.Random(3).sample(made, 12):
        set_gold(lead, result.pk, ("cut_in",), "Plain.")
    attack = Attack()
    for number in range(84):
        attack.step(team[number % 3], number)
    shares = {name: notes.share for name, notes in attack.notes.items()}
    assert attack.notes["given"].pointed_at > 50
    assert Review.objects.filter(is_of_gold=True).count() > 6, "some was met"
    assert max(shares["waits"], shares["passed by"]) <= 0.12, shares
    assert shares["given"] <= 0.2, shares
    assert attack.emptied, "to the very end"


@pytest.mark.parametrize("waits", [2, 5, 9])
def test_in_a_short_queue_nothing_that_waits_is_gold_that_somebody_answered(
    waits: int, team: list[User], lead: User, waiting: Waiting
) -> None:
    """So there is nothing to guess: each is met by one reviewer, and all of them are met."""
    made = [waiting() for _ in range(waits)]
    gold = {result.pk for result in made[::2]}
    for pk in gold:
        set_gold(lead, pk, ("cut_in",), "Plain.")
    attack = Attack()
    for number in range(2 * waits + 3):
        assert _answered_gold() == set()
        attack.step(team[number % 3], number)
    assert attack.emptied
    answers = Review.objects.filter(is_of_gold=True)
    assert sorted(answers.values_list("result", flat=True)) == sorted(gold)
    page = make.client_of(lead).get("/review/gold/").text
    assert "Where fewer than 10 wait for the same reason, each is met by one reviewer" in page


def test_the_trail_names_gold_as_it_names_any_review(team: list[User], lead: User, waiting: Waiting) -> None:
    gold, other = waiting(), waiting()
    set_gold(lead, gold.pk, ("cut_in",), "Plain.")
    for result in (gold, other):
        for person in team[1:] if result == gold else team[1:2]:
            file_review(person, result.pk, AS_FILED, based_on=1, now=NOW)
    lines = AuditEntry.objects.filter(action="reviewed a result")
    assert len({line.target for line in lines}) == 3, "not even that two were of the same result"
    assert {re.sub(r"[0-9a-f]{10}", "KEY", f"{line.target} {line.script} {line.details}") for line in lines} == {
        "review KEY  {}"
    }
