"""While the store of recordings is down, pages open and say so, and what is asked is neither lost nor done by half.

Nobody listens where the bucket is said to be. What a worker does then stands in the tests of its act.
"""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from emma_eval.accounts.models import User
from emma_eval.outbox.models import Row
from results.models import Recording, RecordingState, Upload
from results.recordings.removal.remove_recording import EMPTY
from tests import make
from tests.playable import TRANSCRIPT
from tests.s3 import S3Server
from tests.stores import use_bucket

pytestmark = [pytest.mark.django_db]


@pytest.fixture(autouse=True)
def _nobody_listens(settings: Settings) -> None:
    cache.clear()
    use_bucket(settings, S3Server("http://127.0.0.1:1"), "none")


@pytest.fixture
def recording(tester: User) -> Recording:
    made = make.recording(tester, make.result(tester, make.script(), make.build()).call_uuid)
    Recording.objects.filter(pk=made.pk).update(captions_key=f"{made.pk}/captions.vtt")
    made.refresh_from_db()
    return made


def test_its_page_opens_and_links_are_given(tester_client: Client, recording: Recording) -> None:
    assert tester_client.get(recording.get_absolute_url()).status_code == 200
    given = tester_client.post(reverse("recording_links", args=[recording.pk]))
    assert given.json()["media"].startswith("http://127.0.0.1:1/none/")


def test_a_transcript_that_can_not_be_read_or_kept_is_told_and_the_one_that_was_there_stays(
    tester_client: Client, recording: Recording
) -> None:
    page = reverse("recording_captions", args=[recording.pk])
    assert "can&#x27;t be reached" in tester_client.get(page).text
    file = SimpleUploadedFile("talk.vtt", TRANSCRIPT.encode())
    answer = tester_client.post(page, {"file": file})
    assert answer.status_code == 503
    assert "can&#x27;t be reached" in answer.text
    recording.refresh_from_db()
    assert recording.captions_key == f"{recording.pk}/captions.vtt"


def test_an_upload_that_can_not_be_given_up_now_stays_and_says_so(tester: User, tester_client: Client) -> None:
    waits = {"state": RecordingState.RECEIVING, "origin": "uploaded", "key": "", "duration_ms": None}
    made = make.recording(tester, make.call(tester, make.script()).uuid, **waits)
    Upload.objects.create(recording=made, key=f"{made.pk}/sent", upload_id="1", size=9, part_size=9, fingerprint="f")
    answer = tester_client.post(reverse("upload_drop", args=[made.pk]), follow=True)
    assert "Not removed: Where recordings are kept can’t be reached just now." in answer.text
    assert Upload.objects.filter(recording=made).exists()


def test_a_recording_is_removed_for_everybody_at_once_and_its_files_as_soon_as_can_be(
    tester_client: Client, recording: Recording
) -> None:
    asked = tester_client.post(reverse("recording_remove", args=[recording.pk]), {"reason": "asked"})
    assert asked.status_code in {302, 303}
    recording.refresh_from_db()
    assert (recording.state, recording.emptied_at) == (RecordingState.REMOVED, None)
    assert Row.objects.filter(handler=EMPTY, done_at=None, set_aside_at=None).count() == 1
    assert tester_client.post(reverse("recording_links", args=[recording.pk])).status_code == 404
