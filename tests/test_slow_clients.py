"""Four people who read an export drop by drop, and four who send a sheet so, delay nobody else's pages.

The site runs under the web server of `./emma up`, with its very options.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlencode

import pytest

from emma_eval.adapters.recordings_folder import FolderStore
from results.export.columns import COLUMN_BY_KEY
from tests.bench.server import OURS, ROOT, Client, Request, Server

SLOW = 4
TOKEN = "t" * 32
ROUNDS, PAGES_A_ROUND = 3, 20
MOST_LATER_S = 0.3
WORST_LATER_S = 2.0  # other tests run at the same time: one page in many may wait for the processor
SMALLEST_BUFFER = 4096

# More than the buffers of a connection hold: 16 MB.
FILL = """
import json
from emma_eval import prepare
prepare.main(["--no-demo"])
from emma_eval.accounts.roles import Role
from tests import make
from results.models import Result
users = [make.user(f"eva-{n}@example.test", Role.EVAL_TEAM) for n in range(3)]
script, build = make.script("small-talk"), make.build("2026.1")
about = {"tester": users[0], "script": script, "script_version": script.latest, "build": build}
words = "She froze. " * 400
rows = (Result(**about, called_at=f"2026-03-01T00:00:00.{n:06}Z", draft_uuid=make.uuid.uuid4(), comment=words,
               never_started=True) for n in range(4000))
