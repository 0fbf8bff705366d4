"""The page behind a link to the folder of recordings: who holds the link may, and nobody else."""

from __future__ import annotations

import hashlib
import io
from dataclasses import replace
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from emma_eval.adapters import recordings_folder, recordings_links
from emma_eval.adapters.recordings import Link, Store
from emma_eval.adapters.recordings_folder import FolderStore
from results.recordings.store import folder_of_this_site, recordings_store
from results.views import kept

WEBM = "video/webm"
KEY = "11111111-2222-4333-8444-555555555555/media.webm"


@pytest.fixture
def store(settings: Settings, tmp_path: Path) -> FolderStore:
    """No test here asks for the database: the link is the right, so nobody is looked up."""
    options = {"location": tmp_path / "recordings"}
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options}
    settings.STORAGES = {**settings.STORAGES, "recordings": backend}
    found = folder_of_this_site()
    assert found is not None
    return found


@pytest.fixture
def stranger() -> Client:
    """Nobody's browser, from another page: without a session and without the token of a form."""
    return Client(enforce_csrf_checks=True)


def link_for(store: Store, body: bytes, **said: Any) -> Link:
    given = {"size": len(body), "media_type": WEBM, "sha256": hashlib.sha256(body).hexdigest(), "holds_s": 60} | said
    return store.put_link(KEY, **given)


def send(client: Client, link: Link, body: bytes, **more: Any) -> Any:
    return client.put(link.url, body, content_type=link.headers.get("Content-Type", ""), **more)


def keep(store: FolderStore, body: bytes) -> None:
    right = store.right(link_for(store, body).url.split("/")[-2])
    store.receive(right, io.BytesIO(body))


def to_read(store: Store, **said: Any) -> str:
    return store.get_link(KEY, **{"media_type": WEBM, "holds_s": 60, **said})


def test_a_link_lasts_as_long_as_it_says_whoever_is_signed_in(store: FolderStore, stranger: Client) -> None:
    """Large ones too: a recorder whose sign-in ran out in the middle of a call still gets its chunks home."""
    body = bytes(3_000_000)
    answer = send(stranger, link_for(store, body), body)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer["ETag"] == f'"{store.look(KEY).etag}"'  # type: ignore[union-attr]
    assert answer["Cache-Control"] == "no-store"
    read = stranger.get(to_read(store))
    assert b"".join(read.streaming_content) == body  # type: ignore[attr-defined]
    assert read["Cache-Control"] == "private, no-cache"
    assert read["X-Content-Type-Options"] == "nosniff"
    assert read["Content-Type"] == WEBM
    assert "Content-Disposition" not in read
    assert not stranger.cookies


@pytest.mark.parametrize(
    ("asked", "status", "said", "body"),
    [
        ("bytes=0-3", 206, "bytes 0-3/10", b"0123"),
        ("bytes=-3", 206, "bytes 7-9/10", b"789"),
        ("bytes=20-", 416, "bytes */10", b""),
    ],
)
def test_a_player_asks_for_parts(
    store: FolderStore, stranger: Client, asked: str, status: int, said: str, body: bytes
) -> None:
    keep(store, b"0123456789")
    answer = stranger.get(to_read(store), headers={"Range": asked})
    assert (answer.status_code, answer["Content-Range"], answer.content) == (status, said, body)


def test_head_tells_the_size_and_sends_nothing(store: FolderStore, stranger: Client) -> None:
    keep(store, b"0123456789")
    answer = stranger.head(to_read(store))
    assert (answer.status_code, answer["Content-Length"], answer.content) == (200, "10", b"")
    assert answer["Accept-Ranges"] == "bytes"


def test_a_download_is_saved_under_its_name(store: FolderStore, stranger: Client) -> None:
    keep(store, b"sound")
    answer = stranger.get(to_read(store, saved_as="Bad news day.webm"))
    assert answer["Content-Disposition"] == 'attachment; filename="Bad news day.webm"'


@pytest.mark.parametrize("media_type", ["text/html", "image/svg+xml", "application/xhtml+xml", "", "text/javascript"])
def test_nothing_is_shown_as_a_page_of_ours(store: FolderStore, stranger: Client, media_type: str) -> None:
    keep(store, b"<script>")
    answer = stranger.get(to_read(store, media_type=media_type))
    assert answer["Content-Type"] == "application/octet-stream"


