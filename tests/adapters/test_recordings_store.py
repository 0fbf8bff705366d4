"""Both stores of recordings keep the same promises: a bucket of a real S3 server, a folder behind a real address."""

from __future__ import annotations

import base64
import hashlib
import io
import itertools
import os
import time
import tracemalloc
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.files.storage import storages
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from emma_eval.adapters.recordings import Link, MismatchError, NoSuchKeyError, NotKeptError, SentPart, Store
from emma_eval.adapters.recordings_folder import FolderStore
from emma_eval.adapters.recordings_links import ForgedLinkError
from results.recordings.store import recordings_store
from tests.s3 import S3Server
from tests.stores import use_bucket, use_folder

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
        use_bucket(settings, server, request.getfixturevalue("bucket"))
        return Place(recordings_store(), server.endpoint, is_bucket=True)
    live: LiveServer = request.getfixturevalue("site")
    use_folder(settings, request.getfixturevalue("tmp_path") / "recordings")
    return Place(recordings_store(), live.url, is_bucket=False)


@pytest.fixture(scope="module")
def site() -> Iterator[LiveServer]:
    """This site without a database: whoever holds a link needs no account, and nothing is looked up."""
    server = LiveServer("127.0.0.1")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def bucket(s3: S3Server) -> str:
    """Each test has a folder of its own in it."""
    return s3.shared_bucket


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


def test_a_link_that_was_used_brings_nothing_else_in_the_place_of_what_came(place: Place) -> None:
    """It holds for minutes more. Sent again by it, there is what was there; of a part the same."""
    link = place.link(KEY, b"sound")
    assert place.send(link, b"sound").status == 200
    for other in (b"Sound", b"", b"soun", b"sounds"):
        assert place.send(link, other).status in {400, 403, 413, 422}, other
        digest = {"x-amz-checksum-sha256": base64.b64encode(hashlib.sha256(other).digest()).decode()}
        assert place.send(link, other, **digest).status in {400, 403, 413, 422}, other
    assert place.send(link, b"sound").status == 200
    assert place.get(KEY).body == b"sound"


def test_a_link_to_a_part_brings_nothing_else_in_the_place_of_what_came(place: Place) -> None:
    upload = place.store.begin_parts(KEY, media_type=WEBM)
    part = place.send_part(upload, 1, b"part")
    link = place.store.part_link(KEY, upload, 1, size=4, sha256=sha256(b"part"), holds_s=60)
    for other in (b"Part", b"par", b"parts"):
        digest = {"x-amz-checksum-sha256": base64.b64encode(hashlib.sha256(other).digest()).decode()}
        assert place.send(link, other).status in {400, 403, 413, 422}, other
        assert place.send(link, other, **digest).status in {400, 403, 413, 422}, other
    place.store.finish_parts(KEY, upload, [part])
    assert place.send(link, b"part").status == 404, "the upload is over"
    assert place.get(KEY).body == b"part"


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


def test_a_part_that_was_sent_again_with_other_content_is_the_later_one(place: Place) -> None:
    upload = place.store.begin_parts(KEY, media_type=WEBM)
    first = place.send_part(upload, 1, b"first")
    again = place.send_part(upload, 1, b"again!")
    assert len(place.store.parts(KEY, upload)) == 1
    if not place.is_bucket:  # SeaweedFS keeps the earlier one too, until one of them is named
        with pytest.raises(MismatchError):
            place.store.finish_parts(KEY, upload, [first])
    assert place.store.finish_parts(KEY, upload, [again]).size == 6
    assert place.get(KEY).body == b"again!"


def test_parts_that_are_not_those_that_came_are_not_joined(place: Place) -> None:
    upload = place.store.begin_parts(KEY, media_type=WEBM)
    sent = place.send_part(upload, 1, b"end")
    for wrong in ([replace(sent, etag="0" * 32)], [sent, replace(sent, number=2)]):
        with pytest.raises(MismatchError):
            place.store.finish_parts(KEY, upload, wrong)
    assert place.store.look(KEY) is None
    assert place.store.finish_parts(KEY, upload, [sent]).size == 3  # nothing was lost by asking wrongly


def test_what_was_dropped_is_over(place: Place) -> None:
    upload = place.store.begin_parts(KEY, media_type=WEBM)
    sent = place.send_part(upload, 1, b"end")
    link = place.store.part_link(KEY, upload, 2, size=3, sha256=sha256(b"two"), holds_s=60)
    for _ in range(2):
        place.store.drop_parts(KEY, upload)
    assert place.send(link, b"two").status == 404
    for act in (
        lambda: place.store.parts(KEY, upload),
        lambda: place.store.finish_parts(KEY, upload, [sent]),
        lambda: place.store.parts(KEY, "made-up"),
    ):
        with pytest.raises(NotKeptError):
            act()


