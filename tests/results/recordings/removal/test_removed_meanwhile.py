"""Whoever works on a recording at the moment it is removed brings nothing of it back: no row, no word, no object."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from emma_eval.accounts.models import User
from emma_eval.adapters.recordings import NotKeptError
from emma_eval.outbox.registry import TryLaterError
from results.models import CallFigures, Chunk, Part, Recording, RecordingNote, RecordingState, Take, Upload
from results.recordings.making import make_ready
from results.recordings.player import keep_captions, note_on_recording
from results.recordings.removal.empty_folder import empty_folder
from results.recordings.removal.removal_reasons import Reason
from results.recordings.removal.remove_recording import remove_recording
from results.recordings.store import recordings_store
from results.recordings.uploads import begin_upload, finish_upload, keep_parts
from tests import make
from tests.at_once import at_once
from tests.media import media
from tests.stores import use_folder

from ..uploading import Page

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.data_layer]

CALL = uuid.UUID("0190b5a0-0000-4000-8000-0000000000ad")
SENT = b"not much of a film"
SHA = hashlib.sha256(SENT).hexdigest()


@pytest.fixture(autouse=True)
def _folder(settings: Settings, tmp_path: Path) -> None:
    cache.clear()
    use_folder(settings, tmp_path / "recordings")


@pytest.fixture
def page(tester: User) -> Page:
    """A file of which the only part was sent."""
    make.call(tester, make.script(), uuid=CALL)
    return Page.begin(make.client_of(tester), CALL, SENT)


def sent(tester: User, kind: str = "wav") -> Recording:
    """An upload that waits to be made ready."""
    unready = {"state": RecordingState.WORKING, "key": "", "duration_ms": None, "ready_at": None}
    made = make.recording(tester, CALL, origin="uploaded", **unready)
    recordings_store().keep(f"{made.folder}sent", media(kind, 4.0), media_type="audio/wav")
    return made


def remove_and_empty(recording: Recording) -> None:
    remove_recording(recording, None, Reason.KEPT_LONG_ENOUGH)
    with pytest.raises(TryLaterError):
        empty_folder(recordings_store(), str(recording.pk), [], timezone.now())


def nothing_is_left(recording: Recording) -> bool:
    found = Recording.objects.get(pk=recording.pk)
    assert found.state == RecordingState.REMOVED
    assert (found.key, found.peaks_key, found.captions_key, found.name, found.sent_digest) == ("",) * 5
    for model in (Take, Chunk, Upload, Part, CallFigures):
        assert not model.objects.exists(), model
    assert not RecordingNote.objects.exclude(words="").exists()
    return [kept.key for kept in recordings_store().under(recording.folder)] == []


class InBetween:
    """The store, with something done right after an object of this name was brought: what chance may do once a year."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self.store, self.name, self.then, self.is_done = recordings_store(), name, then, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def keep(self, key: str, path: Path, *, media_type: str) -> Any:
        kept = self.store.keep(key, path, media_type=media_type)
        if self.name in key and not self.is_done:
            self.is_done = True
            self.then()
        return kept


@pytest.mark.parametrize("name", ["media", "peaks"])
def test_what_a_worker_brings_of_a_removed_recording_it_takes_away_again(tester: User, name: str) -> None:
    """Removed and emptied right after one of its files was brought. A worker that is puzzled by that looks again."""
    recording = sent(tester)
    store = InBetween(name, lambda: remove_and_empty(recording))
    for _ in range(2):
        with suppress(TryLaterError):
            make_ready.make_ready(str(recording.pk), store)  # type: ignore[arg-type]
    assert store.is_done
    assert nothing_is_left(recording)


def test_a_worker_that_begins_after_the_removal_does_nothing(tester: User) -> None:
    recording = sent(tester)
    remove_and_empty(recording)
    make_ready.make_ready(str(recording.pk), recordings_store())
    assert nothing_is_left(recording)


