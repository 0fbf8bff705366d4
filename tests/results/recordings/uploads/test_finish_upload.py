"""Finishing an upload: all is there as it was announced, or what is missing is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.adapters.recordings import StoreError
from emma_eval.outbox.models import Row
from results.models import Part, Recording, RecordingState, Upload
from results.recordings.hand_over import MAKE_READY
from results.recordings.store import recordings_store
from results.recordings.uploads import finish_upload as finishing
from results.recordings.uploads.drop_upload import drop_upload
from results.recordings.uploads.finish_upload import (
    AnotherFileError,
    OverError,
    PartsMissingError,
    digest_of,
    finish_upload,
)
from tests import make
from tests.at_once import at_once

from ..uploading import Page, await_another_second, sha256

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


def test_all_of_it_is_handed_over(page: Page, tmp_path: Path) -> None:
    page.send_all()
    answer = page.finish()
    assert answer.status_code == 200
    recording = Recording.objects.get()
    assert answer.json()["page"] == f"/recordings/{recording.pk}/"
    assert (recording.state, recording.sent_digest) == (RecordingState.WORKING, page.digest)
    assert Row.objects.get(handler=MAKE_READY).payload == {"recording": str(recording.pk)}
    assert not Upload.objects.exists()
    recordings_store().fetch(f"{recording.folder}sent", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == page.content
    assert AuditEntry.objects.filter(action="uploaded a recording").count() == 1


def test_the_digest_is_over_those_of_the_parts() -> None:
    """The worked example that the page's script is held to in the browser's test."""
    assert digest_of([sha256(b"a"), sha256(b"b")]) == (
        "e5a01fee14e0ed5c48714f22180f25ad8365b53f9779f79dc4a3d7e93963f94a-2"
    )


def test_asked_twice_it_is_handed_over_once(page: Page) -> None:
    page.send_all()
    assert page.finish().json() == page.finish().json()
    assert Row.objects.filter(handler=MAKE_READY).count() == 1
    assert page.finish("0" * 64 + "-3").status_code == 410


def test_what_did_not_arrive_is_named(page: Page) -> None:
    page.send(2)
    answer = page.finish()
    assert (answer.status_code, answer.json()["error"], answer.json()["numbers"]) == (409, "missing", [1, 3])
    for number in (1, 3):
        page.send(number)
    assert page.finish().status_code == 200


def test_a_part_that_is_not_the_one_that_was_announced_is_sent_once_more(page: Page) -> None:
    """Another tab sent another one: the store's own ETag, or SHA-256, is not what this page was told."""
    page.send_all()
    Part.objects.filter(number=2).update(etag="another", sha256="a" * 64)
    answer = page.finish()
    assert (answer.status_code, answer.json()["numbers"]) == (409, [2])
    page.send(2)
    assert page.finish().status_code == 200


def test_parts_of_another_file_are_not_handed_over(page: Page) -> None:
    page.send_all()
    answer = page.finish("0" * 64 + "-3")
    assert (answer.status_code, answer.json()["error"]) == (409, "another")
    assert Recording.objects.get().state == RecordingState.RECEIVING


def test_two_tabs_that_send_different_files_do_not_become_one(page: Page, part_size: int) -> None:
    """Of the same name, size and time: what one of them finishes is whole, or it is told."""
    other = Page(page.client, page.call, b"Z" + page.content[1:], page.begun)
    page.send_all()
    await_another_second(part_size)
    other.send(1)
    with pytest.raises(AnotherFileError):
        finish_upload(Recording.objects.get(), page.digest)
    await_another_second(part_size)
    page.send(1)
    assert page.finish().status_code == 200


def test_a_finish_that_died_before_it_was_written_down_is_made_up_for(page: Page) -> None:
    page.send_all()
    upload = Upload.objects.get()
    sent = finishing._what_is_there(upload, list(upload.parts.all()))
    recordings_store().finish_parts(upload.key, upload.upload_id, sent)
    assert page.finish().status_code == 200
    assert Recording.objects.get().state == RecordingState.WORKING


def test_an_upload_that_the_store_forgot_is_over(page: Page) -> None:
    page.send_all()
    upload = Upload.objects.get()
    recordings_store().drop_parts(upload.key, upload.upload_id)
    with pytest.raises(OverError):
        finish_upload(Recording.objects.get(), page.digest)
    assert page.finish().status_code == 410


def test_a_store_that_is_down_loses_nothing(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake for the moment of its fault: the real one can't be made to fail between two of our requests."""
    page.send_all()

    class Down:
        def parts(self, key: str, upload_id: str) -> None:
            raise StoreError("The store of recordings can't be reached, or broke off.")

    monkeypatch.setattr(finishing, "recordings_store", Down)
    answer = page.finish()
    assert (answer.status_code, answer.json()["error"]) == (503, "store")
    monkeypatch.undo()
    assert page.finish().status_code == 200


def test_what_was_given_up_while_it_was_finished_leaves_no_file(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    page.send_all()
    recording = Recording.objects.select_related("tester").get()
    join = finishing._join

    def join_late(upload: Upload, *args: object) -> object:
        kept = join(upload, *args)  # type: ignore[arg-type]
        drop_upload(upload)
        return kept

    monkeypatch.setattr(finishing, "_join", join_late)
    finish_upload(recording, page.digest)
    assert not Recording.objects.exists()
    assert recordings_store().look(f"{recording.pk}/sent") is None


@pytest.mark.django_db(transaction=True)
def test_two_pages_that_finish_at_once_hand_it_over_once(tester: User, part_size: int) -> None:
    call = make.call(tester, make.script())
    page = Page.begin(make.client_of(tester), call.uuid, b"a" * part_size + b"b")
    page.send_all()
    recording = Recording.objects.select_related("tester").get()

    def finish() -> str:
        try:
            finish_upload(Recording.objects.select_related("tester").get(pk=recording.pk), page.digest)
        except PartsMissingError:
            return "missing"
        return "done"

    assert "done" in at_once(*[finish] * 3)
    assert Row.objects.filter(handler=MAKE_READY).count() == 1
    assert Recording.objects.get().state == RecordingState.WORKING
