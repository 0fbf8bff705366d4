"""Gold results: set by leads, met by reviewers among others, kept within the share, and known to nobody but leads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.db import IntegrityError, transaction
from django.test import Client

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from results.models import GoldAnswer, QueuedFor, Result, Review
from results.review.file_review import Judged, file_review
from results.review.gold import (
    CannotBeGoldError,
    keep_all_within_share,
    name_in_the_trail,
    retire_gold,
    set_gold,
)
from results.review.hold_result import begin_review
from results.review.take_next import take_next
from scripts_catalog import taxonomy
from tests import make

from .conftest import NOW, Waiting, reviewer

pytestmark = pytest.mark.django_db
TAGS = ("cut_in", "too_long")
WHY = "She speaks over the caller twice."
Gilded = Callable[..., Result]


@pytest.fixture
def lea(db: None) -> User:
    return reviewer("Lea", Role.EVAL_LEAD)


@pytest.fixture
def gilded(lea: User, waiting: Waiting) -> Gilded:
    def make_one(reason: QueuedFor | None = QueuedFor.OTHER_TAG, **fields: object) -> Result:
        result = waiting(reason, **fields)
        set_gold(lea, result.pk, TAGS, WHY)
        return result

    return make_one


def work(person: User, items: int) -> Iterator[tuple[Result, bool]]:
    """Take and file, again and again: each result with whether it was gold."""
    for number in range(items):
        now = NOW + timedelta(minutes=number)
        result = take_next(person, now)
        assert result is not None
        review = file_review(person, result.pk, Judged(TAGS, "Heard it."), based_on=1, now=now)
        yield result, review.is_of_gold


# --- when a reviewer meets one ---------------------------------------------------------------------


def gold_in_force() -> set[int]:
    return set(GoldAnswer.objects.filter(retired_at=None).values_list("result", flat=True))


@pytest.mark.data_layer
def test_everybody_meets_it_among_others_and_answers_it_once(
    rae: User, ron: User, waiting: Waiting, gilded: Gilded
) -> None:
    only = gilded()
    for _ in range(20):
        waiting()
    met: dict[User, list[Result]] = {rae: [], ron: []}
    for person, answered in met.items():
        while only not in answered:
            [(result, is_gold)] = work(person, 1)
            assert is_gold == (result == only)
            answered.append(result)
            waiting()
        answered += [result for result, _ in work(person, 5)]
    assert [taken.count(only) for taken in met.values()] == [1, 1]


@pytest.mark.data_layer
def test_after_an_answer_it_waits_on_while_it_is_no_more_than_the_share_of_what_waits(
    rae: User, waiting: Waiting, gilded: Gilded, settings: LazySettings
) -> None:
    """Of twenty and ten percent two are kept; the one that was answered first goes first."""
    settings.GOLD_SHARE = 10
    first, second, third, unanswered = (gilded() for _ in range(4))
    others = [waiting() for _ in range(16)]
    kept = []
    for number, result in enumerate([first, second, third, others[0]]):
        file_review(rae, result.pk, Judged(TAGS, "So."), based_on=1, now=NOW + timedelta(minutes=number))
        kept.append(gold_in_force())
    all_four = {each.pk for each in (first, second, third, unanswered)}
    assert kept == [all_four, all_four, all_four - {first.pk}, {third.pk, unanswered.pk}]
    first.refresh_from_db()
    assert first.queued_for == QueuedFor.OTHER_TAG, "it waits on, as any other"


@pytest.mark.data_layer
@pytest.mark.parametrize("share", [0, 10])
def test_in_a_short_queue_or_without_a_share_it_is_answered_once(
    share: int, rae: User, ron: User, waiting: Waiting, gilded: Gilded, settings: LazySettings
) -> None:
    settings.GOLD_SHARE = share
    gold = gilded()
    for _ in range(5):
        waiting()
    answers = [
        file_review(person, gold.pk, Judged(TAGS, "So."), based_on=1, now=NOW).is_of_gold for person in (rae, ron)
    ]
    gold.refresh_from_db()
    assert (answers, gold.queued_for) == ([True, False], None)


@pytest.mark.data_layer
@pytest.mark.django_db(transaction=True)  # as the hourly look is: in no transaction of somebody else's
def test_a_queue_that_grew_shorter_by_itself_keeps_less_of_it(rae: User, waiting: Waiting, gilded: Gilded) -> None:
    gold, others = gilded(), [waiting() for _ in range(12)]
    file_review(rae, gold.pk, Judged(TAGS, "So."), based_on=1, now=NOW)
    assert gold_in_force() == {gold.pk}
    Result.objects.filter(pk__in=[each.pk for each in others[:5]]).update(queued_for=None)
    assert keep_all_within_share(NOW) == 1
    assert gold_in_force() == set()


@pytest.mark.data_layer
@pytest.mark.parametrize("case", ["own", "lead", "held", "hidden", "answered", ""])
def test_it_is_given_to_nobody_for_whom_it_is_not(case: str, lea: User, rae: User, ron: User, gilded: Gilded) -> None:
    person = lea if case == "lead" else rae
    fields: dict[str, object] = {"tester": rae} if case == "own" else {}
    if case == "hidden":
        fields = {"script": make.script(area=taxonomy.SAFETY)}
    gold = gilded(**fields)
    if case == "held":
        begin_review(ron, gold, NOW)
    if case == "answered":
        file_review(rae, gold.pk, Judged(TAGS, "So."), based_on=1, now=NOW)
    assert take_next(person, NOW) == (None if case else gold)


@pytest.mark.data_layer
def test_gold_of_safety_is_given_to_the_trained(gilded: Gilded) -> None:
    gold = gilded(script=make.script(area=taxonomy.SAFETY))
    assert take_next(reviewer("Tara", is_trained=True), NOW) == gold


# --- an answer of gold -----------------------------------------------------------------------------


@pytest.mark.data_layer
def test_an_answer_never_stands_and_the_result_stays_unreviewed(rae: User, gilded: Gilded) -> None:
    gold = gilded()
    begin_review(rae, gold, NOW)
    review = file_review(rae, gold.pk, Judged(TAGS, "Heard it."), based_on=1, now=NOW)
    gold.refresh_from_db()
    assert (review.is_of_gold, review.stands, gold.reviewed_at) == (True, False, None)
    with pytest.raises(IntegrityError), transaction.atomic():
        Review.objects.filter(pk=review.pk).update(stands=True)


# --- setting it ------------------------------------------------------------------------------------


@pytest.mark.data_layer
def test_only_what_waits_becomes_gold(lea: User, waiting: Waiting) -> None:
    for result in (waiting(None), waiting(QueuedFor.PICK)):
        with pytest.raises(CannotBeGoldError):
            set_gold(lea, result.pk, TAGS, WHY)
    assert not GoldAnswer.objects.exists()


@pytest.mark.parametrize("done", ["nothing", "begun", "filed"])
def test_a_lead_who_is_still_to_review_is_not_told_by_it_what_others_did(
    done: str, lea: User, rae: User, waiting: Waiting, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    result, client = waiting(), make.client_of(lea)
    path = f"/review/gold/{result.pk}/"

    def said() -> list[str]:
        pages = [client.get(address) for address in (path, result.get_absolute_url())]
        return [re.sub(r'name="csrfmiddlewaretoken" value="\w+"|nonce="[^"]+"', "", page.text) for page in pages]

    before = said()
    if done != "nothing":
        begin_review(rae, result, NOW)
    if done == "filed":
        file_review(rae, result.pk, Judged(TAGS), based_on=1, now=NOW)
    assert said() == before
    assert client.post(path, {"place-cut_in": "1", "why": WHY}).status_code == 302


@pytest.mark.data_layer
def test_it_is_changed_retired_and_brought_back(lea: User, rae: User, gilded: Gilded) -> None:
    gold = gilded()
    set_gold(lea, gold.pk, (), "On a second hearing there is nothing.")
    assert GoldAnswer.objects.get().tags == []
    assert [retire_gold(lea, gold.pk), retire_gold(lea, gold.pk)] == [True, False]
    set_gold(lea, gold.pk, TAGS, WHY)
    assert GoldAnswer.objects.get().retired_at is None
    retire_gold(lea, gold.pk)
    file_review(rae, gold.pk, Judged(TAGS), based_on=1, now=NOW)
    with pytest.raises(CannotBeGoldError):
        set_gold(lea, gold.pk, TAGS, WHY)
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions)[:2] == ["set a gold answer", "changed a gold answer"]


def test_a_lead_sets_it_by_plain_forms(lea: User, waiting: Waiting) -> None:
    client, result = make.client_of(lea), waiting()
    assert f"/review/gold/{result.pk}/" in client.get(result.get_absolute_url()).text
    path = f"/review/gold/{result.pk}/"
    page = client.get(path).text
    assert 'name="place-too_long" id="id_place-too_long" value="1"' in page, "begins as the tester has them"
    answer = client.post(path, {"place-cut_in": "1", "place-weird_gaze": "2", "why": WHY})
    assert answer["Location"] == "/review/gold/"
    assert GoldAnswer.objects.get().tags == ["cut_in", "weird_gaze"]
    listed = client.get("/review/gold/").text
    assert WHY in listed
    assert name_in_the_trail(result) in listed
    assert "To add one, open a result that waits" in listed
    assert 'href="/results/?review=waiting"' in listed
    client.post(path, {"retire": "1"})
    assert GoldAnswer.objects.get().retired_at is not None


def test_an_answer_is_set_beside_the_evidence_and_may_be_that_there_was_no_problem(lea: User, waiting: Waiting) -> None:
    result = waiting(comment="She cut me off.", recording_link="https://recordings.example.test/7")
    client, path = make.client_of(lea), f"/review/gold/{result.pk}/"
    page = client.get(path).text
    for words in ("She cut me off.", 'href="https://recordings.example.test/7"', "Problems as filed", "Ratings"):
        assert words in page
    client.post(path, {"why": WHY, "no_problem": "on"})
    assert GoldAnswer.objects.get().tags == []


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"place-cut_in": "1"}, "Say in a few words why"),
        ({"place-cut_in": "1", "place-too_long": "1", "why": WHY}, "both have place 1"),
        ({"place-nonsense": "1", "why": WHY}, "not on the list of problems"),
        ({"place-cut_in": "first", "why": WHY}, "must be a whole number"),
        ({"why": WHY}, "Your list is empty: say that there was no problem"),
        ({"place-cut_in": "1", "why": "x" * 1_001}, "At most 1,000 characters"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_typed_is_lost(
    lea: User, waiting: Waiting, sent: dict[str, str], words: str
) -> None:
    answer = make.client_of(lea).post(f"/review/gold/{waiting().pk}/", sent)
    assert answer.status_code == 422
    assert answer.text.count(words) >= 2, "above the form and beside the field"
    assert sent.get("why", "") in answer.text
    assert not GoldAnswer.objects.exists()


def test_one_that_was_reviewed_meanwhile_is_refused_in_words(lea: User, rae: User, waiting: Waiting) -> None:
    result = waiting()
    file_review(rae, result.pk, Judged(("too_long", "cut_in")), based_on=1, now=NOW)
    answer = make.client_of(lea).post(f"/review/gold/{result.pk}/", {"place-cut_in": "1", "why": WHY})
    assert answer.status_code == 422
    assert "can’t become gold" in answer.text


@pytest.mark.parametrize("role", [role for role in Role if role != Role.EVAL_LEAD])
def test_nobody_else_opens_any_page_of_it(role: Role, waiting: Waiting) -> None:
    client, result = make.client_of(make.user(None, role)), waiting()
    for path in ("/review/gold/", f"/review/gold/{result.pk}/"):
        assert client.get(path).status_code == 403
    assert client.post(f"/review/gold/{result.pk}/", {"why": WHY}).status_code == 403
    assert "gold" not in client.get(result.get_absolute_url()).text.lower()


def test_a_lead_who_is_not_trained_knows_no_gold_of_safety(lea: User, waiting: Waiting) -> None:
    trained = reviewer("Tara", Role.EVAL_LEAD, is_trained=True)
    hidden = waiting(script=make.script("quiet", area=taxonomy.SAFETY, title="Quiet talk"))
    set_gold(trained, hidden.pk, TAGS, "A secret reason.")
    client: Client = make.client_of(lea)
    assert "secret reason" not in client.get("/review/gold/").text
    assert client.get(f"/review/gold/{hidden.pk}/").status_code == 404
    assert not AuditEntry.objects.visible_to(lea).filter(action="set a gold answer").exists()
    assert "secret reason" in make.client_of(trained).get("/review/gold/").text
