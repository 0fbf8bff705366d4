"""The addresses of a recording: who is answered what, with scripts and without."""

from __future__ import annotations

import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from emma_eval.accounts.models import User
from results.models import Recording, RecordingNote, RecordingState, Result, Watch
from tests import make
from tests.playable import TRANSCRIPT, playable

pytestmark = pytest.mark.django_db


@pytest.fixture
def result(tester: User) -> Result:
    script, build = make.script(), make.build()
    call = make.call(tester, script, moments=("First", "Second"), ended_at_ms=100_000)
    return make.result(tester, script, build, call_uuid=call.uuid)


@pytest.fixture
def recording(tester: User, result: Result) -> Recording:
    return make.recording(tester, result.call_uuid)


def at(recording: Recording, part: str = "") -> str:
    return f"{recording.get_absolute_url()}{part}"


def test_links_are_given_to_the_script_and_noted_once(manager_client: Client, recording: Recording) -> None:
    answers = [manager_client.post(at(recording, "links/"), headers={"accept": "application/json"}) for _ in range(2)]
    told = answers[1].json()
    assert set(told) == {"media", "peaks", "thumbnail", "captions", "expires_in_s"}
    assert told["media"].startswith("/kept/")
    assert (told["captions"], told["expires_in_s"]) == ("", 900)
    assert answers[0]["Cache-Control"].startswith("max-age=0, no-cache, no-store")
    assert Watch.objects.count() == 1


@pytest.mark.parametrize("state", [RecordingState.WORKING, RecordingState.RECEIVING, RecordingState.FAILED])
def test_there_are_no_links_to_what_can_not_be_played(
    tester_client: Client, recording: Recording, state: RecordingState
) -> None:
    Recording.objects.update(state=state)
    assert tester_client.post(at(recording, "links/")).status_code == 404
    assert tester_client.get(at(recording)).status_code == 200


def test_one_that_failed_leads_on_from_the_result(manager_client: Client, recording: Recording, result: Result) -> None:
    Recording.objects.update(state=RecordingState.FAILED, fault="The file ends too early.")
    beside = manager_client.get(result.get_absolute_url()).text
    assert "The file ends too early." in beside
    assert f'href="{at(recording)}">About this recording</a>' in beside
    assert ">About this recording</a>" not in manager_client.get(at(recording)).text


def test_before_a_result_is_filed_it_is_its_testers_alone(
    tester: User, tester_client: Client, eval_client: Client
) -> None:
    recording = make.recording(tester, uuid.uuid4())
    assert tester_client.get(at(recording)).status_code == 200
    for part in ("", "links/", "notes/", "offset/", "captions/"):
        assert eval_client.post(at(recording, part)).status_code in {404, 405}, part
    assert eval_client.get(at(recording)).status_code == 404


def test_who_may_only_look_moves_nothing(manager_client: Client, recording: Recording) -> None:
    assert manager_client.post(at(recording, "offset/"), {"by_ms": "100"}).status_code == 403
    assert manager_client.post(at(recording, "captions/")).status_code == 403
    assert "Moments too early" not in manager_client.get(at(recording)).text


@pytest.mark.parametrize(
    ("sent", "offset_ms"),
    [({"by_ms": "-100"}, -100), ({"moment": "2", "at": "1:05"}, 4_000), ({"anew": "1"}, 0)],
)
def test_moments_are_moved_by_a_plain_form(
    tester_client: Client, recording: Recording, sent: dict[str, str], offset_ms: int
) -> None:
    answer = tester_client.post(at(recording, "offset/"), sent, follow=True)
    assert "The moments are moved, for everybody." in answer.text
    recording.refresh_from_db()
    assert recording.offset_ms == offset_ms


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"moment": "9", "at": "1:05"}, "Choose a moment."),
        ({"moment": "1", "at": "soon"}, "Say where, as 1:23 or in seconds."),
        ({"moment": "1"}, "Say where, as 1:23 or in seconds."),
        ({"moment": "1", "at": "5:00"}, "The recording ends before that."),
        ({"by_ms": "99999999"}, "less than or equal"),
    ],
)
def test_what_can_not_be_moved_to_is_told_in_place(
    tester_client: Client, recording: Recording, sent: dict[str, str], words: str
) -> None:
    for headers in ({}, {"HX-Request": "true"}):
        answer = tester_client.post(at(recording, "offset/"), sent, headers=headers)
        assert answer.status_code == 422
        assert words in answer.text
    recording.refresh_from_db()
    assert recording.offset_ms == 0