def test_other_than_what_was_announced_is_refused_in_words(store: FolderStore, stranger: Client) -> None:
    link = link_for(store, b"sound")
    refused = {
        "longer": (send(stranger, link, b"sounds"), 413, "longer than was announced"),
        "shorter": (send(stranger, link, b"soun"), 422, "shorter than was announced"),
        "other": (send(stranger, link, b"Sound"), 422, "its SHA-256 is another"),
        "type": (stranger.put(link.url, b"sound", content_type="text/html"), 403, "of another type"),
        "no length": (send(stranger, link, b"sound", CONTENT_LENGTH=""), 411, "how long"),
        "odd length": (send(stranger, link, b"sound", CONTENT_LENGTH="-5"), 411, "how long"),
        "to read": (stranger.put(to_read(store), b"sound", content_type=WEBM), 403, "for something else"),
        "not to read": (stranger.get(link.url), 403, "for something else"),
    }
    for answer, status, words in refused.values():
        assert answer.status_code == status, words
        assert words in answer.text
        assert answer["Content-Type"].startswith("text/plain")
    assert store.look(KEY) is None
    assert stranger.post(link.url, b"sound", content_type=WEBM).status_code == 405


def test_a_link_that_is_over_or_made_up_opens_nothing(store: FolderStore, stranger: Client) -> None:
    keep(store, b"sound")
    link = to_read(store)
    token = link.split("/")[-2]
    right = replace(store.right(token), key="22222222-2222-4333-8444-555555555555/media.webm")
    forged = recordings_links.sign(right, "a secret of somebody else")
    for other in (
        forged,
        token[:-1] + ("A" if token[-1] != "A" else "B"),
        f"{forged.split('.')[0]}.{token.split('.')[1]}",
    ):
        answer = stranger.get(reverse("kept", args=[other]))
        assert (answer.status_code, answer.text) == (403, "This link was not made here.\n")
    over = replace(store, now=lambda: 0).get_link(KEY, media_type=WEBM, holds_s=60)
    answer = stranger.get(over)
    assert (answer.status_code, answer.text) == (410, "This link is over: reload the page for a new one.\n")


def test_an_upload_that_is_over_takes_no_more_parts(store: FolderStore, stranger: Client) -> None:
    upload = store.begin_parts(KEY, media_type=WEBM)
    digest = hashlib.sha256(b"part").hexdigest()
    link = store.part_link(KEY, upload, 1, size=4, sha256=digest, holds_s=60)
    assert send(stranger, link, b"part")["ETag"] == f'"{digest}"'
    store.drop_parts(KEY, upload)
    assert send(stranger, link, b"part").status_code == 404


def test_a_recording_that_was_removed_is_gone_for_whoever_holds_a_link(store: FolderStore, stranger: Client) -> None:
    keep(store, b"sound")
    link = to_read(store)
    store.remove([KEY])
    answer = stranger.get(link)
    assert (answer.status_code, answer.text) == (404, "There is no such recording, or no longer.\n")


def test_a_body_that_breaks_off_leaves_nothing(store: FolderStore, stranger: Client) -> None:
    """Content-Length says five, and three come: what a phone in a lift sends."""
    link = link_for(store, b"sound")
    assert send(stranger, link, b"sound", **{"wsgi.input": io.BytesIO(b"sou")}).status_code == 422
    assert store.look(KEY) is None
    assert list((store.folder / ".arriving").iterdir()) == []


def test_no_more_send_at_once_than_leave_threads_for_pages(
    store: FolderStore, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are told to come again, and a place is free again however a sender ends."""
    monkeypatch.setattr(kept, "_places", BoundedSemaphore(1))
    link, told = link_for(store, b"sound"), []

    class Sender(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if not told:
                told.append(send(stranger, link, b"sound"))
            return super().read(size)

    assert send(stranger, link, b"sound", **{"wsgi.input": Sender(b"sou")}).status_code == 422
    assert (told[0].status_code, told[0]["Retry-After"]) == (503, "2")
    assert "a little later" in told[0].text
    assert send(stranger, link, b"sound").status_code == 200


@pytest.mark.parametrize(("number", "status"), [(28, 507), (5, 503)])
def test_a_disk_that_fails_is_told(
    store: FolderStore, stranger: Client, monkeypatch: pytest.MonkeyPatch, number: int, status: int
) -> None:
    """ENOSPC and EIO in the place of a real disk's: the kernel can't be told to fail for one request."""

    def fail(handle: int) -> None:
        raise OSError(number, "on purpose")

    monkeypatch.setattr(recordings_folder.os, "fsync", fail)
    answer = send(stranger, link_for(store, b"sound"), b"sound")
    assert answer.status_code == status
    assert str(store.folder) not in answer.text
    monkeypatch.undo()
    assert store.look(KEY) is None


def test_where_recordings_are_in_a_bucket_nothing_passes_through_here(
    store: FolderStore, stranger: Client, settings: Settings
) -> None:
    link = to_read(store)
    options = {"bucket_name": "b", "endpoint_url": "http://127.0.0.1:1", "location": "recordings"}
    key = {"access_key": "k", "secret_key": "s", "region_name": "us-east-1"}
    backend = {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options | key}
    settings.STORAGES = {**settings.STORAGES, "recordings": backend}
    assert stranger.get(link).status_code == 404
    assert recordings_store().get_link(KEY, media_type=WEBM, holds_s=60).startswith("http://127.0.0.1:1/b/recordings/")
