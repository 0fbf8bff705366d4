"""A small proxy before the real S3 server that fails on demand, as the server itself can't be told to."""

from __future__ import annotations

import http.client
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_PART = re.compile(r"partNumber=(\d+)")
_OURS = {"content-length", "transfer-encoding", "connection", "date", "server"}


@dataclass
class FailingStore:
    """`faults` are used up by one part each; while it `is_down`, every part is answered with 503.

    `passed` are the numbers of the parts that the server took, in their order.
    """

    url: str = ""
    is_down: bool = False
    faults: list[str] = field(default_factory=list)
    passed: list[int] = field(default_factory=list)
    before_a_late_one: Callable[[], None] = lambda: None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next_fault(self) -> str:
        with self.lock:
            return "503" if self.is_down else self.faults.pop(0) if self.faults else ""


class _Between(BaseHTTPRequestHandler):
    """Passes everything on as it came, so that what was signed stays signed."""

    protocol_version = "HTTP/1.1"
    store: FailingStore
    behind: str

    def take(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        part = _PART.search(self.path) if self.command == "PUT" else None
        fault = self.store.next_fault() if part else ""
        if fault == "reset":
            self.connection.close()
            self.close_connection = True
        elif fault == "503":
            self.answer(503, {"Access-Control-Allow-Origin": "*"}, b"")
        else:
            if fault == "late":
                time.sleep(2.2)
                self.store.before_a_late_one()
            self.pass_on(body, int(part[1]) if part else 0)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_OPTIONS = take  # noqa: N815

    def pass_on(self, body: bytes, part: int) -> None:
        there = http.client.HTTPConnection(self.behind, timeout=20)
        there.request(self.command, self.path, body or None, dict(self.headers))
        answer = there.getresponse()
        said = answer.read()
        there.close()
        if part and answer.status == 200:
            self.store.passed.append(part)
        self.answer(answer.status, dict(answer.headers), said)

    def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        length = headers.get("Content-Length", "0") if self.command == "HEAD" else str(len(body))
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in _OURS:
                self.send_header(name, value)
        self.send_header("Content-Length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is written down."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A page that was closed in the middle is no fault of anybody."""


@contextmanager
def failing_store(upstream: str) -> Iterator[FailingStore]:
    """The proxy, until the test leaves it."""
    store = FailingStore()
    handler = type("Between", (_Between,), {"store": store, "behind": urlsplit(upstream).netloc})
    server = _Server(("127.0.0.1", 0), handler)
    store.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield store
    server.shutdown()
    server.server_close()
