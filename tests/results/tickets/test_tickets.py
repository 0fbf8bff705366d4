"""Tickets elsewhere: linked, closed, and whether the problem came back on later builds."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.db import IntegrityError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from results.counts.rebuild_counts import rebuild_counts
from results.models import Result, Ticket
from results.tickets.came_back import (
    CAME_BACK,
    CANT_TELL,
    NOT_RUN,
    NOT_SEEN,
    STILL_THERE,
    CameBack,
    came_back,
)
from results.tickets.link_ticket import About, close_ticket, link_ticket, reopen_ticket
from results.tickets.show_tickets import tickets_by_tag, tickets_for
from results.tickets.ticket_form import TicketForm, is_ticket_link
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script
from tests import make
from tests.security.payloads import PAYLOADS

pytestmark = pytest.mark.django_db

LINK = "https://tracker.example.test/EMMA-7"


@pytest.fixture
def script(db: None) -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture
def builds(db: None) -> list[Build]:
    """In the order of their numbers, which is not that of their letters."""
    return [make.build(name) for name in ("2026.9", "2026.10", "2026.11")]


def runs(tester: User, script: Script, build: Build, *, of: int, with_it: int, tag: str = "too_long") -> None:
    for number in range(of):
        make.result(tester, script, build, problems=(tag,) if number < with_it else ())


def went(user: User, ticket: Ticket) -> CameBack:
    rebuild_counts()
    return came_back(user, [Ticket.objects.get(pk=ticket.pk)])[ticket.pk]


def words(text: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


# --- did it come back ------------------------------------------------------------------------------


@pytest.mark.data_layer
def test_later_builds_say_whether_it_came_back(tester: User, script: Script, builds: list[Build]) -> None:
    first, second, third = builds
    ticket = link_ticket(tester, LINK, "Too long", About(first, "too_long", script))
    runs(tester, script, first, of=30, with_it=12)
    assert went(tester, ticket).verdict == "not run yet on a later build"
    assert went(tester, ticket).state == NOT_RUN

    runs(tester, script, second, of=38, with_it=0)
    found = went(tester, ticket)
    assert found.verdict == "not seen in 38 calls on 2026.10 (up to 9 % could still have it)"
    assert found.state == NOT_SEEN

    runs(tester, script, third, of=41, with_it=3)
    found = went(tester, ticket)
    assert found.verdict == "came back on 2026.11 (3 of 41 calls)"
    assert found.state == CAME_BACK
    assert [(each.build.name, each.share.part, each.share.n) for each in found.later] == [
        ("2026.11", 3, 41),
        ("2026.10", 0, 38),
    ]
    assert found.own is not None
    assert (found.own.share.part, found.own.share.n) == (12, 30)


@pytest.mark.data_layer
def test_the_intervals_are_those_of_wilson(tester: User, script: Script, builds: list[Build]) -> None:
    ticket = link_ticket(tester, LINK, "Too long", About(builds[0], "too_long", script))
    runs(tester, script, builds[1], of=41, with_it=3)
    share = went(tester, ticket).later[0].share
    # Wilson (1927) by hand: z = 1.959964, p = 3/41.
    assert (share.low, share.high) == (pytest.approx(0.0252, abs=5e-5), pytest.approx(0.1943, abs=5e-5))


@pytest.mark.data_layer
def test_one_that_was_still_there_and_went_says_both(tester: User, script: Script, builds: list[Build]) -> None:
    ticket = link_ticket(tester, LINK, "Too long", About(builds[0], "too_long", script))
    runs(tester, script, builds[1], of=10, with_it=1)
    runs(tester, script, builds[2], of=20, with_it=0)
    assert went(tester, ticket).verdict == (
        "still there on 2026.10 (1 of 10 calls); not seen in 20 calls on 2026.11 (up to 16 % could still have it)"
    )


@pytest.mark.data_layer
def test_what_was_never_gone_did_not_come_back(tester: User, script: Script, builds: list[Build]) -> None:
    ticket = link_ticket(tester, LINK, "Too long", About(builds[0], "too_long", script))
    runs(tester, script, builds[1], of=12, with_it=4)
    runs(tester, script, builds[2], of=2, with_it=1)
    found = went(tester, ticket)
    assert found.verdict == (
        "still there on 2026.10 (4 of 12 calls); 1 of 2 calls on 2026.11, too few to say how often"
    )
    assert found.state == STILL_THERE


@pytest.mark.data_layer
def test_a_build_with_too_few_calls_does_not_show_that_it_was_gone(
    tester: User, script: Script, builds: list[Build]
) -> None:
    ticket = link_ticket(tester, LINK, "Too long", About(builds[0], "too_long", script))
    runs(tester, script, builds[1], of=2, with_it=0)
    runs(tester, script, builds[2], of=12, with_it=4)
    assert went(tester, ticket).verdict == "still there on 2026.11 (4 of 12 calls)"


@pytest.mark.data_layer
def test_a_few_calls_can_show_that_it_is_there_and_not_that_it_is_gone(
    tester: User, script: Script, builds: list[Build]
) -> None:
    ticket = link_ticket(tester, LINK, "Too long", About(builds[0], "too_long", script))
    runs(tester, script, builds[1], of=1, with_it=0)
    assert went(tester, ticket).verdict == "not seen in 1 call on 2026.10, too few to tell"
    assert went(tester, ticket).state == CANT_TELL
    runs(tester, script, builds[1], of=1, with_it=1)
    assert went(tester, ticket).state == STILL_THERE
    assert went(tester, ticket).verdict == "still there on 2026.10 (1 of 2 calls, too few to say how often)"


@pytest.mark.data_layer
@pytest.mark.parametrize(
    ("counted", "state", "verdict"),
    [
        ([(80, 46), (1, 1)], STILL_THERE, "still there on 2026.10 (46 of 80 calls); 1 of 1 call on 2026.11, {often}"),
        (
            [(80, 46), (1, 0)],
            STILL_THERE,
            "still there on 2026.10 (46 of 80 calls); not seen in 1 call on 2026.11, {tell}",
        ),
        ([(80, 46), (71, 8)], STILL_THERE, "still there on 2026.10 and 2026.11 (46 of 80 and 8 of 71 calls)"),
        (
            [(38, 0), (1, 0)],
            NOT_SEEN,
            "not seen in 38 calls on 2026.10 ({up_to}); not seen in 1 call on 2026.11, {tell}",
        ),
        ([(38, 0), (1, 1)], CAME_BACK, "came back on 2026.11 (1 of 1 call, {often})"),
        (
            [(38, 0), (80, 46), (71, 8), (1, 1)],
            CAME_BACK,
            "came back on 2026.11 and 2026.12 (46 of 80 and 8 of 71 calls); 1 of 1 call on 2026.13, {often}",
        ),
        (
            [(80, 46), (38, 0), (71, 8)],
            CAME_BACK,
            "still there on 2026.10 (46 of 80 calls), came back on 2026.12 (8 of 71 calls)",
        ),
        (
            [(80, 46), (38, 0), (2, 0)],
            STILL_THERE,
            "still there on 2026.10 (46 of 80 calls); not seen in 38 calls on 2026.11 ({up_to}); "
            "not seen in 2 calls on 2026.12, {tell}",
        ),
    ],
)
def test_a_few_calls_on_the_newest_build_hide_nothing_that_earlier_ones_show(
    tester: User,
    script: Script,
    builds: list[Build],
    counted: list[tuple[int, int]],
    state: str,
    verdict: str,
) -> None:
    later = [*builds[1:], make.build("2026.12"), make.build("2026.13")]
    ticket = link_ticket(tester, LINK, "Too long", About(builds[0], "too_long", script))
    for build, (of, with_it) in zip(later, counted, strict=False):
        runs(tester, script, build, of=of, with_it=with_it)
    found = went(tester, ticket)
    few = {"often": "too few to say how often", "tell": "too few to tell", "up_to": "up to 9 % could still have it"}
    assert (found.verdict, found.state) == (verdict.format(**few), state)


@pytest.mark.data_layer
def test_other_scripts_problems_and_earlier_builds_do_not_count(
    tester: User, script: Script, builds: list[Build]
) -> None:
    other = make.script()
    runs(tester, other, builds[2], of=6, with_it=6)
    runs(tester, script, builds[2], of=6, with_it=6, tag="cut_in")
    runs(tester, script, builds[0], of=6, with_it=6)
    of_one = link_ticket(tester, LINK, "Too long", About(builds[1], "too_long", script))
    of_any = link_ticket(tester, LINK, "Too long", About(builds[1], "too_long"))
    assert went(tester, of_one).verdict.startswith("not seen in 6 calls on 2026.11")
    assert went(tester, of_any).verdict == "still there on 2026.11 (6 of 12 calls)"


@pytest.mark.data_layer
def test_a_ticket_of_a_whole_result_looks_for_any_of_its_problems(
    tester: User, script: Script, builds: list[Build]
) -> None:
    result = make.result(tester, script, builds[0], problems=("too_long", "cut_in"))
    ticket = link_ticket(tester, LINK, "Both", About.result_of(result, ""))
    make.result(tester, script, builds[1], problems=("cut_in", "too_long"))
    make.result(tester, script, builds[1], problems=("cut_in",))
    make.result(tester, script, builds[1], problems=("weird_gaze",))
    assert went(tester, ticket).verdict == "still there on 2026.10 (2 of 3 calls, too few to say how often)"
    bare = make.result(tester, script, builds[0])
    assert went(tester, link_ticket(tester, LINK, "None", About.result_of(bare, ""))).state == CANT_TELL


@pytest.mark.data_layer
def test_what_only_the_trained_may_know_of_is_in_no_count_of_others(
    tester: User, trained_tester: User, script: Script, builds: list[Build]
) -> None:
    hidden = make.script("quiet", area=taxonomy.SAFETY)
    runs(trained_tester, hidden, builds[2], of=7, with_it=7)
    runs(tester, script, builds[1], of=5, with_it=0)
    ticket = link_ticket(tester, LINK, "Too long", About(builds[0], "too_long"))
    assert went(trained_tester, ticket).verdict.startswith("came back on 2026.11 (7 of 7 calls)")
    assert went(tester, ticket).verdict.startswith("not seen in 5 calls on 2026.10")


def test_every_figure_links_to_its_rows(manager: User, tester: User, script: Script, builds: list[Build]) -> None:
    ticket = link_ticket(manager, LINK, "Too long", About(builds[0], "too_long", script))
    runs(tester, script, builds[1], of=4, with_it=3)
    rebuild_counts()
    client = make.client_of(manager)
    page = client.get(ticket.get_absolute_url()).text
    links = {int(n): unescape(link) for link, n in re.findall(r'<a href="(/results/\?[^"]+)">(\d+)</a>', page)}
    assert sorted(links) == [3, 4]
    for n, link in links.items():
        assert client.get(link).text.count('class="when"') == n, link
    assert "n too small" in page
    assert "75 %" not in page, "a share of so few is no figure"


def test_the_list_asks_no_more_for_more_tickets(eval_member: User, script: Script, builds: list[Build]) -> None:
    client = make.client_of(eval_member)

    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert client.get("/tickets/").status_code == 200
        return len(seen)

    link_ticket(eval_member, LINK, "One", About(builds[0], "too_long", script))
    few = queries()
    for number in range(8):
        link_ticket(eval_member, LINK, f"No. {number}", About(builds[0], "cut_in", script))
    assert queries() == few


# --- the link --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "link",
    ["https://tracker.example.org/EMMA-1", "https://jira/browse/EMMA-1?a=b#c", "https://[2001:db8::1]:8443/1"],
)
def test_a_ticket_may_be_anywhere_over_https(link: str) -> None:
    assert is_ticket_link(link)


@pytest.mark.parametrize(
    "link",
    [
        "",
        "http://tracker.example.org/1",
        "javascript:alert(1)//https://x",
        "data:text/html,x",
        "https://",
        "https:///x",
        "https://a b",
        "https://user:pass@example.org/",
        "https://example.org\\@evil.example",
        "https://example.org/\u202e1",
        "https://example.org:0/",
        "https://example.org:99999/",
        "https://[::1",
        "//example.org/1",
        "ftp://example.org/",
    ],
)
def test_what_is_no_https_address_is_refused_in_words(eval_client: Client, script: Script, link: str) -> None:
    build = make.build()
    sent = {"link": link, "title": "Mine", "tag": "too_long", "build": build.sort_key}
    answer = eval_client.post("/tickets/new/", sent)
    assert answer.status_code == 422
    assert answer.text.count("It begins with https://") == 2
    assert 'value="Mine"' in answer.text
    assert not Ticket.objects.exists()


@pytest.mark.data_layer
def test_the_database_takes_no_link_that_runs(eval_member: User) -> None:
    with pytest.raises(IntegrityError):
        Ticket.objects.create(link="javascript:x", title="x", tag="too_long", build=make.build(), added_by=eval_member)


def test_a_link_is_shown_with_its_host_and_gives_nothing_away(
    eval_client: Client, eval_member: User, script: Script
) -> None:
    ticket = link_ticket(eval_member, LINK, "Too long", About(make.build(), "too_long", script))
    for path in ("/tickets/", ticket.get_absolute_url()):
        page = eval_client.get(path).text
        assert f'href="{LINK}" rel="noopener noreferrer nofollow"' in page
        assert "Open on tracker.example.test" in words(page)


@pytest.mark.parametrize("payload", PAYLOADS[:12])
def test_no_payload_is_taken_for_a_link(eval_member: User, payload: str) -> None:
    form = TicketForm({"link": payload, "title": payload}, user=eval_member)
    assert "link" in form.errors


# --- linking ---------------------------------------------------------------------------------------


def test_a_problem_of_a_dashboard_is_linked_by_its_address(eval_client: Client, script: Script) -> None:
    build = make.build("2026.44")
    path = "/tickets/new/?tag=too_long&script=bad-news-day&build=2026.44"
    page = eval_client.get(path).text
    for value in ("too_long", "bad-news-day", build.sort_key):
        assert f'<option value="{value}" selected>' in page
    sent = {"link": LINK, "title": "Too long", "tag": "too_long", "script": script.slug, "build": build.sort_key}
    answer = eval_client.post(path, sent)
    ticket = Ticket.objects.get()
    assert answer["Location"] == ticket.get_absolute_url()
    assert (ticket.tag, ticket.script, ticket.build, ticket.result) == ("too_long", script, build, None)
    entry = AuditEntry.objects.get(action="linked a ticket")
    assert (entry.target, entry.script, entry.details) == (str(ticket.pk), "bad-news-day", {"problem": "too_long"})


def test_a_result_gives_its_script_its_build_and_its_problems(
    eval_client: Client, tester: User, script: Script
) -> None:
    result = make.result(tester, script, make.build(), problems=("weird_gaze", "cut_in"))
    page = eval_client.get(f"/tickets/new/?result={result.pk}").text
    assert re.findall(r'<option value="(\w+)"', page) == ["weird_gaze", "cut_in"]
    answer = eval_client.post(f"/tickets/new/?result={result.pk}", {"link": LINK, "title": "Gaze", "tag": "weird_gaze"})
    assert answer["Location"] == result.get_absolute_url()
    ticket = Ticket.objects.get()
    assert (ticket.result, ticket.script, ticket.build, ticket.tag) == (result, script, result.build, "weird_gaze")


def test_a_tag_that_the_result_does_not_have_is_refused(eval_client: Client, tester: User, script: Script) -> None:
    result = make.result(tester, script, make.build(), problems=("weird_gaze",))
    sent = {"link": LINK, "title": "Gaze", "tag": "too_long"}
    assert eval_client.post(f"/tickets/new/?result={result.pk}", sent).status_code == 422


@pytest.mark.data_layer
def test_the_same_ticket_sent_twice_is_one(eval_member: User, script: Script) -> None:
    about = About(make.build(), "too_long", script)
    first = link_ticket(eval_member, LINK, "Too long", about)
    assert link_ticket(eval_member, LINK, "Too long", about) == first
    close_ticket(eval_member, first)
    assert link_ticket(eval_member, LINK, "Too long", about) != first


@pytest.mark.data_layer
def test_it_is_closed_and_opened_again_once_each(eval_member: User, script: Script) -> None:
    ticket = link_ticket(eval_member, LINK, "Too long", About(make.build(), "too_long", script))
    assert [close_ticket(eval_member, ticket), close_ticket(eval_member, ticket)] == [True, False]
    assert [reopen_ticket(eval_member, ticket), reopen_ticket(eval_member, ticket)] == [True, False]
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["linked a ticket", "closed a ticket", "reopened a ticket"]


def test_a_closed_one_moves_to_its_own_list(eval_client: Client, eval_member: User, script: Script) -> None:
    ticket = link_ticket(eval_member, LINK, "Too long", About(make.build(), "too_long", script))
    eval_client.post(ticket.get_absolute_url(), {"act": "close"})
    assert "Too long" not in eval_client.get("/tickets/").text.split("<main")[1]
    assert "Too long" in eval_client.get("/tickets/?show=closed").text
    eval_client.post(ticket.get_absolute_url(), {"act": "reopen"})
    assert "Too long" in eval_client.get("/tickets/").text


# --- who sees which --------------------------------------------------------------------------------


def test_a_tester_sees_the_tickets_of_a_result_beside_it_and_no_list(
    tester_client: Client, tester: User, eval_member: User, script: Script
) -> None:
    result = make.result(tester, script, make.build(), problems=("weird_gaze",))
    ticket = link_ticket(eval_member, LINK, "Gaze", About.result_of(result, "weird_gaze"))
    page = tester_client.get(result.get_absolute_url()).text
    assert "Open on tracker.example.test" in words(page)
    assert "not run yet on a later build" in page
    assert "Link a ticket" not in page
    assert tester_client.get("/tickets/").status_code == 403
    assert tester_client.get(ticket.get_absolute_url()).status_code == 403


@pytest.mark.data_layer
def test_a_ticket_of_safety_is_not_there_for_the_untrained(
    eval_member: User, trained_eval_member: User, trained_tester: User
) -> None:
    hidden = make.script("quiet", area=taxonomy.SAFETY)
    build = make.build()
    result: Result = make.result(trained_tester, hidden, build, problems=("cut_in",))
    of_result = link_ticket(trained_eval_member, LINK, "Secret", About.result_of(result, "cut_in"))
    of_script = link_ticket(trained_eval_member, LINK, "Secret too", About(build, "cut_in", hidden))
    client = make.client_of(eval_member)
    for ticket in (of_result, of_script):
        assert client.get(ticket.get_absolute_url()).status_code == 404
        assert client.post(ticket.get_absolute_url(), {"act": "close"}).status_code == 404
    assert "Secret" not in client.get("/tickets/").text
    assert tickets_for(eval_member, "cut_in") == []
    assert len(tickets_for(trained_eval_member, "cut_in")) == 2
    assert client.get(f"/tickets/new/?result={result.pk}").status_code == 404
    sent = {"link": LINK, "title": "x", "tag": "cut_in", "script": "quiet", "build": build.sort_key}
    assert client.post("/tickets/new/", sent).status_code == 422
    assert not AuditEntry.objects.visible_to(make.user(None, Role.ADMINISTRATOR)).filter(target="Secret").exists()


@pytest.mark.data_layer
def test_a_dashboard_finds_the_open_tickets_of_a_problem(eval_member: User, script: Script) -> None:
    other, build = make.script(), make.build()
    of_one = link_ticket(eval_member, LINK, "One", About(build, "too_long", script))
    of_other = link_ticket(eval_member, LINK, "Other", About(build, "too_long", other))
    of_any = link_ticket(eval_member, LINK, "Any", About(build, "too_long"))
    close_ticket(eval_member, link_ticket(eval_member, LINK, "Closed", About(build, "too_long", script)))
    link_ticket(eval_member, LINK, "Another problem", About(build, "cut_in", script))
    assert tickets_for(eval_member, "too_long", script.slug) == [of_any, of_one]
    assert tickets_for(eval_member, "too_long") == [of_any, of_other, of_one]
    assert set(tickets_by_tag(eval_member, script.slug)) == {"too_long", "cut_in"}
