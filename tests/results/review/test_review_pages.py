"""The pages of reviewing, by plain forms and by the requests of their script."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from emma_eval.accounts.models import User
from results.comments.comment_on import comment_on
from results.models import MOST_REASON_CHARACTERS, Hold, QueuedFor, Result, Review
from results.review.file_review import Judged, file_review
from results.review.hold_result import begin_review, let_go
from results.review.pick_review import pick_review
from tests import make

from .conftest import NOW, Waiting, reviewer

pytestmark = [pytest.mark.django_db]
AS_FILED = {"place-too_long": "1", "place-cut_in": "2"}


@pytest.fixture
def client(rae: User) -> Client:
    return make.client_of(rae)


def at(name: str, result: Result) -> str:
    return reverse(name, args=[result.pk])


def begun(rae: User, result: Result) -> Result:
    begin_review(rae, result, timezone.now())
    return result


def send(client: Client, result: Result, **fields: Any) -> Any:
    return client.post(at("review", result), {"version": "1", "edition": "0", **fields})


# --- the queue --------------------------------------------------------------------------------------


def test_the_queue_says_how_many_wait_and_why(client: Client, waiting: Waiting) -> None:
    for reason in (QueuedFor.VERY_LOW, QueuedFor.VERY_LOW, QueuedFor.SAMPLE):
        waiting(reason)
    waiting(None)
    queue = client.get(reverse("review_queue")).context["queue"]
    assert [(each.reason, each.in_words) for each in queue.waiting] == [
        (QueuedFor.VERY_LOW, "2"),
        (QueuedFor.SAMPLE, "1"),
    ]


def test_no_count_tells_of_safety(waiting: Waiting) -> None:
    waiting(script=make.script("quiet-talk", area="safety"))
    assert make.client_of(reviewer()).get(reverse("review_queue")).context["queue"].is_empty
    trained = make.client_of(reviewer(is_trained=True))
    assert not trained.get(reverse("review_queue")).context["queue"].is_empty


def test_next_leads_to_the_one_it_took_and_says_when_nothing_is_left(client: Client, waiting: Waiting) -> None:
    answer = client.post(reverse("review_next"), follow=True)
    assert "Nothing waits for you" in answer.text
    result = waiting()
    answer = client.post(reverse("review_next"))
    assert (answer.status_code, answer["Location"]) == (303, at("review", result))


def test_a_lead_sees_what_waits_for_a_pick(
    eval_lead: User, rae: User, ron: User, waiting: Waiting, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    result = waiting()
    for person in (rae, ron):
        file_review(person, result.pk, Judged(("cut_in",), "Only that."), based_on=1, now=NOW)
    client = make.client_of(eval_lead)
    assert at("review_pick", result) in client.get(reverse("review_queue")).text
    assert at("review_pick", result) not in make.client_of(rae).get(reverse("review_queue")).text


def test_addresses_where_something_is_sent_lead_to_their_page_when_they_are_opened(
    client: Client, rae: User, waiting: Waiting
) -> None:
    result = begun(rae, waiting())
    assert client.get(reverse("review_next"))["Location"] == reverse("review_queue")
    for name in ("review_begin", "review_leave"):
        assert client.get(at(name, result))["Location"] == at("review", result)
    assert Hold.objects.count() == Review.objects.count() == 1


def test_comments_stand_on_the_page_of_a_review_but_not_another_reviewers_before_all_are_in(
    client: Client, tester: User, rae: User, ron: User, waiting: Waiting, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    result = waiting()
    comment_on(tester, result, "The line was bad.")
    begun(ron, result)
    comment_on(ron, result, "It is the voice, I say.")
    let_go(ron, result)
    page = client.get(at("review", begun(rae, result))).text
    assert "The line was bad." in page
    assert "It is the voice" not in page


# --- one review ------------------------------------------------------------------------------------------


def test_the_testers_row_stands_beside_the_form_with_the_same_tags(client: Client, rae: User, waiting: Waiting) -> None:
    result = begun(rae, waiting(comment="She cut me off twice.", recording_link="https://recordings.example.test/9"))
    page = client.get(at("review", result)).text
    for words in (
        "She cut me off twice.",
        "recordings.example.test",
        "Too long or rambling",
        'data-filed="too_long,cut_in"',
    ):
        assert words in page
    form = client.get(at("review", result)).context["form"]
    places = {tag.key: tag.place for group in form.groups for tag in group.tags if tag.place}
    assert places == {"too_long": "1", "cut_in": "2"}


def test_confirming_files_and_leads_to_the_next(client: Client, rae: User, waiting: Waiting) -> None:
    result, other = begun(rae, waiting()), waiting()
    answer = send(client, result, judged="right", **AS_FILED)
    assert (answer.status_code, answer["Location"]) == (303, at("review", other))
    review = Review.objects.get(result=result)
    assert (review.stands, review.confirms) == (True, True)


def test_filing_alone_leads_back_to_the_queue(client: Client, rae: User, waiting: Waiting) -> None:
    result = begun(rae, waiting())
    assert send(client, result, judged="right", stop="1", **AS_FILED)["Location"] == reverse("review_queue")


@pytest.mark.parametrize(
    ("fields", "where", "words"),
    [
        (AS_FILED, "judged", "Say whether the tags are right."),
        ({**AS_FILED, "judged": "maybe"}, "judged", "Say whether the tags are right."),
        ({"judged": "right", "place-cut_in": "1"}, "judged", "your list differs: 1 taken out"),
        ({**AS_FILED, "judged": "changed"}, "judged", "Your list is the same as the tester’s"),
        ({"judged": "changed", "place-cut_in": "1"}, "reason", "Say in a few words why your tags differ"),
        ({"judged": "changed", "place-cut_in": "1", "reason": " . "}, "reason", "Say in a few words why"),
        (
            {**AS_FILED, "judged": "changed", "place-other_content": "3"},
            "reason",
            "You added “Other content problem (describe in a note)”: say in a few words what it is.",
        ),
        ({"judged": "changed", "reason": "So."}, "no_problem", "Your list is empty: say that there was no problem"),
        (
            {"judged": "changed", "place-cut_in": "1", "reason": "So.", "no_problem": "on"},
            "no_problem",
            "and your list has some: it can’t be both",
        ),
        ({"judged": "changed", "place-cut_in": "one", "reason": "So."}, "problems", "must be a whole number"),
        ({"judged": "changed", "place-nothing": "1", "reason": "So."}, "problems", "not on the list"),
        ({"judged": "changed", "place-cut_in": "1", "place-too_fast": "1", "reason": "So."}, "problems", "both have"),
        (
            {"judged": "changed", "place-cut_in": "1", "reason": "x" * (MOST_REASON_CHARACTERS + 3)},
            "reason",
            "take out 3",
        ),
    ],
)
def test_what_is_wrong_is_said_and_nothing_typed_is_lost(
    client: Client, rae: User, waiting: Waiting, fields: dict[str, str], where: str, words: str
) -> None:
    answer = send(client, begun(rae, waiting()), **fields)
    assert answer.status_code == 422
    assert words in " ".join(answer.context["form"].errors[where])
    assert words in answer.text.replace("&quot;", '"')
    assert fields.get("reason", "") in answer.text
    assert Review.objects.get().filed_at is None


def test_no_problem_at_all_is_a_review_too(client: Client, rae: User, waiting: Waiting) -> None:
    send(client, begun(rae, waiting()), judged="changed", reason="There was nothing wrong.", no_problem="on")
    review = Review.objects.get()
    assert (review.stands, review.problems.count()) == (True, 0)


def test_sent_twice_it_is_filed_once(client: Client, rae: User, waiting: Waiting) -> None:
    result = begun(rae, waiting())
    for _ in range(2):
        send(client, result, judged="right", **AS_FILED)
    assert Review.objects.filed().count() == 1


def test_a_correction_meanwhile_is_told_with_both_and_nothing_is_lost(
    client: Client, rae: User, waiting: Waiting
) -> None:
    result = begun(rae, waiting())
    Result.objects.filter(pk=result.pk).update(version=2, comment="It froze, too.")
    result.problems.filter(tag="too_long").delete()
    answer = send(client, result, judged="changed", reason="The voice is flat.", **{"place-flat_delivery": "1"})
    assert answer.status_code == 409
    for words in (
        "The tester has corrected this result",
        "It froze, too.",
        "The voice is flat.",
        'name="version" value="2"',
    ):
        assert words in answer.text
    again = send(
        client, result, judged="changed", reason="The voice is flat.", version="2", **{"place-flat_delivery": "1"}
    )
    assert again.status_code == 303


def test_what_another_finished_meanwhile_stays_readable(client: Client, rae: User, ron: User, waiting: Waiting) -> None:
    result = begun(rae, waiting())
    let_go(rae, result)
    file_review(ron, result.pk, Judged(("cut_in",), "Only that."), based_on=1, now=timezone.now())
    answer = send(client, result, judged="changed", reason="My own words.", **{"place-flat_delivery": "1"})
    assert answer.status_code == 409
    assert "have been filed meanwhile" in answer.text
    later = client.get(at("review", result))
    assert "My own words." in later.text
    assert "disabled" in later.text


def test_before_a_review_is_begun_nothing_wrong_is_said_of_its_recording(client: Client, waiting: Waiting) -> None:
    result = waiting()
    make.recording(result.tester, result.call_uuid)
    page = client.get(at("review", result)).text
    assert "Review this result" in page
    assert "No recording yet" not in page


def test_a_link_to_a_place_leads_there_when_the_review_is_begun(client: Client, waiting: Waiting) -> None:
    result = waiting()
    begin = f"{at('review_begin', result)}?t=83.5"
    assert f'action="{begin}"' in client.get(f"{at('review', result)}?t=83.5").text
    assert client.post(begin)["Location"] == f"{at('review', result)}?t=83.5"


def test_from_the_page_of_any_result_a_review_can_be_begun(client: Client, waiting: Waiting) -> None:
    result = waiting(None)
    assert at("review_begin", result) in client.get(result.get_absolute_url()).text
    assert client.post(at("review_begin", result))["Location"] == at("review", result)
    assert Hold.objects.get().result == result


def test_what_somebody_has_in_hand_says_who_and_until_when(client: Client, ron: User, waiting: Waiting) -> None:
    result = begun(ron, waiting())
    answer = client.post(at("review_begin", result), follow=True)
    until = timezone.localtime(Hold.objects.get().until)
    assert f"Ron has this result in hand until {until:%H:%M}" in answer.text
    assert not Review.objects.filter(reviewer__name="Rae").exists()


def test_left_for_later_it_is_kept_and_free_again(client: Client, rae: User, waiting: Waiting) -> None:
    result = begun(rae, waiting())
    client.post(at("review_leave", result), {"version": "1", "reason": "Half a thought.", "place-cut_in": "1"})
    assert not Hold.objects.exists()
    assert "Half a thought." in client.get(at("review", result)).text


def test_what_was_typed_survives_a_sign_in(rae: User, waiting: Waiting) -> None:
    result, client = begun(rae, waiting()), Client()
    sent = {"typed_by": str(rae.pk), "version": "1", "reason": "Half a thought.", **AS_FILED}
    leads_to = client.post(at("review", result), sent)["Location"]
    assert leads_to.startswith(reverse("account_login"))
    client.post(leads_to, {"login": rae.email, "password": make.PASSWORD})
    assert "Half a thought." in client.get(at("review", result)).text


# --- saving as one goes -------------------------------------------------------------------------------------


def save(client: Client, result: Result, **asked: Any) -> Any:
    body = {"edition": 0, "result_version": 1, "typed_by": "", "fields": {"reason": "Half"}, **asked}
    return client.put(at("review_save", result), json.dumps(body), content_type="application/json")


def test_a_save_answers_with_its_edition_and_how_long_the_result_is_held(
    client: Client, rae: User, waiting: Waiting
) -> None:
    result = begun(rae, waiting())
    answer = save(client, result).json()
    assert (answer["edition"], answer["message"], answer["version"]) == (1, "", 1)
    assert answer["until"] == f"{timezone.localtime(Hold.objects.get().until):%H:%M}"


def test_a_save_says_what_stands_against_filing(client: Client, rae: User, ron: User, waiting: Waiting) -> None:
    result = begun(rae, waiting())
    Hold.objects.update(until=timezone.now() - timedelta(seconds=1))
    begun(ron, result)
    answer = save(client, result).json()
    assert answer["message"].startswith("Ron has this result in hand")
    assert answer["until"] == ""


@pytest.mark.parametrize(
    ("asked", "status", "error"),
    [
        ({"typed_by": "999999"}, 401, "someone_else"),
        ({"fields": []}, 400, "malformed"),
        ({"edition": 7}, 409, "changed"),
        ({"fields": {"reason": "x" * 60_000}}, 413, "too_large"),
    ],
)
def test_a_save_that_can_not_be_made_says_why(
    client: Client, rae: User, waiting: Waiting, asked: dict[str, Any], status: int, error: str
) -> None:
    answer = save(client, begun(rae, waiting()), **asked)
    assert (answer.status_code, answer.json()["error"]) == (status, error)


def test_a_save_of_what_is_filed_leads_there(client: Client, rae: User, waiting: Waiting) -> None:
    result = begun(rae, waiting())
    assert save(client, waiting()).json()["error"] == "not_begun"
    send(client, result, judged="right", **AS_FILED)
    assert save(client, result).json()["filed"] == result.get_absolute_url()


# --- the pick -------------------------------------------------------------------------------------------------


@pytest.fixture
def both_in(rae: User, ron: User, waiting: Waiting, settings: LazySettings) -> Result:
    settings.REVIEWERS_PER_RESULT = 2
    result = waiting()
    file_review(rae, result.pk, Judged(("too_long", "cut_in")), based_on=1, now=NOW)
    file_review(ron, result.pk, Judged(("cut_in", "flat_delivery"), "It is the voice."), based_on=1, now=NOW)
    return result


def test_reviews_stand_side_by_side_with_what_differs(eval_lead: User, both_in: Result) -> None:
    page = make.client_of(eval_lead).get(at("review_pick", both_in)).text
    for words in (
        "Problems as filed",
        "Rae",
        "Ron",
        "It is the voice.",
        "1 added, 1 taken out",
        "The tags are right as filed.",
    ):
        assert words in page


def test_a_pick_is_made_beside_the_evidence(eval_lead: User, both_in: Result) -> None:
    said = {"comment": "She cut me off.", "recording_link": "https://recordings.example.test/7"}
    Result.objects.filter(pk=both_in.pk).update(**said)
    page = make.client_of(eval_lead).get(at("review_pick", both_in)).text
    for words in ("She cut me off.", 'href="https://recordings.example.test/7"', "Emotional fit", "Ratings"):
        assert words in page
    assert re.search(r"Too long or rambling <span[^>]*>biggest</span>", page)


def test_what_was_taken_out_stands_under_that_there_was_no_problem(rae: User, waiting: Waiting) -> None:
    result = waiting()
    file_review(rae, result.pk, Judged((), "Nothing of it was wrong."), based_on=1, now=NOW)
    page = make.client_of(rae).get(result.get_absolute_url()).text
    assert 0 < page.index("No problem.") < page.index("Taken out: ")


def test_beside_a_review_that_does_not_count_stands_why(eval_lead: User, rae: User, ron: User, both_in: Result) -> None:
    page = make.client_of(rae).get(both_in.get_absolute_url()).text
    assert page.count("Which review counts waits for the lead’s pick.") == 2
    pick_review(eval_lead, both_in.pk, ron.reviews.get().pk, "He listened longer.")
    page = make.client_of(rae).get(both_in.get_absolute_url()).text
    assert page.count("The lead picked another, whose tags count.") == 1
    assert "waits for the lead" not in page


def test_a_pick_needs_one_of_them_and_a_word(eval_lead: User, ron: User, both_in: Result) -> None:
    client, his = make.client_of(eval_lead), ron.reviews.get()
    for fields, words in (
        ({"word": "So."}, "Pick one"),
        ({"picked_review": his.pk}, "Say in a few words why you pick it."),
    ):
        answer = client.post(at("review_pick", both_in), fields)
        assert (answer.status_code, words in answer.text) == (422, True)
    answer = client.post(at("review_pick", both_in), {"picked_review": his.pk, "word": "He listened longer."})
    assert answer.status_code == 303
    assert "Problems as reviewed" in client.get(both_in.get_absolute_url()).text
