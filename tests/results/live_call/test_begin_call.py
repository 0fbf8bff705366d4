"""Beginning a call from a script's page, and putting another script on it."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import Attempt, User
from results.live_call import begin_call as begin_call_module
from results.live_call.begin_call import CALLS, MOST_RUNS, MOST_WAITING_CALLS, add_script, begin_call
from results.models import Call, Result, Run
from scripts_catalog.models import Build, Script
from tests import make

from .told import act

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


@pytest.fixture
def build(db: None) -> Build:
    return make.build("2026.10", is_current=True)


@pytest.fixture
def script(build: Build) -> Script:
    return make.script("bad-news-day")


def start(client: Client, script: str = "bad-news-day", **fields: object) -> str:
    """Where the button leads."""
    answer = client.post("/calls/new/", {"script": script, **fields})
    assert answer.status_code == 303
    return str(answer["Location"])


def test_the_button_makes_a_call_on_the_current_build(tester_client: Client, script: Script, build: Build) -> None:
    asked = uuid.uuid4()
    assert start(tester_client, uuid=asked) == f"/calls/{asked}/"
    call = Call.objects.get()
    assert (call.build, call.started_at, call.ended_at_ms) == (build, None, None)
    assert [(run.script, run.script_version) for run in call.runs.all()] == [(script, script.latest)]


def test_the_same_button_twice_is_one_call(tester_client: Client, script: Script) -> None:
    asked = uuid.uuid4()
    assert start(tester_client, uuid=asked) == start(tester_client, uuid=asked)
    assert Call.objects.count() == Run.objects.count() == 1


def test_a_button_of_a_call_that_is_over_begins_one_more_and_only_one(tester_client: Client, script: Script) -> None:
    asked = uuid.uuid4()
    first = start(tester_client, uuid=asked)
    Call.objects.update(ended_at_ms=5)
    second = start(tester_client, uuid=asked)
    assert second != first
    assert start(tester_client, uuid=asked) == second
    Call.objects.update(ended_at_ms=5)
    assert start(tester_client, uuid=asked) not in {first, second}
    assert Call.objects.count() == 3


def test_two_testers_may_come_with_the_same_uuid(tester_client: Client, trained_tester: User, script: Script) -> None:
    asked = uuid.uuid4()
    start(tester_client, uuid=asked)
    start(make.client_of(trained_tester), uuid=asked)
    assert Call.objects.filter(uuid=asked).values("tester").distinct().count() == 2


def test_another_script_is_put_on_the_call_once(tester_client: Client, script: Script) -> None:
    address = start(tester_client)
    call = Call.objects.get()
    make.script("noisy-room")
    for _ in range(2):
        assert start(tester_client, "noisy-room", call=call.uuid) == address
    act(tester_client, call, "script", script="noisy-room")
    assert [run.script.slug for run in call.runs.all()] == ["bad-news-day", "noisy-room"]


def test_a_call_takes_only_so_many_scripts(tester: User, tester_client: Client, script: Script) -> None:
    call = make.call(tester, *(make.script() for _ in range(MOST_RUNS)))
    page = tester_client.post("/calls/new/", {"script": script.slug, "call": call.uuid}, follow=True)
    assert "as many scripts as one call may have" in page.text
    assert call.runs.count() == MOST_RUNS


def test_a_script_that_was_put_on_the_call_by_mistake_comes_off(tester: User, tester_client: Client) -> None:
    call = make.call(tester, make.script("bad-news-day"), make.script("noisy-room"))
    for _ in range(2):
        act(tester_client, call, "take_off_script", run=call.runs.last().pk)
        assert [run.script.slug for run in call.runs.all()] == ["bad-news-day"], "the only one stays"
    assert "stays on the call" in tester_client.get(call.get_absolute_url()).text


@pytest.mark.parametrize("what", ["ticked", "off-script", "filed", "safety", "of another"])
def test_a_script_stays_on_the_call(trained_tester: User, what: str) -> None:
    tester = make.user(is_trained=True) if what == "of another" else trained_tester
    added = make.script("noisy-room", **({"area": "safety"} if what == "safety" else {}))
    call = make.call(tester, make.script("bad-news-day"), added)
    run = call.runs.get(script=added)
    if what == "ticked":
        Run.objects.filter(pk=run.pk).update(ticks={"1": 5})
    elif what == "off-script":
        Run.objects.filter(pk=run.pk).update(off_script_from_ms=5)
    elif what == "filed":
        make.result(tester, added, make.build(), call_uuid=call.uuid)
    answer = act(make.client_of(trained_tester), call, "take_off_script", run=run.pk)
    assert answer.status_code == (404 if what == "of another" else 303)
    assert call.runs.count() == 2


def test_nobody_puts_a_script_on_the_call_of_another(
    tester_client: Client, trained_tester: User, script: Script
) -> None:
    call = make.call(trained_tester, make.script())
    assert tester_client.post("/calls/new/", {"script": script.slug, "call": call.uuid}).status_code == 404
    assert call.runs.count() == 1


def test_a_script_that_may_not_be_known_or_is_not_there_begins_nothing(tester_client: Client, script: Script) -> None:
    make.script("quiet-hint", area="safety")
    for slug in ("quiet-hint", "no-such-script", ""):
        assert tester_client.post("/calls/new/", {"script": slug}).status_code == 404
    assert not Call.objects.exists()


def test_a_retired_script_says_so(tester_client: Client, script: Script) -> None:
    Script.objects.update(retired_at="2026-01-01T12:00Z")
    page = tester_client.post("/calls/new/", {"script": script.slug}, follow=True)
    assert "was retired meanwhile" in page.text
    assert not Call.objects.exists()


def test_a_uuid_that_is_none_begins_a_call_all_the_same(tester_client: Client, script: Script) -> None:
    start(tester_client, uuid="not a uuid")
    assert Call.objects.count() == 1


def test_a_call_that_is_kept_from_its_tester_is_left_alone(tester: User, script: Script) -> None:
    """Their training ended: the page's button begins another call, as it would if there had been none."""
    hidden = make.call(tester, make.script(area="safety"))
    made = begin_call(tester, hidden.uuid, script)
    assert made.pk != hidden.pk
    assert begin_call(tester, hidden.uuid, script) == made
    assert hidden.runs.count() == 1


