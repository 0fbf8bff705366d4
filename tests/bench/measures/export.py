"""All rows as CSV with every column, streamed: how much the web worker grows while somebody takes it, above what it
held after a small export, and how long the first byte takes. A reader who goes away must leave no work behind."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from urllib.parse import urlencode

from ..figures import Figure, at_most
from ..server import OURS, Request, Server, WrongAnswerError
from ..stage import Stage

PLACE, TITLE = 5, "Export as CSV"
MOST_GROWTH_MB, MOST_FIRST_BYTE_MS = 40, 300
SAMPLED_EVERY_S = 0.05
CHUNK = 65_536
MB = 1_000_000


def measure(stage: Stage) -> Iterator[Figure]:
    with Server(OURS, stage.house.environment) as server:
        _take(server, _wanted(stage, f"script={stage.facts['rare_script']}"))
        starts = [_take(server, _wanted(stage), most=1).first_byte_ms for _ in range(stage.rounds)]
        _wait_until_idle(server)
        before = _resident(server)
        with _Watched(server) as watched:
            taken = _take(server, _wanted(stage))
    rows = stage.house.rows
    if taken.lines != rows + 1:
        raise WrongAnswerError(f"the export has {taken.lines:,} lines of {rows + 1:,}")
    aside = f"{taken.size / MB:.0f} MB in {taken.seconds:.0f} s"
    growth = (watched.greatest - before) / MB
    yield at_most(f"growth while {rows:,} rows are streamed", growth, MOST_GROWTH_MB, "MB", aside)
    yield at_most("first byte of the export", median(starts), MOST_FIRST_BYTE_MS, "ms", f"slowest {max(starts):.0f} ms")


@dataclass(frozen=True)
class Taken:
    """What came of a download."""

    size: int
    lines: int
    first_byte_ms: float
    seconds: float


def _wanted(stage: Stage, query: str = "") -> Request:
    columns = stage.house.ask("measures.export", "all_columns")
    token = stage.facts["csrf"]
    fields = {"csrfmiddlewaretoken": token, "format": "csv", "column": columns}
    headers = {
        "Cookie": f"session={stage.facts['evaluator']}; csrf={token}",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    return Request(f"/results/export/?{query}", "POST", headers, urlencode(fields, doseq=True).encode())


def _take(server: Server, request: Request, most: float = float("inf")) -> Taken:
    """Read the answer, or its beginning, as it comes, and keep none of it."""
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    began = time.perf_counter()
    link.request(request.method, request.path, request.body, dict(request.headers))
    response = link.getresponse()
    chunk = response.read1(CHUNK)
    first_byte_ms = (time.perf_counter() - began) * 1000
    if response.status != 200 or "text/csv" not in response.headers["Content-Type"]:
        raise WrongAnswerError(f"the export answered {response.status} {response.headers['Content-Type']}")
    size = lines = 0
    while chunk:
        size += len(chunk)
        lines += chunk.count(b"\n")  # no comment of ours has one
        if size >= most:
            break
        chunk = response.read1(CHUNK)
    link.close()
    return Taken(size, lines, first_byte_ms, time.perf_counter() - began)


def _wait_until_idle(server: Server) -> None:
    """The readers that went away are noticed, or else the site goes on writing for nobody."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        before = server.cpu_s()
        time.sleep(0.5)
        if server.cpu_s() - before < 0.05:
            return
    raise WrongAnswerError("the site goes on writing exports that nobody reads any more")


def _resident(server: Server) -> int:
    return sum(worker.memory_info().rss for worker in server.workers())


class _Watched:
    """Looks at the memory of a server's workers until it is left."""

    def __init__(self, server: Server) -> None:
        self.server, self.greatest = server, 0
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._watch)

    def _watch(self) -> None:
        while not self.is_over.wait(SAMPLED_EVERY_S):
            self.greatest = max(self.greatest, _resident(self.server))

    def __enter__(self) -> _Watched:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self.thread.join()


# --- asked of our Django -----------------------------------------------------------------------


def all_columns() -> list[str]:
    """The keys of all columns; and the limit on how often somebody may export begins anew."""
    from emma_eval.accounts.models import Attempt
    from results.export.columns import COLUMNS

    Attempt.objects.all().delete()
    return [column.key for column in COLUMNS]
