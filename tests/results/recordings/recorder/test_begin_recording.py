"""A recording and its takes begin once, by the name that their page gave them; one page records a call at a time."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.test import Client

from emma_eval.accounts import throttle
from emma_eval.accounts.models import User
from results.models import Call, Origin, Recording, RecordingState
from results.recordings.recorder import begin_recording as room
from results.recordings.recorder.begin_recording import OverError, RecordedElsewhereError, RefusedError
from scripts_catalog.models import Script
from tests import make
from tests.at_once import at_once

from ..recorded import WEBM, begin, take, tell

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
LATER = NOW + timedelta(seconds=31)


def test_it_begins_with_the_consent_that_was_given_before(call: Call) -> None:
    made = begin(call, NOW)
    assert (made.tester, made.call_uuid, made.origin, made.state) == (call.tester, call.uuid, "recorded", "receiving")
    assert made.consented_at == NOW - timedelta(milliseconds=1_500)
    assert made.heard_at == NOW


def test_the_same_name_again_is_the_same_recording_and_a_sign_of_life(call: Call) -> None:
    first = begin(call, NOW)
    again = begin(call, LATER, first.pk)
    assert again == first
    assert Recording.objects.get().heard_at == LATER
    assert again.consented_at == first.consented_at


def test_while_one_page_records_another_is_told_so(call: Call) -> None:
    first = begin(call, NOW)
    with pytest.raises(RecordedElsewhereError, match="another tab or on another device"):
        begin(call, NOW + timedelta(seconds=29))
    assert begin(call, LATER) != first  # nothing was heard of it for half a minute


def test_a_page_that_stopped_keeps_no_other_from_recording_while_it_sends_what_is_left(call: Call) -> None:
    first = begin(call, NOW)
    tell_take = partial(take, first, NOW)
    tell_take(number=1, chunk_count=3)
    tell_take(number=2)
    with pytest.raises(RecordedElsewhereError):
        begin(call, NOW)
    tell_take(number=2, chunk_count=1)
    assert begin(call, NOW) != first


def test_a_page_that_has_recorded_offline_is_not_refused(call: Call) -> None:
    begin(call, NOW)
    begin(call, NOW, has_begun=True)
    assert Recording.objects.count() == 2


def test_two_pages_at_the_same_moment_begin_one(call: Call, transactional_db: None) -> None:
    def ask() -> str:
        try:
            begin(call, NOW)
        except RecordedElsewhereError:
            return "elsewhere"
        return "begun"

    assert sorted(at_once(ask, ask, ask)) == ["begun", "elsewhere", "elsewhere"]
    assert Recording.objects.count() == 1


def test_a_recording_of_another_call_is_not_gone_on_with(call: Call, tester: User, script: Script) -> None:
    other = begin(make.call(tester, script), NOW)
    with pytest.raises(RefusedError, match="another call"):
        begin(call, NOW, other.pk)


def test_an_upload_is_not_gone_on_with(call: Call, tester: User) -> None:
    upload = Recording.objects.create(tester=tester, call_uuid=call.uuid, origin=Origin.UPLOADED)
    with pytest.raises(RefusedError):
        begin(call, NOW, upload.pk)


def test_a_call_has_so_many_recordings_and_no_more(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_RECORDINGS_OF_A_CALL", 2)
    begin(call, NOW)
    begin(call, LATER)
    with pytest.raises(RefusedError, match="at most"):
        begin(call, LATER + timedelta(minutes=1))


def test_a_person_begins_so_many_in_an_hour(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "RECORDINGS", throttle.Limit("recording", 1, timedelta(hours=1)))
    begin(call, NOW)
    with pytest.raises(throttle.TooManyError):
        begin(call, LATER)


# --- takes -------------------------------------------------------------------------------------


def test_a_take_is_told_when_it_begins_and_when_it_ends(call: Call) -> None:
    recording = begin(call, NOW)
    take(recording, NOW, began_at_ms=4_000)
    take(recording, LATER, began_at_ms=4_000, chunk_count=3, has_emma=False)
    take(recording, LATER, began_at_ms=4_000, chunk_count=3, has_emma=False)
    found = recording.takes.get()
    assert (found.media_type, found.began_at_ms, found.chunk_count) == (WEBM, 4_000, 3)
    assert (found.has_tester, found.has_emma) == (True, False)
    recording.refresh_from_db()
    assert recording.heard_at == LATER


@pytest.mark.parametrize("other", [{"began_at_ms": 1}, {"media_type": "video/mp4"}, {"chunk_count": 4}, {}])
def test_another_take_of_the_same_number_is_refused(call: Call, other: dict[str, Any]) -> None:
    recording = begin(call, NOW)
    take(recording, NOW, chunk_count=3)
    with pytest.raises(RefusedError, match="another take"):  # nor does one that ended go on
        take(recording, NOW, **other)


def test_a_recording_has_so_many_takes(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_TAKES", 1)
    recording = begin(call, NOW)
    take(recording, NOW)
    with pytest.raises(RefusedError, match="takes"):
        take(recording, NOW, 2)


def test_nothing_is_added_to_one_that_is_finished(call: Call) -> None:
    recording = begin(call, NOW)
    Recording.objects.update(state=RecordingState.WORKING)
    with pytest.raises(OverError, match="finished"):
        take(recording, NOW)


def test_the_same_take_from_two_tabs_at_once_is_one(call: Call, transactional_db: None) -> None:
    recording = begin(call, NOW)
    at_once(*[partial(take, recording, NOW)] * 3)
    assert recording.takes.count() == 1


# --- as the page asks --------------------------------------------------------------------------


def said(**other: Any) -> dict[str, Any]:
    return {"recording": str(uuid.uuid4()), "consent_age_ms": 10, "has_begun": False, **other}


def test_the_page_begins_and_another_is_told_409(tester_client: Client, call: Call) -> None:
    address = f"/calls/{call.uuid}/recording/"
    assert tell(tester_client, address, said()).json() == {"state": "receiving"}
    refused = tell(tester_client, address, said())
    assert (refused.status_code, refused.json()["error"]) == (409, "elsewhere")


@pytest.mark.parametrize(
    "odd", [[], {}, said(recording="x"), said(consent_age_ms=-1), said(consent_age_ms="1"), said(has_begun=1)]
)
def test_what_is_odd_is_refused_in_words(tester_client: Client, call: Call, odd: Any) -> None:
    answer = tell(tester_client, f"/calls/{call.uuid}/recording/", odd)
    assert (answer.status_code, answer.json()["error"]) == (422, "malformed")
    assert not Recording.objects.exists()


@pytest.mark.parametrize(
    "odd",
    [
        {"number": 0},
        {"number": 1_000},
        {"media_type": "video/quicktime"},
        {"media_type": "video/webm;codecs=<b>"},
        {"began_at_ms": 24 * 3_600_000 + 1},
        {"has_emma": None},
        {"chunk_count": -1},
    ],
)
def test_an_odd_take_is_refused_in_words(tester_client: Client, call: Call, odd: dict[str, Any]) -> None:
    recording = begin(call, datetime.now(UTC))
    right = {"number": 1, "media_type": WEBM, "began_at_ms": 0, "has_tester": True, "has_emma": True}
    assert tell(tester_client, f"/recordings/{recording.pk}/takes/", {**right, "number": 2}).status_code == 200
    answer = tell(tester_client, f"/recordings/{recording.pk}/takes/", {**right, **odd})
    assert (answer.status_code, answer.json()["error"]) == (422, "malformed")


def test_nobody_elses_call_is_recorded(call: Call, trained_tester: User) -> None:
    other = make.client_of(trained_tester)
    assert tell(other, f"/calls/{call.uuid}/recording/", said()).status_code == 404
    recording = begin(call, datetime.now(UTC))
    for act in ("takes", "chunks", "finish"):
        assert tell(other, f"/recordings/{recording.pk}/{act}/", {}).status_code == 404


def test_a_call_that_became_safety_is_not_recorded_on_by_the_untrained(
    tester_client: Client, call: Call, script: Script
) -> None:
    recording = begin(call, datetime.now(UTC))
    script.area = "safety"
    script.save()
    assert tell(tester_client, f"/calls/{call.uuid}/recording/", said()).status_code == 404
    assert tell(tester_client, f"/recordings/{recording.pk}/finish/", {}).status_code == 404


def test_the_page_of_the_call_may_record_and_no_other(tester_client: Client, call: Call) -> None:
    allowed = tester_client.get(call.get_absolute_url())["Permissions-Policy"]
    assert "microphone=(self)" in allowed
    assert "display-capture=(self)" in allowed
    assert "camera=()" in allowed
    for other in ("/todo/", f"/calls/{call.uuid}/recording/"):
        refused = tester_client.get(other)["Permissions-Policy"]
        assert "microphone=()" in refused
        assert "display-capture=()" in refused


def test_the_page_lists_the_recordings_of_the_call(tester_client: Client, call: Call) -> None:
    recording = begin(call, datetime.now(UTC) - timedelta(hours=1))
    shown = tester_client.get(f"/calls/{call.uuid}/recording/", headers={"HX-Request": "true"})
    assert "Being received" in shown.text
    assert f"/recordings/{recording.pk}/finish/" in shown.text
    assert "every 5s" in shown.text
    Recording.objects.update(state=RecordingState.FAILED, fault="Nothing of it was recorded.")
    shown = tester_client.get(f"/calls/{call.uuid}/recording/", headers={"HX-Request": "true"})
    assert "Nothing of it was recorded." in shown.text
    assert "every 5s" not in shown.text
