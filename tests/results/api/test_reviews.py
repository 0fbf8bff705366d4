"""Reviews for programs: read as on the pages, taken from the same queue, filed once."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import Hold, QueuedFor, Result, Review
from results.review.blind import readable_by, reviews_shown_to
from results.review.file_review import Judged, file_review
from results.review.gold import set_gold
from results.review.hold_result import begin_review
from results.review.pick_review import pick_review
from scripts_catalog.models import Build, Script
from tests import make
from tests.programs import Program

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
LIST, NEXT = "/api/v1/reviews/", "/api/v1/reviews/next/"
CHANGED = {"result_version": 1, "problems": ["cut_in"], "reason": "Her usual speed."}


@pytest.fixture
def script(db: None) -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.43", is_current=True)


@pytest.fixture
def rae(db: None) -> User:
    return make.user("rae@example.test", Role.EVAL_TEAM, name="Rae")


@pytest.fixture
def ron(db: None) -> User:
    return make.user("ron@example.test", Role.EVAL_TEAM, name="Ron")


@pytest.fixture
def result(tester: User, script: Script, build: Build) -> Result:
    return make.result(tester, script, build, problems=("too_fast", "cut_in"), queued_for=QueuedFor.SAMPLE)


def path_of(result: Result) -> str:
    return f"/api/v1/results/{result.pk}/review/"


def reads(person: User, result: Result) -> Any:
    answer = Program(person).get(path_of(result))
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_review_is_filed_beside_the_testers_tags(rae: User, result: Result) -> None:
    answer = Program(rae).send(path_of(result), CHANGED)
    assert answer.status_code == 201, answer.text
    said = answer.json()
    assert (said["result"], said["is_reviewed"], said["others"]) == (str(result.pk), True, [])
    standing = said["standing"]
    assert standing == said["mine"] == reads(rae, result)["standing"]
    assert (standing["problems"][0]["tag"], standing["problems"][0]["place"]) == ("cut_in", 1)
    assert (standing["added"], standing["taken_out"], standing["confirms"]) == ([], ["too_fast"], False)
    assert (standing["reason"], standing["reviewer"]["name"]) == ("Her usual speed.", "Rae")
    assert list(result.problems.values_list("tag", flat=True)) == ["too_fast", "cut_in"]
    assert Review.objects.get().stands


def test_the_same_tags_confirm_them(rae: User, result: Result) -> None:
    answer = Program(rae).send(path_of(result), {"result_version": 1, "problems": ["too_fast", "cut_in"]})
    assert (answer.status_code, answer.json()["mine"]["confirms"]) == (201, True)


def test_a_list_that_is_sent_empty_says_that_there_was_no_problem(rae: User, result: Result) -> None:
    answer = Program(rae).send(path_of(result), {**CHANGED, "problems": []})
    assert (answer.status_code, answer.json()["standing"]["problems"]) == (201, [])


def test_the_same_again_is_the_same_review_and_other_content_changes_nothing(rae: User, result: Result) -> None:
    program = Program(rae)
    first = program.send(path_of(result), CHANGED)
    again = program.send(path_of(result), CHANGED)
    assert (again.status_code, again.json()) == (200, first.json())
    for other in ({**CHANGED, "problems": ["too_fast"]}, {**CHANGED, "reason": ""}, {**CHANGED, "problems": []}):
        answer = program.send(path_of(result), other)
        assert (answer.status_code, answer.json()["result"]) == (409, str(result.pk))
    assert reads(rae, result) == first.json()


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"reason": ""}, "/reason"),
        ({"reason": "a" * 1001}, "/reason"),
        ({"problems": ["cut_in", "cut_in"]}, "/problems"),
        ({"problems": ["no_such_tag"]}, "/problems"),
        ({"problems": "cut_in"}, "/problems"),
        ({"problems": ["too_fast", "cut_in", "other_content"], "reason": ""}, "/reason"),
        ({"result_version": 0}, "/result_version"),
        ({"stands": True}, "/stands"),
    ],
)
def test_it_is_judged_by_the_form_of_the_page(rae: User, result: Result, changes: dict[str, Any], place: str) -> None:
    answer = Program(rae).send(path_of(result), {**CHANGED, **changes})
    assert answer.status_code == 422
    assert place in [fault["pointer"] for fault in answer.json()["errors"]]
    assert not Review.objects.exists()


def test_what_was_corrected_since_is_read_again(rae: User, result: Result) -> None:
    Result.objects.filter(pk=result.pk).update(version=2)
    assert Program(rae).send(path_of(result), CHANGED).status_code == 412
    assert Program(rae).send(path_of(result), {**CHANGED, "result_version": 2}).status_code == 201


def test_nobody_reviews_their_own(script: Script, build: Build) -> None:
    both = make.user("both@example.test", Role.TESTER, Role.EVAL_TEAM)
    own = make.result(both, script, build, problems=("too_fast", "cut_in"), queued_for=QueuedFor.SAMPLE)
    assert Program(both).send(path_of(own), CHANGED).status_code == 403


def test_what_somebody_else_has_in_hand_is_theirs(rae: User, ron: User, result: Result) -> None:
    begin_review(rae, result, timezone.now())
    answer = Program(ron).send(path_of(result), CHANGED)
    assert (answer.status_code, answer.json()["detail"]) == (409, "Somebody else has it in hand.")
    assert Program(rae).send(path_of(result), CHANGED).status_code == 201
    assert Program(ron).send(path_of(result), CHANGED).json()["detail"] == "All the reviews that it needs are filed."


# --- the queue -----------------------------------------------------------------------------------------


def take(program: Program) -> Any:
    answer = program.post(NEXT)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_what_is_in_hand_stays_in_hand(rae: User, ron: User, result: Result, script: Script, build: Build) -> None:
    other = make.result(result.tester, script, build, queued_for=QueuedFor.SAMPLE)
    first, his = take(Program(rae)), Program(ron)
    assert first["until"] is not None
    assert take(Program(rae))["result"] == first["result"]
    assert {first["result"]["id"], take(his)["result"]["id"]} == {str(result.pk), str(other.pk)}
    assert Hold.objects.count() == 2
    nobody = take(Program(make.user("new@example.test", Role.EVAL_TEAM)))
    assert nobody == {"result": None, "until": None}


@pytest.mark.django_db(transaction=True)
def test_ten_programs_at_once_get_ten_results(tester: User, script: Script, build: Build) -> None:
    for _ in range(10):
        make.result(tester, script, build, queued_for=QueuedFor.SAMPLE)
    people = [make.user(f"r{number}@example.test", Role.EVAL_TEAM) for number in range(10)]

    def ask(program: Program) -> str:
        try:
            return str(take(program)["result"]["id"])
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        taken = list(pool.map(ask, [Program(person) for person in people]))
    assert len(set(taken)) == 10


# --- who reads what ------------------------------------------------------------------------------------


@pytest.fixture
def half(rae: User, result: Result, settings: LazySettings) -> Result:
    """Two reviews are wanted, one is in."""
    settings.REVIEWERS_PER_RESULT = 2
    file_review(rae, result.pk, Judged(("weird_gaze",), "Heard zq17."), based_on=1, now=timezone.now())
    return Result.objects.get(pk=result.pk)


def listed(person: User) -> list[str]:
    answer = Program(person).get(LIST)
    assert answer.status_code == 200, answer.text
    return [row["id"] for row in answer.json()["items"]]


def test_the_later_one_reads_nothing_of_the_earlier(half: Result, rae: User, ron: User, manager: User) -> None:
    nothing = {"is_reviewed": False, "standing": None, "mine": None, "others": []}
    for person in (ron, manager):
        assert reads(person, half) == {"result": str(half.pk), "result_version": 1, **nothing}
        assert listed(person) == []
        assert "zq17" not in Program(person).get("/api/v1/results/").text
    assert reads(rae, half)["mine"]["reason"] == "Heard zq17."


def test_when_all_are_in_everybody_reads_what_their_pages_show(
    half: Result, rae: User, ron: User, manager: User, eval_lead: User
) -> None:
    assert Program(ron).send(path_of(half), CHANGED).status_code == 201
    his = Review.objects.get(reviewer=ron)
    assert len(listed(ron)) == len(listed(eval_lead)) == 2
    assert listed(manager) == []
    pick_review(eval_lead, half.pk, his.pk, "He is right.")
    assert listed(manager) == [str(his.pk)]
    said = reads(rae, half)
    assert (said["standing"]["id"], said["mine"]["reason"], said["others"]) == (str(his.pk), "Heard zq17.", [])
    assert len(reads(eval_lead, half)["others"]) == 1


def test_the_list_holds_exactly_what_the_pages_show(
    half: Result, rae: User, ron: User, manager: User, eval_lead: User, tester: User, script: Script, build: Build
) -> None:
    """One that waits, one in hand, one that waits for a pick, one that stands, gold answered and not, one of Safety."""
    now = timezone.now()
    waiting = [make.result(tester, script, build, problems=("cut_in",), queued_for=QueuedFor.SAMPLE) for _ in range(5)]
    begin_review(ron, waiting[0], now)
    set_gold(eval_lead, waiting[3].pk, ("weird_gaze",), "Heard it.")
    safety = make.result(tester, make.script("quiet-talk", area="safety"), build, queued_for=QueuedFor.SAMPLE)
    for each in (waiting[1], waiting[2], safety):
        for reviewer in (rae, ron):
            file_review(reviewer, each.pk, Judged(("too_long",), "So."), based_on=1, now=now)
    file_review(rae, waiting[3].pk, Judged(("too_long",), "So."), based_on=1, now=now)
    pick_review(eval_lead, waiting[2].pk, Review.objects.get(result=waiting[2], reviewer=ron).pk, "Right.")
    once = make.user("once@example.test", Role.MANAGER)
    Review.objects.filter(result=waiting[1], reviewer=ron).update(reviewer=once)
    trained = make.user("trained@example.test", Role.EVAL_TEAM, is_trained=True)
    for person in (rae, ron, manager, eval_lead, trained, once):
        shown = {review.pk for each in Result.objects.visible_to(person) for review in reviews_shown_to(person, each)}
        assert set(readable_by(person).values_list("pk", flat=True)) == shown, person
        assert sorted(listed(person)) == sorted(map(str, shown))
    assert len(listed(trained)) == len(listed(eval_lead)) + 2


def test_pages_of_the_list_follow_each_other(rae: User, tester: User, script: Script, build: Build) -> None:
    for _ in range(5):
        made = make.result(tester, script, build, queued_for=QueuedFor.SAMPLE)
        file_review(rae, made.pk, Judged(("cut_in",), "So."), based_on=1, now=timezone.now())
    program, seen = Program(rae), []
    page = program.get(f"{LIST}?page_size=2").json()
    seen += page["items"]
    while page["next"]:
        page = program.get(page["next"]).json()
        seen += page["items"]
    assert [row["id"] for row in seen] == [
        str(key) for key in Review.objects.order_by("-pk").values_list("pk", flat=True)
    ]
    assert program.get(f"{LIST}?after=x").status_code == 422


# --- gold ----------------------------------------------------------------------------------------------


def told(person: User, result: Result) -> dict[str, str]:
    """All that a program reads of reviews and of the result."""
    program, of_result = Program(person), f"/api/v1/results/{result.pk}/"
    paths = (LIST, path_of(result), "/api/v1/results/", of_result, "/api/v1/figures/?tags=reviewed")
    return {path: program.get(path).text for path in paths}


def test_nobody_but_leads_finds_out_which_results_are_gold(
    result: Result, manager: User, ron: User, eval_lead: User
) -> None:
    make.counts()
    before = {person: told(person, result) for person in (manager, ron)}
    set_gold(eval_lead, result.pk, ("weird_gaze", "cut_in"), "A minute in.")
    other = make.user("other@example.test", Role.EVAL_TEAM)
    assert Program(other).send(path_of(result), CHANGED).status_code == 201
    make.counts()
    for person, said in before.items():
        assert told(person, result) == said
    assert "weird_gaze" not in json.dumps(reads(other, result)), "the known answer has no address here"
    assert reads(other, result)["mine"]["stands"] is False


def test_who_answers_gold_is_answered_as_to_any_review_that_waits_on(
    result: Result, ron: User, eval_lead: User, tester: User, script: Script, build: Build, settings: LazySettings
) -> None:
    settings.REVIEWERS_PER_RESULT = 2
    plain = make.result(tester, script, build, problems=("too_fast", "cut_in"), queued_for=QueuedFor.SAMPLE)
    set_gold(eval_lead, result.pk, ("weird_gaze",), "A minute in.")

    def answered(to: Result) -> str:
        text = Program(ron).send(path_of(to), CHANGED).text.replace(str(to.pk), "KEY")
        return re.sub(r'"(id|filed_at)":"[^"]+"', "", text)

    assert answered(result) == answered(plain)
