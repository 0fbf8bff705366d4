"""Beginning to upload a file: what is taken, to which calls, and the same file again."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from emma_eval.accounts.models import User
from results.models import MOST_RECORDING_BYTES, Call, Origin, Recording, RecordingState, Sides, Upload
from results.recordings.store import recordings_store
from results.recordings.uploads import begin_upload as beginning
from results.recordings.uploads.begin_upload import MOST_OPEN, begin_upload
from results.recordings.uploads.file_name import base_name
from results.recordings.uploads.telling import Announced
from scripts_catalog import taxonomy
from tests import make
from tests.at_once import at_once
from tests.stores import use_folder

from ..uploading import Page, announced, post

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


@pytest.fixture(autouse=True)
def _folder(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    use_folder(settings, tmp_path / "recordings")
    monkeypatch.setattr(beginning, "PART_BYTES", 10)


@pytest.fixture
def call(tester: User) -> Call:
    return make.call(tester, make.script())


def begin(client: Client, call: uuid.UUID, content: bytes = b"x" * 25, **said: Any) -> Any:
    return post(client, f"/recordings/new/?call={call}", announced(content, **said))


def test_it_begins_with_a_recording_that_is_being_received(tester_client: Client, tester: User, call: Call) -> None:
    answer = begin(tester_client, call.uuid, sides="two")
    assert answer.status_code == 201
    recording = Recording.objects.get(pk=answer.json()["recording"])
    assert (recording.tester, recording.call_uuid, recording.origin) == (tester, call.uuid, Origin.UPLOADED)
    assert (recording.state, recording.name, recording.sides) == (RecordingState.RECEIVING, "call.mp4", Sides.TWO)
    assert recording.sides_because
    assert recording.consented_at is not None
    assert recording.upload.key == f"{recording.pk}/sent"
    assert (answer.json()["part_count"], answer.json()["arrived"]) == (3, {})


def test_of_a_filed_result_no_call_has_to_be_known(tester_client: Client, tester: User) -> None:
    result = make.result(tester, make.script(), make.build())
    assert begin(tester_client, result.call_uuid).status_code == 201


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"size": 0}, "0 bytes"),
        ({"size": MOST_RECORDING_BYTES + 1}, "4 GB"),
        ({"name": "call.exe"}, "no kind of recording"),
        ({"name": "call"}, "no kind of recording"),
        ({"name": "call.mp4.html"}, "no kind of recording"),
        ({"name": "call.mp4", "media_type": "text/html"}, "no kind of recording"),
        ({"name": ".mp4"}, "no name"),
        ({"name": ""}, "no name"),
        ({"name": "../../.mp4"}, "no name"),
        ({"has_consent": False}, "agreed to being recorded"),
        ({"has_consent": "yes"}, "agreed to being recorded"),
        ({"sides": "none"}, "did not understand"),
        ({"fingerprint": "x" * 64}, "did not understand"),
    ],
)
def test_what_can_not_be_taken_is_refused_at_once_in_words(
    tester_client: Client, call: Call, said: dict[str, Any], words: str
) -> None:
    answer = begin(tester_client, call.uuid, **said)
    assert answer.status_code == 422
    assert answer.json()["error"] == "not_taken"
    assert words in answer.json()["message"]
    assert not Recording.objects.exists()


@pytest.mark.parametrize(
    "said",
    [
        *({"size": -1}, {"size": 1.5}, {"size": "25"}, {"size": True}, {"size": 2**60}, {"size": None}),
        *({"name": 7}, {"name": "a\x00.mp4"}, {"name": "a" * 3000}, {"sides": []}, {"fingerprint": None}),
    ],
)
def test_what_is_no_announcement_is_refused(tester_client: Client, call: Call, said: dict[str, Any]) -> None:
    assert begin(tester_client, call.uuid, **said).status_code == 422
    assert not Recording.objects.exists()


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[" * 100_000, b"\xff", b"null"])
def test_what_can_not_be_read_is_refused(tester_client: Client, call: Call, body: bytes) -> None:
    answer = tester_client.post(f"/recordings/new/?call={call.uuid}", body, content_type="application/json")
    assert answer.status_code == 422


@pytest.mark.parametrize("ending", ["mp4", "webm", "mov", "mkv", "m4a", "mp3", "wav", "ogg", "MP4"])
def test_these_kinds_are_taken(tester_client: Client, call: Call, ending: str) -> None:
    assert begin(tester_client, call.uuid, name=f"call.{ending}", media_type="").status_code == 201


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("call.mp4", "call.mp4"),
        ("C:\\Users\\tess\\call.mp4", "call.mp4"),
        ("../../etc/call.mp4", "call.mp4"),
        ("a\r\nb\x07\u202ecall.mp4", "abcall.mp4"),
        (" call .mp4 ", "call .mp4"),
        ("ö" * 300 + ".mp4", "ö" * 196 + ".mp4"),
        ("a" * 300, "a" * 200),
    ],
)
def test_a_name_is_kept_without_its_path_and_without_what_can_not_be_seen(said: str, kept: str) -> None:
    assert base_name(said) == kept


def test_the_same_file_of_the_same_call_is_one_upload(tester_client: Client, call: Call) -> None:
    page = Page.begin(tester_client, call.uuid, b"0123456789abcdefghij_____")
    page.send(2)
    again = begin(tester_client, call.uuid, page.content, sides="mixed")
    assert again.status_code == 200
    assert again.json()["recording"] == page.begun["recording"]
    assert list(again.json()["arrived"]) == ["2"]
    assert Recording.objects.get().sides == Sides.MIXED


def test_another_file_of_the_same_name_is_another_upload(tester_client: Client, call: Call) -> None:
    first = begin(tester_client, call.uuid, b"x" * 25)
    longer = begin(tester_client, call.uuid, b"x" * 26)
    later = begin(tester_client, call.uuid, b"x" * 25, fingerprint="a" * 64)
    assert len({answer.json()["recording"] for answer in (first, longer, later)}) == 3


def test_the_same_file_of_another_call_is_another_upload(tester_client: Client, tester: User, call: Call) -> None:
    other = make.call(tester, make.script())
    assert begin(tester_client, call.uuid).json() != begin(tester_client, other.uuid).json()


def test_an_upload_that_the_store_forgot_begins_anew(tester_client: Client, call: Call) -> None:
    page = Page.begin(tester_client, call.uuid, b"x" * 25)
    upload = Upload.objects.get()
    recordings_store().drop_parts(upload.key, upload.upload_id)
    again = begin(tester_client, call.uuid, b"x" * 25)
    assert again.status_code == 201
    assert again.json()["recording"] != page.begun["recording"]
    assert Recording.objects.count() == 1


def test_no_more_than_a_few_are_open_at_once(tester_client: Client, call: Call) -> None:
    for number in range(MOST_OPEN):
        assert begin(tester_client, call.uuid, name=f"{number}.mp4").status_code == 201
    answer = begin(tester_client, call.uuid, name="one-more.mp4")
    assert (answer.status_code, answer.json()["error"]) == (422, "not_taken")
    assert begin(tester_client, call.uuid, name="0.mp4").status_code == 200


def test_uploads_are_not_begun_without_end(tester_client: Client, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    few = beginning.throttle.Limit("beginning an upload", 2, beginning.BEGINNING.within)
    monkeypatch.setattr(beginning, "BEGINNING", few)
    for number in range(2):
        begin(tester_client, call.uuid, name=f"{number}.mp4")
    answer = begin(tester_client, call.uuid, name="one-more.mp4")
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 1


@pytest.mark.django_db(transaction=True)
def test_two_tabs_that_begin_at_once_begin_one(tester: User) -> None:
    call = make.call(tester, make.script())
    said = Announced(**announced(b"x" * 25))
    begun = at_once(*[lambda: begin_upload(tester, call.uuid, said)] * 4)
    assert len({each.upload.recording_id for each in begun}) == 1
    assert Recording.objects.count() == 1
    assert sum(each.is_new for each in begun) == 1


# --- whose call -------------------------------------------------------------------------------


def test_to_a_call_of_somebody_else_nothing_is_uploaded(eval_lead: User, trained_tester: User, call: Call) -> None:
    for user, status in ((trained_tester, 404), (eval_lead, 403)):
        client = make.client_of(user)
        assert client.get(f"/recordings/new/?call={call.uuid}").status_code == status
        assert begin(client, call.uuid).status_code == status


@pytest.mark.parametrize("named", ["", uuid.uuid4(), "no-uuid"])
def test_a_call_that_nobody_knows_is_not_found(tester_client: Client, named: object) -> None:
    assert post(tester_client, f"/recordings/new/?call={named}", announced(b"x")).status_code == 404


def test_a_call_that_is_safety_now_is_not_found_by_the_untrained(tester_client: Client, tester: User) -> None:
    """All of the call is heard in its recording, so one of its scripts covers the whole of it."""
    script, other = make.script(), make.script()
    result = make.result(tester, script, make.build())
    make.result(tester, other, result.build, call_uuid=result.call_uuid)
    page = Page.begin(tester_client, result.call_uuid, b"x" * 25)
    script.area = taxonomy.SAFETY
    script.save()
    page_of_the_rest = tester_client.get(f"/recordings/new/?call={result.call_uuid}").text
    assert "call.mp4" not in page_of_the_rest  # as if nothing else had been run, and nothing begun
    assert script.latest.title not in page_of_the_rest
    assert begin(tester_client, result.call_uuid).status_code == 404
    assert page.ask(1).status_code == 404
    assert page.finish().status_code == 404
    assert tester_client.post(page.begun["drop"]).status_code == 404
    assert "call.mp4" not in tester_client.get("/recordings/new/").text


# --- its page ---------------------------------------------------------------------------------


def test_the_page_says_what_there_is_and_what_was_begun(tester_client: Client, tester: User, call: Call) -> None:
    make.recording(tester, call.uuid)
    page = Page.begin(tester_client, call.uuid, b"x" * 20)
    page.send(1)
    text = tester_client.get(f"/recordings/new/?call={call.uuid}").text
    assert "There is a recording of this call already" in text
    assert "call.mp4" in text
    assert "50 % of" in text
    assert "Uploading a file takes JavaScript" in text


def test_without_a_call_the_page_lists_those_that_wait(tester_client: Client, tester: User) -> None:
    waits = make.result(tester, make.script(title="Waits for one"), make.build())
    has_one = make.result(tester, make.script(title="Has one"), waits.build)
    make.recording(tester, has_one.call_uuid)
    text = tester_client.get("/recordings/new/").text
    assert f"?call={waits.call_uuid}" in text
    assert "Has one" not in text