def test_finishing_again_tells_of_an_object_that_is_not_as_long_as_its_parts(place: Place) -> None:
    upload = place.store.begin_parts(KEY, media_type=WEBM)
    sent = place.send_part(upload, 1, b"end")
    place.store.finish_parts(KEY, upload, [sent])
    place.store.drop_parts(KEY, upload)
    assert place.put(KEY, b"another").status == 200
    with pytest.raises((MismatchError, NotKeptError)):
        place.store.finish_parts(KEY, upload, [sent])


def test_a_link_opens_one_object_for_one_act(place: Place) -> None:
    place.put(KEY, b"sound")
    place.put(f"{FOLDER_OF_ONE}media.webm", b"other")
    to_read = place.store.get_link(KEY, media_type=WEBM, holds_s=60)
    to_send = place.link(KEY, b"Sound")
    assert place.ask(to_read, method="PUT", body=b"Sound", **to_send.headers).status == 403
    assert place.ask(to_send.url).status == 403
    assert place.ask(to_read, method="DELETE").status in {403, 405}
    for changed in (to_read.replace("sent", "media.webm"), _other_letter(to_read), _other_letter(to_send.url)):
        if changed != to_read:
            assert place.ask(changed).status == 403, changed
    assert place.get(KEY).body == b"sound"


def _other_letter(url: str) -> str:
    """The same link with one letter changed in the middle of what is signed or of the signature."""
    at = len(url.rstrip("/")) - 6
    return url[:at] + ("b" if url[at] == "a" else "a") + url[at + 1 :]


def test_a_link_is_over_after_its_time(place: Place) -> None:
    place.put(KEY, b"sound")
    upload = place.store.begin_parts(KEY, media_type=WEBM)
    to_read = place.store.get_link(KEY, media_type=WEBM, holds_s=1)
    to_send = place.link(KEY, b"Sound", holds_s=1)
    part = place.store.part_link(KEY, upload, 1, size=5, sha256=sha256(b"Sound"), holds_s=1)
    time.sleep(2.1)
    for answer in (place.ask(to_read), place.send(to_send, b"Sound"), place.send(part, b"Sound")):
        assert answer.status == (403 if place.is_bucket else 410)
    assert place.store.parts(KEY, upload) == []
    assert place.get(KEY).body == b"sound"


def test_a_download_has_its_name_whatever_is_in_it(place: Place) -> None:
    place.put(KEY, b"sound")
    url = place.store.get_link(KEY, media_type=WEBM, holds_s=60, saved_as='Ünter "x"\r\nSet-Cookie: a.webm')
    answer = place.ask(url)
    assert answer.status == 200
    assert answer.headers["Content-Disposition"].startswith("attachment; filename")
    assert "%C3%9Cnter" in answer.headers["Content-Disposition"]
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("size", [0, 5, 16 * 1024 * 1024 + 5])
def test_a_file_of_ours_is_kept_and_fetched(place: Place, tmp_path: Path, size: int) -> None:
    """A large one is sent in parts."""
    ours, back = tmp_path / "ours", tmp_path / "back"
    ours.write_bytes(os.urandom(size))
    kept = place.store.keep(KEY, ours, media_type="video/mp4")
    assert (kept.key, kept.size) == (KEY, size)
    assert place.store.look(KEY) == kept
    place.store.fetch(KEY, back)
    assert back.read_bytes() == ours.read_bytes()
    with place.store.open(KEY) as source:
        assert source.read(3) == ours.read_bytes()[:3]


def test_what_is_not_there_is_told(place: Place, tmp_path: Path) -> None:
    assert place.store.look(KEY) is None
    assert place.get(KEY).status == 404
    with pytest.raises(NotKeptError), place.store.open(KEY):
        pass
    with pytest.raises(NotKeptError) as told:
        place.store.fetch(KEY, tmp_path / "back")
    assert KEY not in str(told.value)
    assert not told.value.may_retry


def test_what_lies_under_a_recording_is_listed_and_removed(place: Place) -> None:
    names = [f"{FOLDER_OF_ONE}chunks/001-{number:06}" for number in range(3)]
    for name in (*names, KEY, "another/sent"):
        assert place.put(name, b"x").status == 200
    place.store.begin_parts(KEY, media_type=WEBM)
    assert sorted(kept.key for kept in place.store.under(FOLDER_OF_ONE)) == sorted([*names, KEY])
    assert sorted(kept.key for kept in place.store.under(f"{FOLDER_OF_ONE}chunks/001-")) == names
    assert len(list(place.store.under(""))) == 5
    for _ in range(2):
        place.store.remove([*names, KEY])
    assert list(place.store.under(FOLDER_OF_ONE)) == []
    assert [kept.key for kept in place.store.under("")] == ["another/sent"]


