"""A call leads into the results form, waits on the to-do page, and is shown beside what was filed of it."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from emma_eval.accounts.models import User
from results.models import Call, Draft, Result
from scripts_catalog.models import Build, Script, ScriptVersion
from tests import make
from tests.results.filing.sent import fields, file

from .told import act

pytestmark = pytest.mark.django_db
BEGUN = datetime(2026, 3, 2, 6, 36, 12, 345_000, tzinfo=UTC)
BEGUN_HERE = "2026-03-02T14:36:12"
NOTED = {"browser": "Chrome Mobile", "device": "phone", "connection": "wifi", "system": "Android 14"}


@pytest.fixture
def script(db: None) -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture
def other(db: None) -> Script:
    return make.script("noisy-room", title="Noisy room", uses_camera=True)


@pytest.fixture
def build(db: None) -> Build:
    make.build("2026.10", is_current=True)
    return make.build("2026.9")


@pytest.fixture
def call(tester: User, script: Script, other: Script, build: Build) -> Call:
    words = ("She laughed.", "")
    return make.call(tester, script, other, build=build, started_at=BEGUN, ended_at_ms=391_000, moments=words, **NOTED)


def form(client: Client, call: Call, script: str = "bad-news-day") -> str:
    answer = client.get("/results/new/", {"call": str(call.uuid), "script": script})
    assert answer.status_code == 200
    return str(answer.text)


def value_of(page: str, name: str) -> str:
    found = re.search(rf'name="{name}"[^>]* value="([^"]*)"', page)
    assert found, name
    return found[1]


def words(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def filed(client: Client, call: Call, script: Script, **changes: str) -> Result:
    """As the form of the call is sent."""
    assert call.build is not None
    said = {"call": str(call.uuid), "called_at": BEGUN_HERE, **changes}
    answer = file(client, fields(script, call.build, **said))
    assert answer.status_code == 303, answer.content
    return Result.objects.get(script=script)


# --- the form ----------------------------------------------------------------------------------


def test_the_form_says_what_is_known_of_the_call(tester_client: Client, call: Call, build: Build) -> None:
    page = form(tester_client, call)
    assert value_of(page, "call") == str(call.uuid)
    assert value_of(page, "called_at") == BEGUN_HERE
    assert f'<option value="{build.pk}" selected>' in page
    assert "Moments you marked" in page
    assert "0:30 She laughed. 1:01 no words" in words(page)


def test_the_camera_is_that_of_the_script(tester_client: Client, call: Call) -> None:
    checked = r'name="camera_used"[^>]*value="yes"[^>]* checked'
    assert not re.search(checked, form(tester_client, call))
    assert re.search(checked, form(tester_client, call, "noisy-room"))


def test_the_version_is_the_one_that_was_run(tester_client: Client, call: Call, script: Script) -> None:
    ran = script.latest
    assert ran is not None
    script.latest = ScriptVersion.objects.create(
        script=script, number=2, area="everyday", title="Bad news night", main_dimension="content", steps=["Cry."]
    )
    script.save()
    page = form(tester_client, call)
    assert f'<input type="hidden" name="script_version" value="{ran.pk}">' in page
    assert "newer version" not in page, "the call knows which one it was"
    answer = file(tester_client, fields(script, call.build, call=str(call.uuid), script_version=str(ran.pk)))  # type: ignore[arg-type]
    assert answer.status_code == 303
    assert Result.objects.get().script_version == ran


def test_a_script_that_is_edited_while_the_form_of_a_call_is_open_asks_for_no_version(
    tester_client: Client, call: Call, script: Script
) -> None:
    page, ran = form(tester_client, call), script.latest
    assert ran is not None
    assert value_of(page, "newest") == ""
    script.latest = ScriptVersion.objects.create(
        script=script, number=2, area=script.area, title="Newer", main_dimension=ran.main_dimension
    )
    script.save()
    assert filed(tester_client, call, script, script_version=str(ran.pk), newest="").script_version == ran


def test_without_a_page_beside_the_call_the_version_is_asked_for(
    tester: User, tester_client: Client, script: Script, build: Build
) -> None:
    draft = Draft.objects.create(tester=tester, uuid=uuid.uuid4(), script=script, fields=fields(script, build))
    ran = script.latest
    assert ran is not None
    script.latest = ScriptVersion.objects.create(
        script=script, number=2, area=script.area, title="Newer", main_dimension=ran.main_dimension
    )
    script.save()
    page = words(tester_client.get(f"/drafts/{draft.uuid}/").text)
    assert "The script has a newer version It was edited since this form was begun." in page


def test_a_beginning_that_may_have_been_earlier_is_told_until_somebody_corrects_it(
    tester: User, tester_client: Client, call: Call, script: Script
) -> None:
    hint = "may have begun earlier"
    assert hint not in form(tester_client, call)
    Call.objects.update(start_is_uncertain=True)
    assert hint in form(tester_client, call)
    result = filed(tester_client, call, script)
    assert hint in tester_client.get(result.get_absolute_url()).text
    Result.objects.update(called_at=datetime(2026, 3, 2, 6, 30, tzinfo=UTC))
    assert hint not in tester_client.get(result.get_absolute_url()).text


def test_moments_stay_on_the_form_that_is_sent_with_an_error_and_on_the_draft(
    tester_client: Client, call: Call, script: Script, build: Build
) -> None:
    sent = fields(script, build, call=str(call.uuid), content="9")
    answer = file(tester_client, sent)
    assert answer.status_code == 422
    assert b"She laughed." in answer.content
    draft = Draft.objects.create(tester=call.tester, uuid=uuid.uuid4(), script=script, fields=sent)
    assert "She laughed." in tester_client.get(f"/drafts/{draft.uuid}/").text


def test_a_call_that_has_not_begun_has_no_time_to_give(tester: User, tester_client: Client, script: Script) -> None:
    make.build(is_current=True)
    call = make.call(tester, script, started_at=None)
    page = form(tester_client, call)
    assert value_of(page, "call") == str(call.uuid)
    assert "Moments you marked" not in page


def test_the_call_of_another_gives_nothing(trained_tester: User, call: Call) -> None:
    page = form(make.client_of(trained_tester), call)
    assert value_of(page, "call") != str(call.uuid)
    assert "She laughed." not in page


def test_a_script_that_was_retired_since_is_filed_with_the_time_of_its_call(
    tester_client: Client, call: Call, script: Script
) -> None:
    Script.objects.filter(pk=script.pk).update(retired_at="2026-03-05T00:00Z")
    assert value_of(form(tester_client, call), "called_at") == BEGUN_HERE


# --- filing ------------------------------------------------------------------------------------


@pytest.mark.data_layer
def test_a_result_takes_over_what_the_page_noted(tester_client: Client, call: Call, script: Script) -> None:
    result = filed(tester_client, call, script)
    assert (result.browser, result.device, result.connection, result.system) == (
        "Chrome",
        "phone",
        "wifi",
        "Android 14",
    )
    assert result.call_uuid == call.uuid


@pytest.mark.data_layer
def test_a_result_without_a_page_beside_its_call_says_nothing(tester: User, script: Script, build: Build) -> None:
    file(make.client_of(tester), fields(script, build))
    result = Result.objects.get()
    assert (result.browser, result.device, result.connection, result.system) == ("", "", "", "")


def test_several_scripts_on_one_call_share_its_facts(
    tester_client: Client, call: Call, script: Script, other: Script
) -> None:
    filed(tester_client, call, script, recording_link="https://recordings.example.org/1")
    page = form(tester_client, call, "noisy-room")
    assert value_of(page, "called_at") == BEGUN_HERE
    assert value_of(page, "recording_link") == "https://recordings.example.org/1"
    assert "She laughed." in page
    second = filed(tester_client, call, other, recording_link="https://recordings.example.org/1")
    assert second.build == call.build
    assert "She laughed." in tester_client.get(second.get_absolute_url()).text


@pytest.mark.data_layer
def test_the_build_of_the_call_follows_its_results(tester: User, call: Call, script: Script) -> None:
    client, current = make.client_of(tester), Build.objects.get(name="2026.10")
    result = filed(client, call, script, build=str(current.pk))
    call.refresh_from_db()
    assert call.build == current
    old = Build.objects.get(name="2026.9")
    sent = fields(script, old, call=str(call.uuid), called_at=BEGUN_HERE, version="1")
    assert client.post(f"/results/{result.pk}/edit/", sent).status_code == 302
    call.refresh_from_db()
    assert call.build == old


@pytest.mark.data_layer
def test_a_safety_result_takes_from_the_open_ones_what_the_page_noted(trained_tester: User, script: Script) -> None:
    call = make.call(trained_tester, script, build=make.build(), started_at=BEGUN, **NOTED)
    client, covered = make.client_of(trained_tester), make.script("quiet-hint", area="safety")
    assert filed(client, call, script).browser == "Chrome"
    assert filed(client, call, covered).browser == "Chrome"
    assert Result.objects.get(script=script).browser == ""


def test_what_else_was_run_is_named_on_the_page_of_what_is_filed(
    tester: User, tester_client: Client, eval_client: Client, call: Call, script: Script
) -> None:
    result = filed(tester_client, call, script)
    page = tester_client.get(result.get_absolute_url()).text
    assert "Not everything that you ran on this call is filed yet." in page
    assert f'href="/results/new/?call={call.uuid}&amp;script=noisy-room"' in page
    assert "<span>File the result of <bdi>Noisy room</bdi></span>" in page, "one sentence, however narrow the button"
    assert "is filed yet" not in eval_client.get(result.get_absolute_url()).text
    act(tester_client, call, "set_aside", run=call.runs.get(script__slug="noisy-room").pk)
    assert "is filed yet" not in tester_client.get(result.get_absolute_url()).text


# --- the page of a result ----------------------------------------------------------------------


def test_the_page_of_a_result_shows_what_was_kept_beside_the_call(
    tester_client: Client, eval_client: Client, call: Call, script: Script
) -> None:
    run = call.runs.get(script=script)
    run.ticks, run.off_script_from_ms = {"2": 61_000}, 185_000
    run.save()
    Call.objects.update(round_trips_ms=[40, 50, 900])
    result = filed(tester_client, call, script)
    page = eval_client.get(result.get_absolute_url()).text
    assert 'id="moment-1"' in page
    assert 'id="moment-2"' in page
    said = words(page)
    for shown in (
        "0:30 She laughed. 1:01 no words",
        "Call lasted 6:31",
        "Browser Chrome Device Phone System Android 14 Connection Wi-Fi",
        "50 ms between the page and this site, the median of 3 measurements",
        "1:01 Ask her a question. 3:05 off-script from here",
    ):
        assert shown in said
    assert "Say hello." not in said


@pytest.mark.parametrize(
    ("measured", "said"), [([61], "61 ms between the page and this site, measured once"), ([], "")]
)
def test_few_round_trips_are_told_in_words(
    tester_client: Client, call: Call, script: Script, measured: list[int], said: str
) -> None:
    Call.objects.update(round_trips_ms=measured)
    page = words(tester_client.get(filed(tester_client, call, script).get_absolute_url()).text)
    assert said in page
    assert ("Round trip" in page) is bool(said)


def test_a_call_that_may_not_be_known_looks_like_one_without_a_page(
    trained_tester: User, eval_client: Client, trained_eval_member: User, script: Script
) -> None:
    covered = make.script(area="safety")
    call = make.call(trained_tester, script, covered, build=make.build(), ended_at_ms=5_000, moments=("zq17",), **NOTED)
    result = filed(make.client_of(trained_tester), call, script)
    page = eval_client.get(result.get_absolute_url()).text
    for word in ("zq17", "Moments", "Call lasted", "Chrome", "Wi-Fi"):
        assert word not in page, word
    assert "zq17" in make.client_of(trained_eval_member).get(result.get_absolute_url()).text


def test_words_of_a_moment_are_text(tester: User, tester_client: Client, script: Script) -> None:
    call = make.call(tester, script, build=make.build(), started_at=BEGUN, moments=("<b>loud</b>",))
    page = tester_client.get(filed(tester_client, call, script).get_absolute_url()).text
    assert "&lt;b&gt;loud&lt;/b&gt;" in page


# --- the to-do page ----------------------------------------------------------------------------


def todo(client: Client) -> str:
    return str(client.get(reverse("todo")).text)


def test_a_call_waits_until_everything_on_it_is_filed(
    tester_client: Client, call: Call, script: Script, other: Script
) -> None:
    page = todo(tester_client)
    assert "Calls that wait for their results" in page
    assert f'href="/calls/{call.uuid}/"' in page
    assert "Lasted 6:31" in page
    assert page.count("File the result") == 2
    filed(tester_client, call, script)
    assert todo(tester_client).count("File the result") == 1
    filed(tester_client, call, other)
    assert "Calls that wait for their results" not in todo(tester_client)


def test_a_call_that_was_begun_waits_before_its_end_and_one_that_was_not_never(
    tester: User, tester_client: Client, script: Script
) -> None:
    call = make.call(tester, script, started_at=None)
    assert "wait for their results" not in todo(tester_client)
    Call.objects.filter(pk=call.pk).update(started_at=BEGUN)
    assert "Not ended yet" in todo(tester_client)


def test_a_call_without_an_end_is_said_to_be_open(tester_client: Client, call: Call) -> None:
    Call.objects.update(ended_at_ms=None)
    page = words(todo(tester_client))
    assert "Not ended yet" in page
    assert "not told" not in page


def test_everybody_is_told_alike_who_can_help_with_what_is_not_open(
    tester: User, tester_client: Client, trained_tester: User
) -> None:
    """A call that became Safety is not found by its own tester: the words must be there with it and without it."""
    hidden = make.call(tester, make.script(area="safety"), moments=("zq17",))
    line = "is not open to you at present. Nothing of it is lost: ask the eval team"
    with_it = todo(tester_client)
    assert tester_client.get(hidden.get_absolute_url()).status_code == 404
    hidden.delete()
    token = r'name="csrfmiddlewaretoken" value="[^"]*"'
    assert re.sub(token, "", todo(tester_client)) == re.sub(token, "", with_it)
    assert line in with_it
    assert line in todo(make.client_of(trained_tester))


def test_a_draft_of_the_call_is_gone_on_with(tester: User, tester_client: Client, call: Call, script: Script) -> None:
    draft = Draft.objects.create(
        tester=tester, uuid=uuid.uuid4(), script=script, fields={"call": str(call.uuid), "comment": "Half."}
    )
    page = todo(tester_client)
    assert "Go on with the draft" in page
    assert f"/results/new/?call={call.uuid}&amp;script=bad-news-day" not in page
    assert f'href="/drafts/{draft.uuid}/"' in tester_client.get(f"/calls/{call.uuid}/").text


def test_a_run_is_set_aside_and_leads_back_to_the_page(tester_client: Client, call: Call, script: Script) -> None:
    run = call.runs.get(script=script)
    answer = act(tester_client, call, "set_aside", run=run.pk, back="todo")
    assert (answer.status_code, answer["Location"]) == (303, "/todo/")
    page = todo(tester_client)
    assert "no result is waited for" in page
    assert page.count("File the result") == 1
    assert "script=noisy-room" in page
    assert filed(tester_client, call, script).call_uuid == call.uuid, "it can be filed all the same"


def test_nobody_sets_aside_a_run_of_another(tester_client: Client, trained_tester: User, call: Call) -> None:
    strange = make.call(trained_tester, make.script()).runs.get()
    act(tester_client, call, "set_aside", run=strange.pk)
    strange.refresh_from_db()
    assert strange.set_aside_at is None


def test_a_call_that_is_kept_from_its_tester_waits_unseen(tester: User, tester_client: Client) -> None:
    make.call(tester, make.script(area="safety"), started_at=BEGUN)
    assert "wait for their results" not in todo(tester_client)
