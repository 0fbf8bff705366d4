"""A store that fails at any step: its error is ours, comes in time, says whether later may help, and names no key.

The bucket is a small server of our own here, because a real one can't be told to hang, to cut a body off, to be full
or to answer with a page of a proxy. What a disk refuses is refused by the real kernel.
"""

from __future__ import annotations

import io
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from emma_eval.adapters.recordings import MismatchError, NotKeptError, SentPart, Store, StoreError, StoreFullError
from emma_eval.adapters.recordings_folder import FolderStore
from emma_eval.adapters.recordings_s3 import S3Store

KEY = "11111111-2222-4333-8444-555555555555/sent"
SECRET = "a-secret-that-nobody-is-told"
PATIENCE_S = 0.4
PART = SentPart(1, 5, "0" * 32, "0" * 64)

Act = Callable[[Store, Path], object]


def _read(store: Store, path: Path) -> object:
    with store.open(KEY) as source:
        return source.read()


ACTS: dict[str, Act] = {
    "begin": lambda store, path: store.begin_parts(KEY, media_type="video/webm"),
    "parts": lambda store, path: store.parts(KEY, "upload"),
    "finish": lambda store, path: store.finish_parts(KEY, "upload", [PART]),
    "drop": lambda store, path: store.drop_parts(KEY, "upload"),
    "look": lambda store, path: store.look(KEY),
    "under": lambda store, path: list(store.under("")),
    "open": _read,
    "fetch": lambda store, path: store.fetch(KEY, path / "back"),
    "keep": lambda store, path: store.keep(KEY, path / "ours", media_type="video/webm"),
    "remove": lambda store, path: store.remove([KEY]),
}


