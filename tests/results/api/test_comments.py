"""Comments for programs: read as on the page of the result, added once, withdrawn by who said them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.programs.scopes import Scope
from emma_eval.accounts.roles import Role
from results.comments.comment_form import MOST_CHARACTERS
from results.comments.comment_on import SAID_BY_ONE, comment_on, withdraw_comment
from results.comments.show_thread import show_thread
from results.comments.tell_threads import tell_threads
from results.models import Comment, Result
from results.review.file_review import Judged, file_review
from results.review.hold_result import begin_review
from tests import make
from tests.programs import Program

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


@pytest.fixture
def result(tester: User) -> Result:
    return make.result(tester, make.script("bad-news-day"), make.build())


def path_of(result: Result) -> str:
    return f"/api/v1/results/{result.pk}/comments/"


def said_to(person: User, result: Result) -> list[str]:
    answer = Program(person, name=str(timezone.now())).get(path_of(result))
    assert answer.status_code == 200, answer.text
    return [item["text"] for item in answer.json()["items"]]


def test_a_comment_is_added_and_read_as_on_the_page(eval_member: User, tester: User, result: Result) -> None:
    program = Program(eval_member)
    answer = program.add(path_of(result), {"text": "  First line.\r\nSecond line.\x00 "})
    assert answer.status_code == 201, answer.text
    (item,) = program.get(path_of(result)).json()["items"]
    kept = Comment.objects.get()
    assert item == answer.json()
    assert (item["id"], item["result"], item["text"]) == (str(kept.pk), str(result.pk), "First line.\nSecond line.")
    assert (item["by"], item["withdrawn_at"]) == ({"id": eval_member.pk, "name": str(eval_member)}, None)
    assert [each.comment for each in show_thread(tester, result).said] == [kept]
    assert [each.new for each in tell_threads(tester)] == [1], "its tester is told"
    assert AuditEntry.objects.filter(action="commented on a result", actor=eval_member).count() == 1


def test_its_tester_names_it_by_the_uuid_that_it_was_filed_under(tester: User, result: Result) -> None:
    assert Program(tester).add(f"/api/v1/results/{result.draft_uuid}/comments/", {"text": "Mine."}).status_code == 201
    assert said_to(tester, result) == ["Mine."]


def test_reading_marks_nothing_as_read(eval_member: User, tester: User, result: Result) -> None:
    comment_on(eval_member, result, "Which button was it?")
    assert said_to(tester, result) == ["Which button was it?"]
    assert [each.new for each in tell_threads(tester, only_new=True)] == [1]


@pytest.mark.django_db(transaction=True)
def test_eight_that_say_the_same_at_once_say_it_once(eval_member: User, result: Result) -> None:
    program = Program(eval_member)

    def send(_: int) -> Any:
        try:
            return program.add(path_of(result), {"text": "Again?"})
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert len({answer.text for answer in answers}) == Comment.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({}, "/text"),
        ({"text": ""}, "/text"),
        ({"text": " \n\u200b"}, "/text"),
        ({"text": "a" * (MOST_CHARACTERS + 1)}, "/text"),
        ({"text": 7}, "/text"),
        ({"text": None}, "/text"),
        ({"text": "Hello.", "by": 1}, "/by"),
        (["Hello."], ""),
    ],
)
def test_it_is_judged_by_the_form_of_the_page(eval_member: User, result: Result, body: Any, place: str) -> None:
    answer = Program(eval_member).add(path_of(result), body)
    assert answer.status_code == 422, answer.text
    assert [fault["pointer"] for fault in answer.json()["errors"]] == [place]
    assert not Comment.objects.exists()


def test_the_limit_of_comments_holds_for_pages_and_programs_together(eval_member: User, result: Result) -> None:
    client, program = make.client_of(eval_member), Program(eval_member)
    for number in range(SAID_BY_ONE.most):
        answer = program.add(path_of(result), {"text": f"No. {number}"})
        assert answer.status_code == 201, answer.text
    refused = program.add(path_of(result), {"text": "One too many."})
    assert (refused.status_code, refused["Content-Type"]) == (429, "application/problem+json")
    assert 0 < int(refused["Retry-After"]) <= SAID_BY_ONE.within / timedelta(seconds=1)
    assert client.post(f"/results/{result.pk}/comments/", {"text": "Nor here."}).status_code == 429
    assert Comment.objects.count() == SAID_BY_ONE.most


def test_ones_own_words_are_withdrawn_and_nobody_elses(eval_member: User, tester: User, result: Result) -> None:
    said = comment_on(eval_member, result, "Nonsense of mine.")
    path = f"/api/v1/comments/{said.pk}/"
    assert Program(tester).delete(path).status_code == 404, "another's"
    program = Program(eval_member)
    answer = program.delete(path)
    assert (answer.status_code, answer.json()["text"]) == (200, "")
    assert answer.json()["withdrawn_at"] is not None
    assert program.get(path_of(result)).json()["items"] == [answer.json()], "its place stays"
    assert program.delete(path).status_code == 404
    assert AuditEntry.objects.filter(action="withdrew a comment", actor=eval_member).count() == 1


def test_pages_follow_each_other_the_newest_first(eval_member: User, result: Result) -> None:
    made = [str(comment_on(eval_member, result, f"No. {number}").pk) for number in range(5)]
    program, seen = Program(eval_member), []
    page = program.get(f"{path_of(result)}?page_size=2").json()
    seen += page["items"]
    while page["next"]:
        page = program.get(page["next"]).json()
        seen += page["items"]
    assert [item["id"] for item in seen] == made[::-1]
    for wrong in ("after=x", "page_size=0", "before=1", "after="):
        assert program.get(f"{path_of(result)}?{wrong}").status_code == 422, wrong


def test_no_comment_costs_a_query_more(eval_member: User, result: Result) -> None:
    program = Program(eval_member)

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert program.get(path_of(result)).status_code == 200
        return len([query for query in found.captured_queries if "busy_timeout" not in query["sql"]])

    comment_on(make.user(), result, "One.")
    program.get(path_of(result))
    before = queries()
    for number in range(10):
        comment_on(make.user(), result, f"And {number}.")
    assert queries() == before


# --- who may know ------------------------------------------------------------------------------------


def test_of_a_result_of_safety_there_is_nothing(eval_member: User, trained_tester: User) -> None:
    hidden = make.result(trained_tester, make.script("quiet-talk", area="safety"), make.build())
    said = comment_on(eval_member, hidden, "From when I was trained.")
    program = Program(eval_member)
    assert program.get(path_of(hidden)).status_code == 404
    assert program.add(path_of(hidden), {"text": "Hello?"}).status_code == 404
    assert program.delete(f"/api/v1/comments/{said.pk}/").status_code == 404
    assert said_to(trained_tester, hidden) == ["From when I was trained."]


def test_who_reviews_reads_no_word_of_the_others_until_all_are_in(
    tester: User, eval_member: User, manager: User, result: Result, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    first = make.user("first@example.test", Role.EVAL_TEAM)
    comment_on(tester, result, "Before anybody looked.")
    begin_review(first, result, timezone.now())
    comment_on(first, result, "It is the voice.")
    withdraw_comment(first, comment_on(first, result, "Or not."))
    file_review(first, result.pk, Judged(("flat_delivery",), "So."), based_on=1, now=timezone.now())
    begin_review(eval_member, result, timezone.now())
    answer = Program(eval_member).get(path_of(result))
    assert answer.json()["some_may_be_withheld"] is True
    assert said_to(eval_member, result) == ["Before anybody looked."]
    assert said_to(manager, result) == said_to(tester, result) == ["", "It is the voice.", "Before anybody looked."]
    file_review(eval_member, result.pk, Judged(("too_slow",), "So."), based_on=1, now=timezone.now())
    assert len(said_to(eval_member, result)) == 3
    assert Program(eval_member, name="Later").get(path_of(result)).json()["some_may_be_withheld"] is False


def test_a_token_for_reading_does_not_write(eval_member: User, result: Result) -> None:
    said = comment_on(eval_member, result, "Mine.")
    program = Program(eval_member, Scope.COMMENTS_READ, Scope.RESULTS_READ)
    assert program.get(path_of(result)).status_code == 200
    for refused in (program.add(path_of(result), {"text": "No."}), program.delete(f"/api/v1/comments/{said.pk}/")):
        assert (refused.status_code, refused.json()["scope"]) == (403, "comments:write")
    assert Program(eval_member, Scope.RESULTS_READ, name="Results").get(path_of(result)).status_code == 403
