"""Tickets for programs: linked once, read with what the builds since show, closed and opened again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from emma_eval.scoring.intervals import FEWEST
from results.models import Result, Ticket
from results.tickets.link_ticket import About, close_ticket, link_ticket
from results.tickets.show_tickets import show_tickets
from scripts_catalog.models import Build, Script
from tests import make
from tests.programs import Program

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
LIST, LINK = "/api/v1/tickets/", "https://tracker.example.test/EMMA-7"


@pytest.fixture
def script(db: None) -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture
def builds(db: None) -> list[Build]:
    """In the order of their numbers, which is not that of their letters."""
    return [make.build(name) for name in ("2026.9", "2026.10", "2026.11")]


@pytest.fixture
def result(tester: User, script: Script, builds: list[Build]) -> Result:
    return make.result(tester, script, builds[0], problems=("too_long", "cut_in"))


@pytest.fixture
def program(eval_member: User, builds: list[Build], script: Script) -> Program:
    return Program(eval_member)


OF_PROBLEM: dict[str, Any] = {
    "link": LINK,
    "title": "Too long",
    "problem": "too_long",
    "script": "bad-news-day",
    "build": "2026.9",
}
OF_RESULT = {"link": LINK, "title": "Too long", "problem": "too_long"}


def path_of(result: Result) -> str:
    return f"/api/v1/results/{result.pk}/tickets/"


def runs(tester: User, script: Script, build: Build, *, of: int, with_it: int) -> None:
    for number in range(of):
        make.result(tester, script, build, problems=("too_long",) if number < with_it else ())


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [item["id"] for item in answer.json()["items"]]


# --- linking -----------------------------------------------------------------------------------------


def test_a_ticket_is_linked_to_a_problem(program: Program, eval_member: User, builds: list[Build]) -> None:
    answer = program.add(LIST, OF_PROBLEM)
    assert answer.status_code == 201, answer.text
    made, said = Ticket.objects.get(), answer.json()
    assert (made.link, made.title, made.tag, made.script_id, made.build, made.result, made.added_by) == (
        *(LINK, "Too long", "too_long", "bad-news-day", builds[0], None),
        eval_member,
    )
    assert (said["id"], said["result"], said["problem"], said["script"], said["build"], said["closed_at"]) == (
        *(str(made.pk), None, "too_long", "bad-news-day", "2026.9", None),
    )
    assert said["linked_by"] == {"id": eval_member.pk, "name": str(eval_member)}
    assert said["url"].endswith(f"/tickets/{made.pk}/")
    assert answer["Location"] == f"{LIST}{made.pk}/"
    assert program.get(answer["Location"]).json() == said
    assert program.get(LIST).json()["items"] == [said]
    assert AuditEntry.objects.filter(action="linked a ticket", actor=eval_member).count() == 1


def test_it_may_be_about_any_script_and_builds_go_by_their_numbers(program: Program) -> None:
    said = program.add(LIST, {**OF_PROBLEM, "script": None, "build": "2026.09"}).json()
    assert (said["script"], said["build"]) == (None, "2026.9")


def test_a_ticket_is_linked_to_a_result(program: Program, result: Result) -> None:
    answer = program.add(path_of(result), OF_RESULT)
    assert answer.status_code == 201, answer.text
    said = answer.json()
    assert (said["result"], said["problem"], said["script"], said["build"]) == (
        *(str(result.pk), "too_long", "bad-news-day", "2026.9"),
    )
    assert program.get(path_of(result)).json()["items"] == [said]
    assert ids(program.get(LIST)) == [said["id"]]


def test_of_a_result_without_a_problem_none_is_named(program: Program, tester: User, script: Script) -> None:
    bare = make.result(tester, script, make.build("2026.12"))
    refused = program.add(path_of(bare), OF_RESULT)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/problem")
    said = program.add(path_of(bare), {"link": LINK, "title": "Odd"}).json()
    assert said["problem"] is None
    assert (said["came_back"]["state"], said["came_back"]["later"]) == ("can't tell", [])


def test_the_same_again_is_the_same_ticket_until_it_is_closed(program: Program, result: Result) -> None:
    for path, body in ((LIST, OF_PROBLEM), (path_of(result), OF_RESULT)):
        first, again = program.add(path, body), program.add(path, body)
        assert (first.status_code, again.status_code, again.json()) == (201, 200, first.json())
        assert program.add(path, {**body, "title": "Another"}).status_code == 201
        program.send(f"{first['Location']}state/", {"is_open": False})
        assert program.add(path, body).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_eight_at_once_link_one_ticket(program: Program) -> None:
    def send(_: int) -> Any:
        try:
            return program.add(LIST, OF_PROBLEM)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert Ticket.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"link": "http://tracker.example.test/7"}, "/link"),
        ({"link": "https://me:secret@tracker.example.test/7"}, "/link"),
        ({"link": "https://tracker.example.test/\x00"}, "/link"),
        ({"link": f"https://tracker.example.test/{'a' * 2000}"}, "/link"),
        ({"link": None}, "/link"),
        ({"title": " "}, "/title"),
        ({"title": "a" * 201}, "/title"),
        ({"title": 7}, "/title"),
        ({"problem": "no_such"}, "/problem"),
        ({"problem": ""}, "/problem"),
        ({"problem": ["too_long"]}, "/problem"),
        ({"script": "no-such"}, "/script"),
        ({"script": "quiet-talk"}, "/script"),
        ({"script": "bad\x00news"}, "/script"),
        ({"build": "1999.1"}, "/build"),
        ({"build": ""}, "/build"),
        ({"build": "2026\x00"}, "/build"),
        ({"closed_at": None}, "/closed_at"),
    ],
)
def test_it_is_judged_by_the_form_of_the_page(program: Program, changes: dict[str, Any], place: str) -> None:
    make.script("quiet-talk", area="safety")
    answer = program.add(LIST, {**OF_PROBLEM, **changes})
    assert answer.status_code == 422, answer.text
    assert [fault["pointer"] for fault in answer.json()["errors"]] == [place]
    assert not Ticket.objects.exists()


@pytest.mark.parametrize("body", [{}, {"problem": "weird_gaze"}, {"problem": "too_long", "build": "2026.9"}, []])
def test_of_a_result_it_is_judged_too(program: Program, result: Result, body: Any) -> None:
    assert program.add(path_of(result), body).status_code == 422
    assert not Ticket.objects.exists()


# --- reading -----------------------------------------------------------------------------------------


def test_the_builds_since_say_whether_it_came_back_as_on_the_page(
    program: Program, eval_member: User, tester: User, script: Script, builds: list[Build]
) -> None:
    ticket = link_ticket(eval_member, LINK, "Too long", About(builds[0], "too_long", script))
    path = f"{LIST}{ticket.pk}/"
    assert program.get(path).json()["came_back"] == {
        "state": "not run",
        "words": "not run yet on a later build",
        "own": None,
        "later": [],
    }
    runs(tester, script, builds[0], of=30, with_it=12)
    runs(tester, script, builds[1], of=38, with_it=0)
    runs(tester, script, builds[2], of=41, with_it=3)
    make.counts()
    said, (shown,) = program.get(path).json()["came_back"], show_tickets(eval_member, [ticket])
    assert said["state"] == shown.went.state == "came back"
    assert said["words"] == shown.went.verdict == "came back on 2026.11 (3 of 41 calls)"
    assert [(each["build"], each["tagged"], each["share"]["n"]) for each in (said["own"], *said["later"])] == [
        *(("2026.9", 12, 30), ("2026.11", 3, 41), ("2026.10", 0, 38)),
    ]
    # Wilson (1927) by hand: z = 1.959964, p = 3/41.
    newest = said["later"][0]["share"]
    assert (newest["value"], newest["low"], newest["high"]) == (
        *(pytest.approx(3 / 41), pytest.approx(0.0252, abs=5e-5), pytest.approx(0.1943, abs=5e-5)),
    )


def test_a_share_of_too_few_calls_is_not_told(
    program: Program, eval_member: User, tester: User, script: Script, builds: list[Build]
) -> None:
    ticket = link_ticket(eval_member, LINK, "Too long", About(builds[0], "too_long", script))
    runs(tester, script, builds[1], of=FEWEST - 1, with_it=1)
    make.counts()
    (later,) = program.get(f"{LIST}{ticket.pk}/").json()["came_back"]["later"]
    assert (later["tagged"], later["share"]) == (1, {"value": None, "low": None, "high": None, "n": FEWEST - 1})


def test_the_list_is_narrowed_to_a_problem_and_to_a_script_as_dashboards_do(
    program: Program, eval_member: User, script: Script, builds: list[Build], result: Result
) -> None:
    other = make.script("noisy-room")
    of_one = link_ticket(eval_member, LINK, "One", About(builds[0], "too_long", script))
    of_other = link_ticket(eval_member, LINK, "Other", About(builds[0], "too_long", other))
    of_any = link_ticket(eval_member, LINK, "Any", About(builds[0], "cut_in"))
    of_result = link_ticket(eval_member, LINK, "Result", About.result_of(result, "cut_in"))
    closed = link_ticket(eval_member, LINK, "Closed", About(builds[0], "too_long", script))
    close_ticket(eval_member, closed)
    lists = {
        "": [of_result, of_any, of_other, of_one],
        "?state=open&problem=too_long": [of_other, of_one],
        "?problem=too_long&script=bad-news-day": [of_one],
        "?script=bad-news-day": [of_result, of_any, of_one],
        "?script=noisy-room": [of_any, of_other],
        "?state=closed": [closed],
    }
    assert {query: ids(program.get(LIST + query)) for query in lists} == {
        query: [str(ticket.pk) for ticket in tickets] for query, tickets in lists.items()
    }


def test_pages_follow_each_other_and_what_is_not_understood_is_refused(
    program: Program, eval_member: User, builds: list[Build]
) -> None:
    make.script("quiet-talk", area="safety")
    made = [str(link_ticket(eval_member, LINK, f"No. {n}", About(builds[0], "cut_in")).pk) for n in range(5)]
    page, seen = program.get(f"{LIST}?page_size=2&problem=cut_in").json(), []
    seen += page["items"]
    while page["next"]:
        page = program.get(page["next"]).json()
        seen += page["items"]
    assert [item["id"] for item in seen] == made[::-1]
    for wrong in ("state=all", "problem=no_such", "script=no-such", "script=quiet-talk", "after=x", "build=2026.9"):
        answer = program.get(f"{LIST}?{wrong}")
        assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, wrong.split("=")[0]), wrong


# --- closing -----------------------------------------------------------------------------------------


def test_a_ticket_is_closed_and_opened_again(program: Program) -> None:
    said = program.add(LIST, OF_PROBLEM).json()
    state = f"{LIST}{said['id']}/state/"
    assert program.send(state, {"is_open": False}).json()["closed_at"] is not None
    assert program.send(state, {"is_open": False}).status_code == 200
    assert (ids(program.get(LIST)), ids(program.get(f"{LIST}?state=closed"))) == ([], [said["id"]])
    assert program.send(state, {"is_open": True}).json() == said
    actions = list(AuditEntry.objects.filter(action__endswith="a ticket").values_list("action", flat=True))
    assert sorted(actions) == ["closed a ticket", "linked a ticket", "reopened a ticket"]
    assert program.send(state, {"is_open": "no"}).status_code == 422
    assert program.send(f"{LIST}{int(said['id']) + 1}/state/", {"is_open": True}).status_code == 404


# --- who may know ------------------------------------------------------------------------------------


def test_a_tester_reads_the_tickets_of_a_result_and_no_list(tester: User, eval_member: User, result: Result) -> None:
    ticket = link_ticket(eval_member, LINK, "Too long", About.result_of(result, "too_long"))
    program = Program(tester)
    assert ids(program.get(path_of(result))) == [str(ticket.pk)]
    for refused in (
        program.get(LIST),
        program.get(f"{LIST}{ticket.pk}/"),
        program.add(path_of(result), OF_RESULT),
        program.send(f"{LIST}{ticket.pk}/state/", {"is_open": False}),
    ):
        assert refused.status_code == 403


def test_a_ticket_of_safety_is_not_there_for_the_untrained(
    program: Program, eval_member: User, trained_eval_member: User, trained_tester: User, builds: list[Build]
) -> None:
    hidden = make.script("quiet-talk", area="safety")
    result = make.result(trained_tester, hidden, builds[0], problems=("cut_in",))
    of_result = link_ticket(trained_eval_member, LINK, "Secret", About.result_of(result, "cut_in"))
    of_script = link_ticket(trained_eval_member, LINK, "Secret too", About(builds[0], "cut_in", hidden))
    assert ids(program.get(LIST)) == []
    for ticket in (of_result, of_script):
        assert program.get(f"{LIST}{ticket.pk}/").status_code == 404
        assert program.send(f"{LIST}{ticket.pk}/state/", {"is_open": False}).status_code == 404
    assert program.get(path_of(result)).status_code == 404
    assert program.add(path_of(result), {**OF_RESULT, "problem": "cut_in"}).status_code == 404
    assert ids(Program(trained_eval_member).get(LIST)) == [str(of_script.pk), str(of_result.pk)]


def test_what_is_counted_of_a_problem_on_any_script_leaves_out_what_may_not_be_seen(
    eval_member: User, trained_tester: User, script: Script, builds: list[Build]
) -> None:
    trained = make.user("trained@example.test", Role.EVAL_TEAM, is_trained=True)
    ticket = link_ticket(eval_member, LINK, "Too long", About(builds[0], "too_long"))
    runs(trained_tester, script, builds[1], of=6, with_it=1)
    runs(trained_tester, make.script("quiet-talk", area="safety"), builds[1], of=6, with_it=6)
    make.counts()

    def counted(person: User) -> tuple[int, int]:
        (later,) = Program(person).get(f"{LIST}{ticket.pk}/").json()["came_back"]["later"]
        return later["tagged"], later["share"]["n"]

    assert counted(eval_member) == (1, 6)
    assert counted(trained) == (7, 12)
