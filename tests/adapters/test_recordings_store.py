"""Both stores of recordings keep the same promises: a bucket of a real S3 server, a folder behind a real address."""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from emma_eval.adapters.recordings import Link, NotKeptError, SentPart, Store
from results.recordings.store import recordings_store
from tests.s3 import S3Server

pytestmark = pytest.mark.django_db(transaction=True)

WEBM = "video/webm"
PART = 5 * 1024 * 1024  # the least that S3 takes for a part that is not the last
FOLDER_OF_ONE = "11111111-2222-4333-8444-555555555555/"
KEY = f"{FOLDER_OF_ONE}sent"


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Place:
    """A store, and the address that its links begin at where they name none."""

    store: Store
    base: str
    is_bucket: bool

    def ask(self, url: str, *, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
        url = url if url.startswith("http") else f"{self.base}{url}"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(url, data=body, method=method, headers=named)
        if body is not None and "Content-Type" not in named:
            request.add_unredirected_header("Content-type", "")
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return Answer(answer.status, answer.read(), dict(answer.headers))
        except urllib.error.HTTPError as told:
            return Answer(told.code, told.read(), dict(told.headers))

    def send(self, link: Link, body: bytes, **other: str) -> Answer:
        return self.ask(link.url, method="PUT", body=body, **{**link.headers, **other})

    def put(self, key: str, body: bytes, **said: Any) -> Answer:
        return self.send(self.link(key, body, **said), body)

    def link(self, key: str, body: bytes, **said: Any) -> Link:
        given = {"size": len(body), "media_type": WEBM, "sha256": sha256(body), "holds_s": 60} | said
        return self.store.put_link(key, **given)

    def get(self, key: str, **headers: str) -> Answer:
        return self.ask(self.store.get_link(key, media_type=WEBM, holds_s=60), **headers)

    def send_part(self, upload: str, number: int, body: bytes) -> SentPart:
        digest = sha256(body)
        link = self.store.part_link(KEY, upload, number, size=len(body), sha256=digest, holds_s=60)
        answer = self.send(link, body)
        assert answer.status == 200, answer.body
        return SentPart(number, len(body), answer.headers["ETag"].strip('"'), digest)


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


@pytest.fixture(params=["bucket", "folder"])
def place(request: pytest.FixtureRequest, settings: Settings) -> Place:
    """The store that the site's own settings lead to."""
    if request.param == "bucket":
        server: S3Server = request.getfixturevalue("s3")
        use_bucket(settings, server, server.new_bucket())
        return Place(recordings_store(), server.endpoint, is_bucket=True)
    live: LiveServer = request.getfixturevalue("live_server")
    use_folder(settings, request.getfixturevalue("tmp_path") / "recordings")
    return Place(recordings_store(), live.url, is_bucket=False)


def use_bucket(settings: Settings, server: S3Server, bucket: str, **more: Any) -> None:
    options = {
        "bucket_name": bucket,
        "endpoint_url": server.endpoint,
        "region_name": server.region,
        "access_key": server.key,
        "secret_key": server.secret,
        "location": "recordings",
    }
    backend = {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options | more}
    settings.STORAGES = {**settings.STORAGES, "recordings": backend}


def use_folder(settings: Settings, folder: Path) -> None:
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": folder}}
    settings.STORAGES = {**settings.STORAGES, "recordings": backend}


def test_what_is_sent_by_a_link_is_kept_and_read_by_another(place: Place) -> None:
    assert place.put(KEY, b"sound").status == 200
    kept = place.store.look(KEY)
    assert kept is not None
    assert (kept.key, kept.size) == (KEY, 5)
    answer = place.get(KEY)
    assert (answer.status, answer.body, answer.headers["Content-Type"]) == (200, b"sound", WEBM)
    assert "private" in answer.headers["Cache-Control"]


@pytest.mark.parametrize(
    ("asked", "status", "body", "said"),
    [
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=-2", 206, b"89", "bytes 8-9/10"),
        ("bytes=10-", 416, None, "bytes */10"),
    ],
)
def test_a_part_is_read(place: Place, asked: str, status: int, body: bytes | None, said: str) -> None:
    place.put(KEY, b"0123456789")
    answer = place.get(KEY, Range=asked)
    assert (answer.status, answer.headers.get("Content-Range", said)) == (status, said)
    assert body in (None, answer.body)


def test_other_bytes_than_those_announced_are_refused(place: Place) -> None:
    link = place.link(KEY, b"sound")
    for other in (b"Sound", b"soun", b"sounds"):
        assert place.send(link, other).status in {400, 403, 413, 422}, other
    assert place.send(link, b"sound", Content_Type="text/html").status == 403
    assert place.store.look(KEY) is None
    assert place.send(link, b"sound").status == 200


def test_parts_are_joined_by_number_in_whatever_order_they_came(place: Place) -> None:
    upload = place.store.begin_parts(KEY, media_type=WEBM)
    bodies = {1: b"a" * PART, 2: b"b" * PART, 3: b"end"}
    sent = [place.send_part(upload, number, bodies[number]) for number in (3, 1, 2)]
    found = place.store.parts(KEY, upload)
    assert [(part.number, part.size, part.etag) for part in found] == sorted(
        (part.number, part.size, part.etag) for part in sent
    )
    assert all(part.sha256 in {"", sha256(bodies[part.number])} for part in found)
    assert place.store.look(KEY) is None
    kept = place.store.finish_parts(KEY, upload, sent)
    assert kept.size == 2 * PART + 3
    assert place.get(KEY).body == b"".join(bodies.values())
    assert place.store.finish_parts(KEY, upload, sent) == kept
    with pytest.raises(NotKeptError):
        place.store.parts(KEY, upload)