Result.objects.bulk_create(rows, batch_size=500)
print(json.dumps([make.client_of(user).cookies["session"].value for user in users]))
"""


@dataclass(frozen=True)
class Site:
    server: Server
    session: str
    another_session: str = ""  # of somebody who did not use up the exports that one person may have in ten minutes
    leavers_session: str = ""  # of somebody who loses their role
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def cookies(self) -> str:
        return f"session={self.session}; csrf={TOKEN}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    environment = {
        "PATH": os.environ["PATH"],
        "EMMA_VAR": str(tmp_path_factory.mktemp("slow")),
        "EMMA_SECRET_KEY": "0123456789" * 6,
        "DJANGO_SETTINGS_MODULE": "emma_eval.settings",
    }
    filled = subprocess.run([sys.executable, "-c", FILL], cwd=ROOT, env=environment, capture_output=True, check=False)
    assert filled.returncode == 0, filled.stderr.decode()
    with Server(OURS, environment) as server:
        yield Site(server, *json.loads(filled.stdout.splitlines()[-1]), environment=environment)


class SlowClient(threading.Thread):
    """Somebody at the end of a very thin line: what it begins with comes through at once, the rest a byte at a time."""

    def __init__(self, site: Site, head: str, body: bytes) -> None:
        super().__init__(daemon=True)
        self.link = socket.socket()
        self.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALLEST_BUFFER)
        self.link.connect(("127.0.0.1", site.server.port))
        self.link.settimeout(30)
        self.link.sendall(head.encode() + body)
        self.is_over = threading.Event()
        self.moved = 0

    def run(self) -> None:
        while not self.is_over.wait(0.02):
            self.move()
            self.moved += 1

    def move(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        self.is_over.set()
        self.join()
        self.link.close()


class SlowReader(SlowClient):
    """Exports every row as CSV."""

    def __init__(self, site: Site) -> None:
        body = urlencode({"format": "csv", "column": ["script", "comment"]}, doseq=True).encode()
        super().__init__(site, _head(site, "/results/export/", "application/x-www-form-urlencoded", len(body)), body)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.link.recv(1)
        assert answer.startswith(b"HTTP/1.1 200"), answer
        assert b"text/csv" in answer

    def move(self) -> None:
        assert self.link.recv(1)


class SlowUploader(SlowClient):
    """Uploads a sheet of a megabyte."""

    def __init__(self, site: Site) -> None:
        content_type = "multipart/form-data; boundary=between"
        begin = b'--between\r\nContent-Disposition: form-data; name="sheet"; filename="results.csv"\r\n\r\n'
        super().__init__(site, _head(site, "/import/", content_type, 1_000_000), begin)

    def move(self) -> None:
        self.link.sendall(b"x")

    def is_answered(self) -> bool:
        self.link.setblocking(False)
        try:
            return bool(self.link.recv(1))
        except BlockingIOError:
            return False


def _head(site: Site, path: str, content_type: str, length: int) -> str:
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{site.server.port}\r\nCookie: {site.cookies}\r\n"
        f"X-CSRFToken: {TOKEN}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
    )


@contextmanager
def slow_clients(site: Site) -> Iterator[None]:
    """All of them at work; at the end, still at it."""
    readers = [SlowReader(site) for _ in range(SLOW)]
    uploaders = [SlowUploader(site) for _ in range(SLOW)]
    everybody = [*readers, *uploaders]
    for each in everybody:
        each.start()
    yield
    assert all(each.is_alive() and each.moved for each in everybody)
    for each in everybody:
        each.is_over.set()
        each.join()
    assert not any(uploader.is_answered() for uploader in uploaders)
    for each in everybody:
        each.stop()


def seconds_of_pages(site: Site) -> list[float]:
    """How long somebody waits for a page without a sign-in and for one with, in turn."""
    pages = [Request("/account/login/"), Request("/scripts/", headers={"Cookie": site.cookies})]
    client, found = Client(site.server), []
    for number in range(PAGES_A_ROUND):
        began = time.perf_counter()
        client.ask(pages[number % len(pages)])
        found.append(time.perf_counter() - began)
    client.close()
    return found


def test_slow_readers_and_uploaders_delay_nobody(site: Site) -> None:
    quiet, beside = seconds_of_pages(site)[:0], []
    for _ in range(ROUNDS):
        quiet += seconds_of_pages(site)
        with slow_clients(site):
            beside += seconds_of_pages(site)
    assert _ninth_tenth(beside) <= _ninth_tenth(quiet) + MOST_LATER_S, (quiet, beside)
    assert max(beside) <= max(quiet) + WORST_LATER_S, (quiet, beside)


def test_as_many_as_like_send_recordings_slowly_and_the_site_is_there_for_others(site: Site) -> None:
    """Into the folder, with a proxy in front that does not take bodies in whole, or none: more than it has threads."""
    folder = FolderStore(Path(site.environment["EMMA_VAR"]) / "recordings", site.environment["EMMA_SECRET_KEY"], str)
    said = {"size": 5, "media_type": "video/webm", "sha256": sha256(b"sound").hexdigest(), "holds_s": 60}
    senders = []
    try:
        for number in range(40):
            token = folder.put_link(f"slow/{number}", **said).url
            head = _head(site, f"/kept/{token}/", "video/webm", 5).replace("POST", "PUT", 1)
            senders.append(socket.create_connection(("127.0.0.1", site.server.port), 10))
            senders[-1].sendall(head.encode() + b"so")
        assert max(seconds_of_pages(site)) < WORST_LATER_S
        refused = [each for each in senders if _is_told(each)]
        assert refused, "there was a place for all of them"
        assert all(each.recv(1000).startswith(b"HTTP/1.1 503 ") for each in refused)
        waiting = [each for each in senders if each not in refused]
        for each in waiting:
            each.sendall(b"und")
        assert [each.recv(1000)[:12] for each in waiting] == [b"HTTP/1.1 200"] * len(waiting)
        assert len(list(folder.under("slow/"))) == len(waiting)
    finally:
        for each in senders:
            each.close()


def _is_told(link: socket.socket) -> bool:
    """Whether an answer has come."""
    return bool(select.select([link], [], [], 0)[0])


def _ninth_tenth(seconds: list[float]) -> float:
    return quantiles(seconds, n=10)[-1]


def test_a_workbook_that_is_written_while_it_is_waited_for_delays_nobody(site: Site) -> None:
    """It is worked on for as long as its reader waits, in the process that answers the pages."""
    quiet, beside = seconds_of_pages(site), []
    writing = threading.Thread(target=_fetch_workbook, args=(site,))
    writing.start()
    while writing.is_alive():
        beside += seconds_of_pages(site)
    writing.join()
    assert _ninth_tenth(beside) <= _ninth_tenth(quiet) + MOST_LATER_S, (quiet, beside)


def _fetch_workbook(site: Site) -> None:
    client = Client(site.server)
    body = urlencode({"format": "xlsx", "column": list(COLUMN_BY_KEY)}, doseq=True).encode()
    headers = {
        "Cookie": f"session={site.another_session}; csrf={TOKEN}",
        "X-CSRFToken": TOKEN,
        "Content-Type": "application/x-www-form-urlencoded",
    }
    client.ask(Request("/results/export/", "POST", headers, body))
    client.close()


def test_what_somebody_reads_slowly_is_not_piled_up_for_them(site: Site) -> None:
    """The site makes no more of an export than its reader takes, or a slow line would cost all its memory."""
    site = replace(site, session=site.another_session)
    client, cookie = Client(site.server), {"Cookie": site.cookies}
    client.ask(Request("/scripts/", headers=cookie))
    before = _resident(site)
    with slow_clients(site):
        client.ask(Request("/scripts/", headers=cookie))
        time.sleep(1)
        assert _resident(site) - before < SLOW * 14_000_000  # threads that begin take 10; piled up, it would be 27
    client.close()


def _resident(site: Site) -> int:
    return sum(worker.memory_info().rss for worker in site.server.workers())


def test_an_export_whose_reader_lost_the_role_is_broken_off_and_has_no_end(site: Site) -> None:
    """The last chunk, by which a browser knows that a download is whole, never comes."""
    assert _read_all(SlowReader(replace(site, session=site.leavers_session))).endswith(b"\r\n0\r\n\r\n")
    reader = SlowReader(replace(site, session=site.leavers_session))
    taken = subprocess.run([sys.executable, "-c", TAKE_ROLES], cwd=ROOT, env=site.environment, check=False)
    assert taken.returncode == 0
    got = _read_all(reader)
    assert not got.endswith(b"0\r\n\r\n")
    assert 0 < got.count(b"small-talk") < 4000


def _read_all(reader: SlowReader) -> bytes:
    got = bytearray()
    reader.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_000_000)
    with suppress(ConnectionResetError):
        while part := reader.link.recv(1_000_000):
            got += part
            if got.endswith(b"\r\n0\r\n\r\n"):
                break
    reader.link.close()
    return bytes(got)


TAKE_ROLES = """
import django
django.setup()
from emma_eval.accounts.models import User
User.objects.get(email="eva-2@example.test").groups.clear()
"""
