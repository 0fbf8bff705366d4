"""Who waits for a recording, and where it is told that there is one: to-do, list, dashboards, files and programs."""

from __future__ import annotations

import json

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.dashboards.counting import Counting
from results.dashboards.examples import find_examples
from results.listing.filters import Filters
from results.models import Recording, RecordingState, Result, Source
from results.recordings.tell_of_rows import recordings_of_rows
from scripts_catalog import taxonomy
from scripts_catalog.models import Build
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

BADGE = "no recording yet"


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    cache.clear()


@pytest.fixture
def build(db: None) -> Build:
    return make.build()


@pytest.fixture
def result(tester: User, build: Build) -> Result:
    return make.result(tester, make.script(), build, problems=("too_long",))


def recorded(result: Result, state: RecordingState) -> Recording:
    key = {} if state == RecordingState.READY else {"key": "", "removed_at": timezone.now()}
    return make.recording(result.tester, result.call_uuid, state=state, **key)


@pytest.mark.parametrize(
    ("state", "waits"),
    [
        (RecordingState.RECEIVING, False),
        (RecordingState.WORKING, False),
        (RecordingState.READY, False),
        (RecordingState.FAILED, True),
        (RecordingState.REMOVED, True),
    ],
)
def test_a_call_waits_unless_its_recording_is_here_or_on_its_way(
    tester_client: Client, tester: User, result: Result, state: RecordingState, waits: bool
) -> None:
    recorded(result, state)
    assert Result.objects.waiting_for_link_of(tester).exists() is waits
    assert (f"/recordings/new/?call={result.call_uuid}" in tester_client.get("/todo/").text) is waits
    assert (BADGE in tester_client.get("/results/").text) is waits


def test_the_recording_of_another_call_or_tester_does_not_count(
    tester_client: Client, tester: User, trained_tester: User, result: Result, build: Build
) -> None:
    make.recording(trained_tester, result.call_uuid)
    make.recording(tester, make.result(tester, make.script(), build, recording_link="https://a.example/1").call_uuid)
    assert Result.objects.waiting_for_link_of(tester).get() == result
    assert tester_client.get("/results/").text.count(BADGE) == 1


def test_a_call_with_something_of_safety_tells_the_untrained_of_no_recording(
    manager: User, trained_eval_member: User, tester: User, result: Result, build: Build
) -> None:
    """A badge that is missing would tell, too."""
    make.result(tester, make.script(area=taxonomy.SAFETY), build, call_uuid=result.call_uuid)
    recorded(result, RecordingState.READY)
    assert recordings_of_rows(manager, [result]) == {}
    assert list(recordings_of_rows(trained_eval_member, [result])) == [(tester.pk, result.call_uuid)]
    assert BADGE in make.client_of(manager).get("/results/").text
    assert BADGE not in make.client_of(trained_eval_member).get("/results/").text
    for user, is_known in ((manager, False), (trained_eval_member, True)):
        found = find_examples(Counting(user, Filters()), Source.FILED, {("too_long", False): 9}, 9)
        assert [each.has_recording for each in found["too_long", False]] == [is_known]


def test_the_one_that_can_be_played_is_told_of_several(tester: User, result: Result) -> None:
    ready = recorded(result, RecordingState.READY)
    recorded(result, RecordingState.FAILED)
    recorded(result, RecordingState.RECEIVING)
    [told] = recordings_of_rows(tester, [result]).values()
    assert (told.uuid, told.is_playable) == (ready.pk, True)


def test_files_name_its_page(manager_client: Client, result: Result) -> None:
    recording = recorded(result, RecordingState.READY)
    answer = manager_client.post("/results/export/", {"format": "jsonl", "column": ["id", "recording"]})
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
    told = json.loads(body)["recording"]
    assert told["state"] == "ready"
    assert told["url"].endswith(f"/recordings/{recording.pk}/")


def test_the_note_after_filing_and_the_form_know_of_it(tester: User, build: Build) -> None:
    user = make.user(None, Role.TESTER)
    script = make.script()
    call = make.call(user, script)
    client = make.client_of(user)
    path = f"/results/new/?call={call.uuid}&script={script.slug}"
    assert f"/recordings/new/?call={call.uuid}" in client.get(path, follow=True).text
    recording = make.recording(user, call.uuid)
    assert f"/recordings/{recording.pk}/" in client.get(path, follow=True).text