def test_a_note_comes_back_in_place_for_htmx(manager_client: Client, recording: Recording) -> None:
    sent = {"at": "0:12.5", "words": "She <b>sighs</b>"}
    answer = manager_client.post(at(recording, "notes/"), sent, headers={"HX-Request": "true"})
    assert answer.text.lstrip().startswith('<div class="player-beside"')
    assert "She &lt;b&gt;sighs&lt;/b&gt;" in answer.text
    assert RecordingNote.objects.get().at_ms == 12_500


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"at": "0:12", "words": " … "}, "Write something first."),
        ({"at": "", "words": "Kept words"}, "Say where"),
        ({"at": "9:00", "words": "Kept words"}, "The recording ends before that."),
        ({"at": "0:12", "words": "w" * 501}, "at most 500 characters; this one has 501"),
    ],
)
def test_a_note_that_is_refused_stays_typed(
    tester_client: Client, recording: Recording, sent: dict[str, str], words: str
) -> None:
    answer = tester_client.post(at(recording, "notes/"), sent)
    assert answer.status_code == 422
    assert words in answer.text
    assert f'value="{sent["words"]}"' in answer.text
    assert not RecordingNote.objects.exists()


def test_anothers_note_is_not_there_to_be_withdrawn(
    tester: User, manager_client: Client, tester_client: Client, recording: Recording
) -> None:
    note = RecordingNote.objects.create(recording=recording, by=tester, at_ms=1, words="Mine")
    assert manager_client.post(at(recording, f"notes/{note.pk}/withdraw/")).status_code == 404
    assert tester_client.post(at(recording, f"notes/{note.pk}/withdraw/")).status_code == 303
    other = make.recording(tester, recording.call_uuid)
    assert tester_client.post(at(other, f"notes/{note.pk}/withdraw/")).status_code == 404


def test_a_transcript_is_kept_read_and_replaced(tester: User, tester_client: Client, result: Result) -> None:
    recording = playable(tester, result.call_uuid, "m4a")
    for words in ("Not now.", "Later."):
        content = TRANSCRIPT.replace("Not now.", words).encode()
        answer = tester_client.post(
            at(recording, "captions/"), {"file": SimpleUploadedFile("call.vtt", content)}, follow=True
        )
        assert "The transcript is kept: 3 cues." in answer.text
        assert words in tester_client.get(at(recording, "captions/")).text
    assert tester_client.post(at(recording, "links/")).json()["captions"].startswith("/kept/")


def test_what_is_no_transcript_is_refused(tester_client: Client, recording: Recording) -> None:
    sent = {"file": SimpleUploadedFile("call.vtt", b"1\n00:00:01,000 --> 00:00:02,000\nSubRip")}
    answer = tester_client.post(at(recording, "captions/"), sent)
    assert answer.status_code == 422
    assert "its first line is not WEBVTT" in answer.text


def test_of_a_removed_one_a_tombstone_stays(tester_client: Client, recording: Recording) -> None:
    gone = {"key": "", "removed_at": "2026-05-04T09:30:00Z", "removed_because": "It is not of this call"}
    Recording.objects.update(state=RecordingState.REMOVED, **gone)
    text = tester_client.get(at(recording)).text
    assert "This recording was removed on 4 May 2026." in text
    assert "It is not of this call" in text


def test_how_far_it_is_is_asked_for_until_it_is_told(tester_client: Client, recording: Recording) -> None:
    Recording.objects.update(state=RecordingState.WORKING)
    waiting = tester_client.get(at(recording), headers={"HX-Request": "true"}).text
    assert "hx-get" in waiting
    Recording.objects.update(state=RecordingState.READY)
    ready = tester_client.get(at(recording), headers={"HX-Request": "true"})
    assert "hx-get" not in ready.text
    assert "HX-Refresh" not in ready.headers


def test_on_its_own_page_it_shows_by_itself_once_it_is_ready(tester_client: Client, recording: Recording) -> None:
    asked = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{at(recording)}?t=3"}
    Recording.objects.update(state=RecordingState.WORKING)
    assert "HX-Refresh" not in tester_client.get(at(recording), headers=asked).headers
    Recording.objects.update(state=RecordingState.READY)
    assert tester_client.get(at(recording), headers=asked)["HX-Refresh"] == "true"
    elsewhere = {**asked, "HX-Current-URL": "http://testserver/review/7/"}
    assert "HX-Refresh" not in tester_client.get(at(recording), headers=elsewhere).headers


def test_one_without_results_says_who_sees_it(tester: User, tester_client: Client) -> None:
    recording = make.recording(tester, uuid.uuid4())
    assert "only its tester sees this page" in tester_client.get(at(recording)).text
