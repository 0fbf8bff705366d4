"""A whole call by plain forms: without scripts the site's own clock says when things happened."""

from __future__ import annotations

import re
import uuid

import pytest
from django.test import Client

from emma_eval.accounts.models import User
from results.live_call import keep_telling as room
from results.models import MOST_MOMENTS, Call
from tests import make

from .told import act

pytestmark = pytest.mark.django_db


@pytest.fixture
def call(tester: User) -> Call:
    build = make.build("2026.10", is_current=True, call_link="https://emma.test/call")
    return make.call(tester, make.script("bad-news-day"), build=build, started_at=None)


def page(client: Client, call: Call) -> str:
    answer = client.get(f"/calls/{call.uuid}/")
    assert answer.status_code == 200
    return str(answer.text)


def press(client: Client, call: Call, name: str, **fields: object) -> None:
    answer = act(client, call, name, **fields)
    assert (answer.status_code, answer["Location"].split("#")[0]) == (303, f"/calls/{call.uuid}/")


def test_a_whole_call(tester_client: Client, call: Call) -> None:
    assert "https://emma.test/call" in page(tester_client, call)
    run = call.runs.get()
    press(tester_client, call, "begin")
    press(tester_client, call, "moment", uuid=uuid.uuid4(), words="a laugh")
    press(tester_client, call, "tick", run=run.pk, step=1)
    press(tester_client, call, "tick", run=run.pk, step=2)
    press(tester_client, call, "untick", run=run.pk, step=2)
    press(tester_client, call, "steps_done", run=run.pk)
    press(tester_client, call, "end")
    call.refresh_from_db()
    run.refresh_from_db()
    assert call.started_at is not None
    assert call.ended_at_ms is not None
    marked = call.moments.get()
    assert list(run.ticks) == ["1"]
    assert run.off_script_from_ms is not None
    assert 0 <= marked.at_ms <= run.ticks["1"] <= run.off_script_from_ms <= call.ended_at_ms < 60_000
    assert (call.browser, call.device) == ("Chrome", "computer")
    assert f"/results/new/?call={call.uuid}&amp;script=bad-news-day" in page(tester_client, call)
    press(tester_client, call, "reopen")
    press(tester_client, call, "steps_open", run=run.pk)
    call.refresh_from_db()
    run.refresh_from_db()
    assert call.ended_at_ms is run.off_script_from_ms is None


def test_a_form_that_is_sent_twice_makes_one_moment(tester_client: Client, call: Call) -> None:
    press(tester_client, call, "begin")
    (made,) = re.findall(r'name="uuid" value="([0-9a-f-]{36})"', page(tester_client, call))[:1]
    for _ in range(2):
        press(tester_client, call, "moment", uuid=made)
    assert call.moments.count() == 1


def test_a_button_is_no_moment_before_the_call_began(tester_client: Client, call: Call) -> None:
    press(tester_client, call, "moment")
    assert room.NOT_BEGUN in page(tester_client, call)
    assert not call.moments.exists()


def test_words_are_mended_where_they_stand(tester: User, tester_client: Client) -> None:
    call = make.call(tester, make.script(), moments=("a laf",))
    marked = call.moments.get()
    press(tester_client, call, "words", uuid=marked.uuid, words="a laugh")
    assert list(call.moments.values_list("at_ms", "words")) == [(marked.at_ms, "a laugh")]
    assert 'value="a laugh"' in page(tester_client, call)


def test_a_moment_is_withdrawn_and_put_back(tester: User, tester_client: Client) -> None:
    call = make.call(tester, make.script(), moments=("a slip", "a laugh"))
    marked = call.moments.get(words="a slip")
    press(tester_client, call, "withdraw", uuid=marked.uuid)
    assert [each.words for each in call.moments.standing()] == ["a laugh"]
    press(tester_client, call, "put_back", uuid=marked.uuid)
    assert list(call.moments.standing().values_list("words", "at_ms")) == [("a slip", 30_500), ("a laugh", 61_000)]
    assert call.moments.get(words="a slip").edition == 2, "a page that counts sees that both are newer"


def test_one_moment_too_many_is_refused_on_the_page(tester: User, tester_client: Client) -> None:
    call = make.call(tester, make.script(), moments=("",) * MOST_MOMENTS)
    press(tester_client, call, "moment")
    assert room.TOO_MANY in page(tester_client, call)
    assert call.moments.count() == MOST_MOMENTS


def test_the_build_and_another_script_are_chosen_by_forms(tester_client: Client, call: Call) -> None:
    other = make.build("2026.9")
    make.script("noisy-room")
    press(tester_client, call, "build", build=other.pk)
    press(tester_client, call, "script", script="noisy-room")
    call.refresh_from_db()
    assert call.build == other
    assert "Noisy room" in page(tester_client, call)


@pytest.mark.parametrize("name", ["", "dance", "script", "build"])
def test_an_act_that_is_none_of_the_page_does_nothing(tester_client: Client, call: Call, name: str) -> None:
    assert act(tester_client, call, name).status_code in {303, 404, 422}
    call.refresh_from_db()
    assert call.build is not None
    assert call.runs.count() == 1


def test_numbers_that_are_none_are_refused(tester_client: Client, call: Call) -> None:
    press(tester_client, call, "begin")
    for run, step in (("x", "1"), ("9" * 40, "1"), ("-1", "0")):
        press(tester_client, call, "tick", run=run, step=step)
    assert room.NO_SUCH_STEP in page(tester_client, call)


def test_a_form_of_somebody_who_is_signed_out_leads_back_to_the_call(call: Call) -> None:
    answer = Client().post(
        f"/calls/{call.uuid}/tell/", {"act": "end"}, headers={"Referer": f"http://testserver/calls/{call.uuid}/"}
    )
    assert answer.status_code == 302
    assert answer["Location"].startswith("/account/login/?next=")
    assert str(call.uuid) in answer["Location"]
