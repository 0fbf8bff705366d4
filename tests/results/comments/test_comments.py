"""The thread of a result: who reads it, who is told, what is kept and what is taken back."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from results.comments.comment_on import SAID_BY_ONE, comment_on, read_comments, withdraw_comment
from results.comments.show_thread import MOST_SHOWN, show_thread
from results.comments.tell_threads import tell_threads
from results.models import Comment, Result
from results.review.file_review import Judged, file_review
from results.review.hold_result import begin_review
from scripts_catalog import taxonomy
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def result(tester: User) -> Result:
    return make.result(tester, make.script("bad-news-day"), make.build())


def said_to(user: User, result: Result) -> list[str]:
    return [each.comment.text for each in show_thread(user, result).said]


def new_for(user: User) -> dict[int, int]:
    return {each.result.pk: each.new for each in tell_threads(user, only_new=True)}


@pytest.mark.data_layer
def test_everybody_who_may_see_the_result_reads_and_writes(
    tester: User, eval_member: User, manager: User, result: Result
) -> None:
    for person in (tester, eval_member, manager):
        comment_on(person, result, f"{person.email} says")
    for person in (tester, eval_member, manager, make.user(None, Role.TESTER)):
        assert said_to(person, result) == [f"{p.email} says" for p in (tester, eval_member, manager)]


def test_a_form_without_scripts_adds_a_comment_and_leads_back_to_the_thread(
    eval_client: Client, eval_member: User, result: Result
) -> None:
    answer = eval_client.post(reverse("comments", args=[result.pk]), {"text": "  First line.\r\nSecond line.\x00 "})
    assert answer["Location"] == f"/results/{result.pk}/#comments"
    assert Comment.objects.get().text == "First line.\nSecond line."
    page = eval_client.get(answer["Location"]).text
    assert '<p class="said" dir="auto">First line.\nSecond line.</p>' in page
    entry = AuditEntry.objects.get(action="commented on a result")
    assert (entry.actor, entry.target, entry.script) == (eval_member, str(result.pk), "bad-news-day")


def test_htmx_gets_the_thread_in_place(eval_client: Client, result: Result) -> None:
    answer = eval_client.post(
        reverse("comments", args=[result.pk]), {"text": "In place."}, headers={"HX-Request": "true"}
    )
    assert answer.status_code == 200
    assert answer.text.strip().startswith('<section class="card thread" id="comments"')
    assert "In place." in answer.text
    assert "Your comment is added." in answer.text


@pytest.mark.parametrize("text", ["", "   ", "…\n", "x" * 5_001, "\u3164"])
def test_what_is_no_comment_is_told_in_words_and_nothing_typed_is_lost(
    eval_client: Client, result: Result, text: str
) -> None:
    answer = eval_client.post(reverse("comments", args=[result.pk]), {"text": text})
    assert answer.status_code == 422
    assert answer.text.count("Write something first." if len(text) < 5_000 else "at most 5,000 characters") == 2
    assert text.strip() in answer.text
    assert not Comment.objects.exists()


@pytest.mark.data_layer
def test_the_same_words_sent_twice_in_a_hurry_are_one_comment(eval_member: User, result: Result) -> None:
    first = comment_on(eval_member, result, "Why?")
    assert comment_on(eval_member, result, "Why?") == first
    Comment.objects.update(at=timezone.now() - timedelta(minutes=3))
    assert comment_on(eval_member, result, "Why?") != first
    assert AuditEntry.objects.filter(action="commented on a result").count() == 2


@pytest.mark.data_layer
@pytest.mark.django_db(transaction=True)
def test_sent_twice_at_the_same_moment_they_are_one_too(eval_member: User, result: Result) -> None:
    ready = threading.Barrier(4)

    def send() -> None:
        ready.wait()
        comment_on(eval_member, result, "Why?")
        connections.close_all()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Comment.objects.count() == 1


@pytest.mark.data_layer
def test_a_withdrawn_comment_leaves_its_place_and_no_word(tester: User, eval_member: User, result: Result) -> None:
    said = comment_on(eval_member, result, "Nonsense of mine.")
    comment_on(tester, result, "What do you mean?")
    assert withdraw_comment(eval_member, said)
    assert not withdraw_comment(eval_member, said), "once is enough"
    assert said_to(tester, result) == ["", "What do you mean?"]
    assert not Comment.objects.filter(text__contains="Nonsense").exists()
    page = make.client_of(tester).get(result.get_absolute_url()).text
    assert "Withdrawn." in page
    assert "Nonsense" not in page
    assert AuditEntry.objects.filter(action="withdrew a comment", target=str(result.pk)).count() == 1


def test_nobody_withdraws_the_words_of_another(tester_client: Client, eval_member: User, result: Result) -> None:
    said = comment_on(eval_member, result, "Mine.")
    assert tester_client.post(reverse("comment_withdraw", args=[said.pk])).status_code == 404
    said.refresh_from_db()
    assert said.text == "Mine."
    assert "Withdraw" not in tester_client.get(result.get_absolute_url()).text


def test_one_withdraws_by_a_form_without_scripts(eval_client: Client, eval_member: User, result: Result) -> None:
    said = comment_on(eval_member, result, "Mine.")
    assert reverse("comment_withdraw", args=[said.pk]) in eval_client.get(result.get_absolute_url()).text
    answer = eval_client.post(reverse("comment_withdraw", args=[said.pk]), follow=True)
    assert "Your comment is withdrawn." in answer.text


@pytest.mark.data_layer
def test_the_tester_and_those_who_spoke_before_are_told(
    tester: User, eval_member: User, manager: User, result: Result
) -> None:
    comment_on(eval_member, result, "One.")
    assert (new_for(tester), new_for(eval_member), new_for(manager)) == ({result.pk: 1}, {}, {})
    comment_on(manager, result, "Two.")
    assert (new_for(tester), new_for(eval_member), new_for(manager)) == ({result.pk: 2}, {result.pk: 1}, {})
    comment_on(tester, result, "Three.")
    assert (new_for(tester), new_for(eval_member), new_for(manager)) == ({}, {result.pk: 2}, {result.pk: 1})


@pytest.mark.data_layer
def test_what_was_read_or_withdrawn_is_not_new(tester: User, eval_member: User, result: Result) -> None:
    first, second = comment_on(eval_member, result, "One."), comment_on(eval_member, result, "Two.")
    read_comments(tester, result, first.pk)
    assert new_for(tester) == {result.pk: 1}
    read_comments(tester, result, 0)
    assert new_for(tester) == {result.pk: 1}, "nothing is unread again"
    withdraw_comment(eval_member, second)
    assert new_for(tester) == {}


def test_the_to_do_page_shows_new_comments_until_they_are_read(
    tester: User, tester_client: Client, eval_member: User, result: Result
) -> None:
    assert "New comments" not in tester_client.get("/todo/").text
    said = comment_on(eval_member, result, "Which button was it?")
    page = tester_client.get("/todo/").text
    assert "New comments" in page
    assert "Which button was it?" in page
    assert "New comments" in tester_client.get("/todo/").text, "reading a page alone changes nothing"
    answer = tester_client.post(
        reverse("comments_read", args=[result.pk]), {"up_to": str(said.pk), "back": "todo"}, follow=True
    )
    assert answer.redirect_chain == [("/todo/", 302)]
    assert "New comments" not in answer.text


def test_a_button_leads_back_to_no_address_of_the_senders_choice(tester_client: Client, result: Result) -> None:
    sent = {"up_to": "9" * 30, "back": "https://elsewhere.example.test/"}
    answer = tester_client.post(reverse("comments_read", args=[result.pk]), sent)
    assert answer["Location"] == f"/results/{result.pk}/#comments"


def test_who_says_very_much_waits_and_loses_no_word(
    eval_client: Client, result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("results.views.comments.SAID_BY_ONE", replace(SAID_BY_ONE, most=2))
    path = reverse("comments", args=[result.pk])
    answers = [eval_client.post(path, {"text": f"comment no. {number}."}) for number in range(3)]
    assert [answer.status_code for answer in answers] == [302, 302, 429]
    assert "comment no. 2." in answers[2].text
    assert "Your words are still here" in answers[2].text
    assert Comment.objects.count() == 2


def test_a_very_long_thread_is_counted_no_further_than_needed(
    eval_client: Client, eval_member: User, result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("results.comments.show_thread.MOST_COUNTED", 60)
    Comment.objects.bulk_create(Comment(result=result, by=eval_member, text=f"no. {n}.") for n in range(70))
    page = eval_client.get(result.get_absolute_url())
    assert "more than 60" in page.text
    assert page.text.count('class="said"') == MOST_SHOWN


def test_a_thread_that_is_long_shows_its_end_and_leads_to_all_of_it(
    eval_client: Client, eval_member: User, result: Result
) -> None:
    for number in range(MOST_SHOWN + 3):
        Comment.objects.create(result=result, by=eval_member, text=f"comment no. {number}.")
    page = eval_client.get(result.get_absolute_url()).text
    assert "comment no. 2." not in page
    earlier = Comment.objects.order_by("pk")[3].pk
    path = f"{reverse('comments', args=[result.pk])}?before={earlier}"
    assert f'href="{path}">Earlier comments' in page
    page = eval_client.get(path).text
    assert page.index("comment no. 0.") < page.index("comment no. 2.")
    assert "comment no. 3." not in page
    assert "Earlier comments" not in page
    assert "The newest comments" in page


@pytest.mark.data_layer
def test_nothing_is_told_of_results_that_may_not_be_seen(trained_tester: User, eval_member: User) -> None:
    trained = make.user(None, Role.EVAL_TEAM, is_trained=True)
    hidden = make.result(trained_tester, make.script(area=taxonomy.SAFETY), make.build())
    comment_on(eval_member, hidden, "From when I was trained.")
    comment_on(trained, hidden, "Secret.")
    assert tell_threads(eval_member) == []
    assert [each.new for each in tell_threads(trained_tester)] == [2]
    answer = make.client_of(eval_member).post(reverse("comments", args=[hidden.pk]), {"text": "Hello?"})
    assert answer.status_code == 404
    assert not AuditEntry.objects.visible_to(eval_member).filter(action="commented on a result").exists()


@pytest.mark.data_layer
def test_a_blind_reviewer_reads_no_word_of_the_others_until_all_are_in(
    tester: User, eval_member: User, manager: User, result: Result, settings: Any
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    first = make.user(None, Role.EVAL_TEAM)
    comment_on(tester, result, "Before anybody looked.")
    begin_review(first, result, timezone.now())
    comment_on(first, result, "It is the voice.")
    comment_on(manager, result, "The voice, really?")
    file_review(first, result.pk, Judged(("flat_delivery",), "Listened."), based_on=1, now=timezone.now())
    begin_review(eval_member, result, timezone.now())
    comment_on(eval_member, result, "I find it slow.")

    thread = show_thread(eval_member, result)
    assert [each.comment.text for each in thread.said] == ["Before anybody looked.", "I find it slow."]
    assert thread.some_may_be_withheld
    assert new_for(eval_member) == {}
    page = make.client_of(eval_member).get(result.get_absolute_url()).text
    assert "is not shown to you before all reviews are in" in page
    assert "the voice" not in page.lower()
    assert len(said_to(manager, result)) == len(said_to(tester, result)) == 4, "nobody else is kept from it"

    file_review(eval_member, result.pk, Judged(("too_slow",), "Listened."), based_on=1, now=timezone.now())
    result.refresh_from_db()
    assert len(said_to(eval_member, result)) == 4


def test_a_lost_sign_in_keeps_what_was_typed(tester_client: Client, tester: User, result: Result) -> None:
    path = reverse("comments", args=[result.pk])
    gone = Client()
    answer = gone.post(path, {"text": "Long words.", "typed_by": str(tester.pk)})
    assert "/account/login/" in answer["Location"]
    gone.force_login(tester)
    assert ">\nLong words.</textarea>" in gone.get(path).text
    assert not Comment.objects.exists()


def test_the_number_of_queries_does_not_depend_on_the_thread(tester: User, result: Result) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            make.client_of(tester).get(result.get_absolute_url())
        return len(seen)

    comment_on(make.user(), result, "One.")
    few = queries()
    for number in range(10):
        comment_on(make.user(), result, f"And {number}.")
    assert queries() == few