class Failing(BaseHTTPRequestHandler):
    """Answers whatever is asked with one failure."""

    failure: ClassVar[str] = ""
    asked: ClassVar[list[str]] = []

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        self.asked.append(self.command)
        if self.failure == "hang":
            time.sleep(3 * PATIENCE_S)
        elif self.failure == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        elif self.failure == "cut":
            self._answer(200, "12345", length=1_000)
        elif self.failure == "drip":
            self._answer(200, "1", length=1_000)
            for _ in range(200):
                time.sleep(PATIENCE_S / 10)
                self.wfile.write(b"2")
        elif self.failure == "page":
            self._answer(200, "<html>Welcome to the proxy</html>")
        else:
            status, _, code = self.failure.partition(" ")
            self._answer(int(status), f"<Error><Code>{code}</Code><Message>{KEY} {SECRET}</Message></Error>")
        self.close_connection = True

    def _answer(self, status: int, body: str, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length or len(body)))
        self.send_header("ETag", '"0"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body.encode())

    def log_message(self, *said: object) -> None:
        pass


@lru_cache(maxsize=1)
def server_and_store() -> tuple[ThreadingHTTPServer, S3Store]:
    """One for all these tests: a client takes its time to be made."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Failing)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    store = S3Store("bucket", "recordings/", endpoint, "us-east-1", "key", SECRET)
    return server, replace(store, patience_s=PATIENCE_S, patience_of_pages_s=PATIENCE_S)


@pytest.fixture(scope="module", autouse=True)
def _stopped_at_the_end() -> Iterator[None]:
    yield
    server, _ = server_and_store()
    server.shutdown()
    server.server_close()


@contextmanager
def failing(failure: str) -> Iterator[tuple[S3Store, list[str]]]:
    Failing.failure, Failing.asked = failure, []
    yield server_and_store()[1], Failing.asked


def told_by(act: Act, store: Store, path: Path) -> StoreError:
    (path / "ours").write_bytes(b"sound")
    with pytest.raises(StoreError) as told:
        act(store, path)
    words = str(told.value)
    assert words.endswith(".")
    assert not any(secret in words for secret in (KEY, SECRET, "<", str(path), "127.0.0.1"))
    return told.value


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("failure", ["503 SlowDown", "500 InternalError", "403 AccessDenied", "reset", "hang"])
def test_a_bucket_that_fails_now_may_be_asked_again_later(failure: str, act: str, tmp_path: Path) -> None:
    """Once each: whoever asked decides when again. A key that is refused is mended by people."""
    with failing(failure) as (store, asked):
        began = time.monotonic()
        assert told_by(ACTS[act], store, tmp_path).may_retry
        assert time.monotonic() - began < 5 * PATIENCE_S
        assert len(asked) == 1


@pytest.mark.parametrize("failure", ["507 InsufficientStorage", "507 XMinioStorageFull"])
@pytest.mark.parametrize("act", ["begin", "finish", "keep"])
def test_a_bucket_that_is_full_says_so(failure: str, act: str, tmp_path: Path) -> None:
    with failing(failure) as (store, _):
        told = told_by(ACTS[act], store, tmp_path)
    assert isinstance(told, StoreFullError)
    assert told.may_retry


@pytest.mark.parametrize("code", ["InvalidPart", "InvalidPartOrder", "EntityTooSmall", "BadDigest"])
def test_what_is_not_as_it_was_announced_stays_so(code: str, tmp_path: Path) -> None:
    with failing(f"400 {code}") as (store, _):
        told = told_by(ACTS["finish"], store, tmp_path)
    assert isinstance(told, MismatchError)
    assert not told.may_retry


@pytest.mark.parametrize("act", ["open", "fetch"])
def test_a_body_that_is_cut_off_is_no_file(act: str, tmp_path: Path) -> None:
    with failing("cut") as (store, _):
        assert told_by(ACTS[act], store, tmp_path).may_retry


def test_a_body_that_drips_is_given_up(tmp_path: Path) -> None:
    """Each byte comes in time, and all of them would take for ever."""
    with failing("drip") as (store, _):
        began = time.monotonic()
        assert "too slow" in str(told_by(ACTS["fetch"], replace(store, patience_s=PATIENCE_S / 4), tmp_path))
        assert time.monotonic() - began < 10 * PATIENCE_S


@pytest.mark.parametrize("act", ["begin", "parts", "finish", "under", "remove", "keep"])
def test_a_page_of_somebody_else_is_no_answer(act: str, tmp_path: Path) -> None:
    with failing("page") as (store, _):
        assert told_by(ACTS[act], store, tmp_path).may_retry


@pytest.mark.parametrize("act", ["open", "fetch", "parts", "finish"])
def test_what_is_gone_is_not_asked_for_again(act: str, tmp_path: Path) -> None:
    with failing("404 NoSuchKey") as (store, _):
        told = told_by(ACTS[act], store, tmp_path)
    assert isinstance(told, NotKeptError)
    assert not told.may_retry


def test_a_bucket_where_nobody_listens_is_told_at_once(tmp_path: Path) -> None:
    store = S3Store("bucket", "recordings/", "http://127.0.0.1:1", "us-east-1", "key", SECRET)
    assert told_by(ACTS["look"], store, tmp_path).may_retry


def test_links_are_signed_without_asking_the_bucket() -> None:
    with failing("hang") as (store, asked):
        store.put_link(KEY, size=1, media_type="video/webm", sha256="0" * 64, holds_s=60)
        store.part_link(KEY, "upload", 1, size=1, sha256="0" * 64, holds_s=60)
        store.get_link(KEY, media_type="video/webm", holds_s=60)
    assert asked == []


def test_pages_wait_less_long_than_workers() -> None:
    """A bucket that hangs must not hold the threads that answer pages: 4 seconds each, and no longer."""
    store = S3Store("bucket", "recordings/", None, "us-east-1", "key", SECRET)
    assert (store._asked.meta.config.read_timeout, store._asked.meta.config.connect_timeout) == (4, 4)
    assert (store._carrier.meta.config.read_timeout, store._carrier.meta.config.connect_timeout) == (20, 5)


# --- a folder ------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "recordings", SECRET, lambda token: token)


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """The kernel refuses to write more into any file: what a full disk does, without filling one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_is_full_leaves_what_was_there(folder: FolderStore, tmp_path: Path) -> None:
    size = 1_000_000
    (tmp_path / "ours").write_bytes(bytes(size))
    (tmp_path / "small").write_bytes(b"before")
    folder.keep(KEY, tmp_path / "small", media_type="video/webm")
    right = folder.right(folder.put_link(KEY, size=size, media_type="", sha256="0" * 64, holds_s=60).url)
    for act in (
        lambda: folder.keep(KEY, tmp_path / "ours", media_type="video/webm"),
        lambda: folder.receive(right, io.BytesIO(bytes(size))),
    ):
        with no_file_above(100_000), pytest.raises(StoreFullError) as told:
            act()
        assert told.value.may_retry
    with folder.open(KEY) as source:
        assert source.read() == b"before"
    assert [path.name for path in folder.folder.rglob("*") if path.is_file()] == ["sent"]


def test_no_room_to_fetch_something_into_is_told(folder: FolderStore, tmp_path: Path) -> None:
    (tmp_path / "ours").write_bytes(b"sound")
    folder.keep(KEY, tmp_path / "ours", media_type="video/webm")
    with pytest.raises(StoreFullError):
        folder.fetch(KEY, Path("/dev/full"))


@pytest.mark.parametrize("act", ["begin", "keep", "remove"])
def test_a_folder_that_is_none_may_be_asked_again_later(folder: FolderStore, act: str, tmp_path: Path) -> None:
    folder.folder.write_text("something in its place")
    assert told_by(ACTS[act], folder, tmp_path).may_retry