def test_more_is_removed_than_one_request_can_name(place: Place) -> None:
    place.put(f"{FOLDER_OF_ONE}chunks/001-001003", b"x")
    place.store.remove(f"{FOLDER_OF_ONE}chunks/001-{number:06}" for number in range(1005))
    assert list(place.store.under("")) == []


LEADING_ELSEWHERE = (
    *("", "/etc/x", "../sent", "a/../../sent", "a//b", "a/./b", ".arriving/x", "a/.hid", "a\\b", "a\0b", "a\nb", "a/"),
    "a" * 201,
)


def test_a_key_leads_nowhere_else(place: Place, tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    ours.write_bytes(b"x")
    acts: list[Callable[[str], object]] = [
        lambda key: place.store.keep(key, ours, media_type=WEBM),
        place.store.look,
        lambda key: place.store.fetch(key, tmp_path / "back"),
        lambda key: place.store.remove([key]),
        lambda key: place.store.get_link(key, media_type=WEBM, holds_s=60),
        lambda key: place.link(key, b"x"),
        lambda key: place.store.begin_parts(key, media_type=WEBM),
        lambda key: place.store.parts(key, "0" * 32),
    ]
    for key, act in itertools.product(LEADING_ELSEWHERE, acts):
        with pytest.raises(NoSuchKeyError):
            act(key)
    for key in set(LEADING_ELSEWHERE) - {"", "a/"}:
        with pytest.raises(NoSuchKeyError):
            list(place.store.under(key))


# --- a bucket alone ------------------------------------------------------------------------------


def test_bytes_pass_between_browser_and_bucket_alone(settings: Settings, s3: S3Server, bucket: str) -> None:
    """Links lead to the bucket's own server, and work there though this site serves nothing in this test."""
    use_bucket(settings, s3, bucket)
    place = Place(recordings_store(), "http://site.invalid", is_bucket=True)
    upload = place.store.begin_parts(KEY, media_type=WEBM)
    part = place.store.part_link(KEY, upload, 1, size=1, sha256=sha256(b"x"), holds_s=60)
    links = [place.link(KEY, b"x").url, part.url, place.store.get_link(KEY, media_type=WEBM, holds_s=60)]
    assert {f"{urlsplit(link).scheme}://{urlsplit(link).netloc}" for link in links} == {s3.endpoint}
    place.store.finish_parts(KEY, upload, [place.send_part(upload, 1, b"x")])
    assert place.get(KEY).body == b"x"


def test_what_is_written_is_encrypted_as_the_site_is_configured(
    settings: Settings, s3: S3Server, tmp_path: Path
) -> None:
    bucket = s3.shared_bucket
    use_bucket(settings, s3, bucket, object_parameters={"ServerSideEncryption": "AES256"})
    place = Place(recordings_store(), s3.endpoint, is_bucket=True)
    (tmp_path / "ours").write_bytes(b"sound")
    link = place.link("a/put", b"sound")
    without = {name: value for name, value in link.headers.items() if "encryption" not in name}
    assert place.send(replace(link, headers=without), b"sound").status == 403
    assert place.send(link, b"sound").status == 200
    place.store.keep("a/kept", tmp_path / "ours", media_type=WEBM)
    upload = place.store.begin_parts(KEY, media_type=WEBM)
    place.store.finish_parts(KEY, upload, [place.send_part(upload, 1, b"sound")])
    for key in ("a/put", "a/kept", KEY):
        found = s3.client().head_object(Bucket=bucket, Key=f"{storages['recordings'].location}/{key}")
        assert found["ServerSideEncryption"] == "AES256", key


def test_the_bucket_joins_no_parts_that_are_too_small(settings: Settings, s3: S3Server, bucket: str) -> None:
    use_bucket(settings, s3, bucket)
    place = Place(recordings_store(), s3.endpoint, is_bucket=True)
    upload = place.store.begin_parts(KEY, media_type=WEBM)
    with pytest.raises(MismatchError):
        place.store.finish_parts(KEY, upload, [place.send_part(upload, number, b"few") for number in (1, 2)])


def test_there_is_one_client_for_all_who_ask(settings: Settings, s3: S3Server, bucket: str) -> None:
    use_bucket(settings, s3, bucket)
    assert recordings_store() is recordings_store()


# --- a folder alone ------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "recordings", "secret", lambda token: token)


def receive(folder: FolderStore, link: Link, body: bytes) -> str:
    return folder.receive(folder.right(link.url), io.BytesIO(body))


def send_link(folder: FolderStore, body: bytes, key: str = KEY) -> Link:
    return folder.put_link(key, size=len(body), media_type=WEBM, sha256=sha256(body), holds_s=60)


def test_what_broke_off_leaves_the_file_as_it_was(folder: FolderStore) -> None:
    receive(folder, send_link(folder, b"sound"), b"sound")
    with pytest.raises(MismatchError):
        receive(folder, send_link(folder, b"another"), b"anoth")
    with folder.open(KEY) as source:
        assert source.read() == b"sound"
    assert [path.name for path in folder.folder.rglob("*") if path.is_file()] == ["sent"]


def test_a_link_that_leads_out_of_the_folder_is_not_followed(folder: FolderStore, tmp_path: Path) -> None:
    folder.folder.mkdir()
    (tmp_path / "secret").write_text("ours")
    (folder.folder / "out").symlink_to(tmp_path)
    for act in (lambda: folder.look("out/secret"), lambda: folder.remove(["out/secret"])):
        with pytest.raises(NoSuchKeyError):
            act()
    assert (tmp_path / "secret").exists()


def test_what_is_none_of_ours_in_the_folder_is_left_alone_and_stops_nobody(folder: FolderStore, tmp_path: Path) -> None:
    """A link that somebody laid there, and what file systems and editors put beside files."""
    (tmp_path / "secret").write_text("ours")
    assert receive(folder, send_link(folder, b"sound"), b"sound")
    above = folder.path(KEY).parent
    (above / "linked").symlink_to(tmp_path / "secret")
    (above / "broken").symlink_to(tmp_path / "nowhere")
    (above / "elsewhere").symlink_to(tmp_path, target_is_directory=True)
    (above / ".DS_Store").write_text("x")
    (above / "a copy of it").write_text("x")
    assert [kept.key for kept in folder.under("")] == [KEY]
    folder.remove(kept.key for kept in folder.under(""))
    assert (tmp_path / "secret").read_text() == "ours"


def test_links_of_an_earlier_secret_open_while_it_is_known(folder: FolderStore) -> None:
    link = send_link(folder, b"sound")
    renewed = replace(folder, secret="newer", known_secrets=("secret",))
    assert receive(renewed, link, b"sound")
    with pytest.raises(ForgedLinkError):
        replace(renewed, known_secrets=()).right(link.url)


@pytest.mark.parametrize("token", ["", ".", "a.b", "e30.e30", "\u00fc.\u00fc", "a" * 5000, "e30." + "A" * 43, "=.="])
def test_what_was_not_signed_here_opens_nothing(folder: FolderStore, token: str) -> None:
    with pytest.raises(ForgedLinkError):
        folder.right(token)


def test_a_large_part_is_never_in_memory_whole(folder: FolderStore) -> None:
    size = 16 * 1024 * 1024
    upload = folder.begin_parts(KEY, media_type=WEBM)
    link = folder.part_link(KEY, upload, 1, size=size, sha256=sha256(bytes(size)), holds_s=60)
    tracemalloc.start()
    folder.receive(folder.right(link.url), _Zeros())
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1024 * 1024
    assert folder.parts(KEY, upload)[0].size == size


class _Zeros:
    """A body without an end: no more of it is read than was announced."""

    def read(self, size: int, /) -> bytes:
        return bytes(size)


def test_two_tabs_that_send_and_finish_at_once_make_one_file(folder: FolderStore) -> None:
    upload = folder.begin_parts(KEY, media_type=WEBM)
    bodies = {1: b"a" * 3_000_000, 2: b"b" * 3_000_000}

    def send(number: int) -> SentPart:
        body = bodies[number]
        link = folder.part_link(KEY, upload, number, size=len(body), sha256=sha256(body), holds_s=60)
        return SentPart(number, len(body), receive(folder, link, body), sha256(body))

    with ThreadPoolExecutor(8) as at_once:
        sent = set(at_once.map(send, [1, 2] * 4))
        kept = set(at_once.map(lambda _: folder.finish_parts(KEY, upload, list(sent)).size, range(8)))
    assert kept == {6_000_000}
    with folder.open(KEY) as source:
        assert source.read() == bodies[1] + bodies[2]
    assert list((folder.folder / ".arriving").iterdir()) == []


def test_what_nobody_went_on_with_is_forgotten_by_whoever_begins_next(folder: FolderStore) -> None:
    left = folder.begin_parts(KEY, media_type=WEBM)
    later = replace(folder, now=lambda: time.time() + folder.unfinished_s + 60)
    (folder.folder / ".arriving" / "broke-off.part").write_bytes(b"x")
    begun = later.begin_parts("another/sent", media_type=WEBM)
    assert [path.name for path in (folder.folder / ".arriving").iterdir()] == [begun]
    with pytest.raises(NotKeptError):
        folder.parts(KEY, left)