def test_a_safety_script_takes_from_open_results_what_the_page_noted(trained_tester: User, script: Script) -> None:
    """Otherwise a browser without a call beside it would tell that there is more to know."""
    call = make.call(trained_tester, script)
    noted = {"browser": "Chrome", "device": "phone", "connection": "wifi", "system": "Android 14"}
    filed = make.result(trained_tester, script, make.build(), call_uuid=call.uuid, **noted)
    add_script(call, make.script(area="safety"))
    filed.refresh_from_db()
    assert (filed.browser, filed.device, filed.connection, filed.system) == ("", "", "", "")
    assert Run.objects.get(is_safety=True).call == call


def test_who_has_no_part_in_testing_begins_no_call(eval_client: Client, script: Script) -> None:
    assert eval_client.post("/calls/new/", {"script": script.slug}).status_code == 403


def test_what_a_result_says_of_the_call_is_not_touched(tester: User, script: Script, build: Build) -> None:
    filed = make.result(tester, script, build)
    begin_call(tester, filed.call_uuid, script)
    before: datetime = filed.called_at
    assert Result.objects.get().called_at == before


def test_a_tester_has_only_so_many_calls_that_wait_for_a_result(
    tester: User, tester_client: Client, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_WAITING_CALLS == 200
    monkeypatch.setattr(begin_call_module, "MOST_WAITING_CALLS", 2)
    first, second = (uuid.UUID(start(tester_client)[7:-1]) for _ in range(2))
    answer = tester_client.post("/calls/new/", {"script": script.slug}, follow=True)
    assert answer.redirect_chain == [("/todo/", 303)]
    assert "of your calls wait for their results" in answer.text
    assert Call.objects.count() == 2
    assert start(tester_client, uuid=first) == f"/calls/{first}/"  # what is there is found all the same
    make.result(tester, script, make.build(), call_uuid=first)
    start(tester_client)
    call = Call.objects.get(uuid=second)
    act(tester_client, call, "set_aside", run=call.runs.get().pk)
    start(tester_client)
    assert Call.objects.count() == 4
    Call.objects.update(created_at=timezone.now() - timedelta(days=3))  # pages that were opened and left
    start(tester_client)


def test_calls_are_begun_only_so_fast(
    tester_client: Client, script: Script, trained_tester: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Setting each aside at once makes room for the next, so their number alone would bound nothing."""
    monkeypatch.setattr(begin_call_module, "CALLS", replace(CALLS, most=3))
    for _ in range(3):
        start(tester_client)
        Run.objects.update(set_aside_at="2026-01-01T12:00Z")
    answer = tester_client.post("/calls/new/", {"script": script.slug}, follow=True)
    assert answer.redirect_chain == [(script.get_absolute_url(), 303)]
    assert "You began many calls just now. The next can begin at" in answer.text
    assert Call.objects.count() == 3
    start(make.client_of(trained_tester))
    Attempt.objects.update(at=timezone.now() - CALLS.within - timedelta(seconds=1))
    start(tester_client)
    assert Call.objects.count() == 5