def test_removed_and_made_ready_at_once_it_is_removed(tester: User) -> None:
    for _ in range(3):
        recording = sent(tester)
        answers = at_once(
            lambda recording=recording: make_ready.make_ready(str(recording.pk), recordings_store()),
            lambda recording=recording: remove_recording(recording, None, Reason.KEPT_LONG_ENOUGH),
        )
        assert answers == [None, True]
        with pytest.raises(TryLaterError):
            empty_folder(recordings_store(), str(recording.pk), [], timezone.now())
        assert nothing_is_left(recording)


def of(page: Page) -> Recording:
    return Recording.objects.get(pk=page.begun["recording"])


def test_an_upload_that_is_finished_after_its_removal_leaves_no_file(page: Page) -> None:
    """Its page had been let in before: what it holds of the rows is older than the removal."""
    recording = of(page)
    upload = Upload.objects.get(recording=recording)
    keep_parts.keep_parts(upload, [keep_parts.Asked(1, SHA)], [])
    page_holds = list(upload.parts.all())
    remove_recording(recording, None, Reason.KEPT_LONG_ENOUGH)
    kept = recordings_store().keep(upload.key, media("wav", 4.0), media_type="video/mp4")
    finish_upload.hand_over_sent(recording, recording.tester, "uploaded a recording", digest="x", size=kept.size)
    assert page_holds
    assert nothing_is_left(recording)


def test_removed_and_sent_at_once_no_part_is_kept_and_nobody_meets_an_error_of_ours(page: Page, tester: User) -> None:
    client = make.client_of(tester)
    for _ in range(3):
        recording = of(page)
        answers = at_once(
            lambda page=page: page.ask(1), lambda recording=recording: remove_recording(recording, None, Reason.ASKED)
        )
        assert answers[1] is True
        assert getattr(answers[0], "status_code", answers[0]) in {200, 404, 410}
        empty_folder_of(recording)
        assert nothing_is_left(recording)
        page = Page.begin(client, CALL, SENT)
        Recording.objects.filter(pk=recording.pk).delete()


def empty_folder_of(recording: Recording) -> None:
    with pytest.raises(TryLaterError):
        empty_folder(recordings_store(), str(recording.pk), [], timezone.now())


def test_a_page_that_asks_for_parts_with_what_it_read_before_the_removal_is_told_that_it_is_over(page: Page) -> None:
    upload = Upload.objects.get()
    remove_recording(upload.recording, None, Reason.ASKED)
    with pytest.raises(NotKeptError):
        keep_parts.keep_parts(upload, [keep_parts.Asked(1, SHA)], [])
    assert nothing_is_left(upload.recording)


def test_going_on_with_an_upload_that_is_removed_at_that_moment_writes_nothing_on_it(page: Page, tester: User) -> None:
    upload = Upload.objects.select_related("recording").get()
    remove_recording(upload.recording, None, Reason.ASKED)
    said = begin_upload.Announced("call.mp4", len(SENT), "video/mp4", upload.fingerprint, "two", has_consent=True)
    begin_upload._go_on(upload, said)
    assert Recording.objects.get(pk=upload.recording_id).sides == "unknown"


def test_a_note_that_comes_after_the_removal_is_not_kept(tester: User) -> None:
    recording = make.recording(tester, CALL)
    remove_recording(recording, None, Reason.ASKED)
    assert note_on_recording.note_on_recording(tester, recording, 4, "zq17 here") is None
    assert nothing_is_left(recording)


def test_a_transcript_that_comes_after_the_removal_is_not_kept(tester: User) -> None:
    recording = make.recording(tester, CALL)
    remove_recording(recording, None, Reason.ASKED)
    assert not keep_captions.keep_captions(tester, recording, b"WEBVTT\n")
    assert nothing_is_left(recording)


def test_a_page_of_a_removed_recording_says_so_and_plays_nothing(tester: User) -> None:
    recording = make.recording(tester, CALL)
    remove_recording(recording, tester, Reason.OTHER, "not me at all")
    text = make.client_of(tester).get(f"/recordings/{recording.pk}/").text
    assert "/kept/" not in text
    assert "Removed" in text
    assert "not me at all" in text
    assert Client().get(f"/recordings/{recording.pk}/").status_code == 302
