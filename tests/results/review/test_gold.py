"""Gold results: set by leads, met by reviewers by lot and never above the share, and known to nobody but leads."""

from __future__ import annotations

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
    gold_for,
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


@pytest.mark.data_layer
def test_each_block_of_the_share_has_one_and_the_first_has_none(
    rae: User, waiting: Waiting, gilded: Gilded, settings: LazySettings
) -> None:
    settings.GOLD_SHARE = 20
    for _ in range(6):
        gilded()
    for _ in range(30):
        waiting()
    met = [is_gold for _, is_gold in work(rae, 30)]
    blocks = [sum(met[start : start + 5]) for start in range(0, 30, 5)]
    assert blocks == [0, 1, 1, 1, 1, 1]
    for count in range(1, len(met) + 1):
        assert sum(met[:count]) <= count * settings.GOLD_SHARE / 100, "never more than the share"


@pytest.mark.data_layer
def test_the_place_in_a_block_follows_no_rhythm(waiting: Waiting, gilded: Gilded, settings: LazySettings) -> None:
    settings.GOLD_SHARE = 25
    for _ in range(4):
        gilded()
    for _ in range(90):
        waiting()
    places = set()
    for _ in range(5):
        met = [is_gold for _, is_gold in work(reviewer(), 16)]
        places |= {place % 4 for place, is_gold in enumerate(met) if is_gold}
    assert len(places) > 1


@pytest.mark.data_layer
def test_the_same_person_with_the_same_reviews_gets_the_same_answer(
    rae: User, waiting: Waiting, gilded: Gilded, settings: LazySettings
) -> None:
    settings.GOLD_SHARE = 50
    for _ in range(3):
        gilded()
    for _ in range(6):
        waiting()
    list(work(rae, 2))
    asked = {gold_for(rae, NOW + timedelta(hours=1)) for _ in range(5)}
    assert len(asked) == 1


@pytest.mark.data_layer
def test_nobody_answers_the_same_gold_twice(
    rae: User, waiting: Waiting, gilded: Gilded, settings: LazySettings
) -> None:
    settings.GOLD_SHARE = 50
    only = gilded()
    for _ in range(12):
        waiting()
    met = [result for result, is_gold in work(rae, 10) if is_gold]
    assert met == [only]


@pytest.mark.data_layer
def test_without_a_share_there_is_none(rae: User, waiting: Waiting, gilded: Gilded, settings: LazySettings) -> None:
    settings.GOLD_SHARE = 0
    gilded()
    for _ in range(12):
        waiting()
    assert not any(is_gold for _, is_gold in work(rae, 12))


@pytest.mark.data_layer
@pytest.mark.parametrize(
    "case", ["own", "lead", "held", "retired", "hidden", "more pressing waits", "nothing waits", ""]
)
def test_it_is_given_to_nobody_for_whom_it_is_not(
    case: str, lea: User, rae: User, ron: User, tester: User, waiting: Waiting, gilded: Gilded, settings: LazySettings
) -> None:
    settings.GOLD_SHARE = 50
    for _ in range(2):
        waiting()
    person = lea if case == "lead" else rae
    list(work(person, 2))
    fields: dict[str, object] = {"tester": rae} if case == "own" else {}
    if case == "hidden":
        fields = {"script": make.script(area=taxonomy.SAFETY)}
    gold = gilded(**fields)
    if case != "nothing waits":
        waiting(QueuedFor.DISAGREEMENT if case == "more pressing waits" else QueuedFor.SAMPLE)
    if case == "held":
        begin_review(ron, gold, NOW)
    if case == "retired":
        GoldAnswer.objects.update(retired_at=NOW)
    # At one of the two places of the block it is time.
    given = {gold_for(person, NOW)}
    Review.objects.create(result=waiting(), reviewer=person, filed_at=NOW)
    given.add(gold_for(person, NOW))
    assert given == {None} if case else gold in given


@pytest.mark.data_layer
def test_gold_of_safety_is_given_to_the_trained(waiting: Waiting, gilded: Gilded, settings: LazySettings) -> None:
    settings.GOLD_SHARE = 50
    trained = reviewer("Tara", is_trained=True)
    gold = gilded(script=make.script(area=taxonomy.SAFETY))
    for _ in range(6):
        waiting()
    assert gold in [result for result, is_gold in work(trained, 4) if is_gold]


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
def test_only_what_waits_and_nobody_has_begun_becomes_gold(lea: User, rae: User, waiting: Waiting) -> None:
    begun, filed = waiting(), waiting()
    begin_review(rae, begun, NOW)
    begin_review(lea, filed, NOW)
    file_review(lea, filed.pk, Judged(TAGS, "Heard it."), based_on=1, now=NOW)
    for result in (begun, filed, waiting(None), waiting(QueuedFor.PICK)):
        with pytest.raises(CannotBeGoldError):
            set_gold(lea, result.pk, TAGS, WHY)
    assert not GoldAnswer.objects.exists()


@pytest.mark.data_layer
def test_it_is_changed_retired_and_brought_back(lea: User, rae: User, gilded: Gilded) -> None:
    gold = gilded()
    set_gold(lea, gold.pk, (), "On a second hearing there is nothing.")
    assert GoldAnswer.objects.get().tags == []
    assert [retire_gold(lea, gold.pk), retire_gold(lea, gold.pk)] == [True, False]
    set_gold(lea, gold.pk, TAGS, WHY)
    assert GoldAnswer.objects.get().retired_at is None
    retire_gold(lea, gold.pk)
    begin_review(rae, gold, NOW)
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
    begin_review(rae, result, NOW)
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
