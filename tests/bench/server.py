"""A site under the very server that `./emma up` starts, what it costs, and a client that asks one thing at a time."""

from __future__ import annotations

import http.client
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Self

import psutil

from emma_eval.knock import find_free

ROOT = Path(__file__).resolve().parent.parent.parent
OURS, FLOOR = "emma_eval.wsgi:application", "tests.bench.floors:application"


@dataclass(frozen=True)
class Request:
    """What a client sends."""

    path: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    status: int = 200  # of the answer that is right


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class WrongAnswerError(Exception):
    """The site answered something else than it would have to for a figure to mean anything."""


def command_of_up() -> list[str]:
    """The options of the web server as they stand in `./emma up`, so that what is measured is what runs."""
    text = (ROOT / "emma").read_text().replace("\\\n", " ").replace('"', "")
    text = re.sub(r"\$\{\w+:-(\w*)\}", r"\1", text)  # as it is with nothing configured
    found = re.search(r"-m granian (--interface .*?) --host ", text)
    if found is None:
        raise LookupError("./emma no longer starts granian the way this looks for")
    return shlex.split(found.group(1))


class Server:
    """One web server with its workers, on a free port of the loopback address."""

    def __init__(self, application: str, environment: Mapping[str, str]) -> None:
        self.port = find_free()
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "granian", *command_of_up()),
                *("--host", "127.0.0.1", "--port", str(self.port), application),
            ],
            cwd=ROOT,
            env={**environment, "EMMA_ORIGIN": self.address},
            start_new_session=True,
        )

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        until = time.monotonic() + 60
        while True:
            try:
                Client(self).connect()
            except OSError:
                if self.process.poll() is not None or time.monotonic() > until:
                    self.stop()
                    raise RuntimeError(f"the server of {self.process.args} did not start") from None
                time.sleep(0.05)
            else:
                return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def cpu_s(self) -> float:
        return cpu_s(self.process.pid)

    def workers(self) -> list[psutil.Process]:
        """The processes that answer requests."""
        return psutil.Process(self.process.pid).children(recursive=True)


def cpu_s(pid: int) -> float:
    """Processor time, user and system, of a process, all below it, and those below it that have ended.

    The kernel's clock of a process counts nanoseconds; psutil's figures are hundredths of a second.
    """
    parent = psutil.Process(pid)
    ended = parent.cpu_times()
    total = ended.children_user + ended.children_system
    for process in (parent, *parent.children(recursive=True)):
        try:
            total += time.clock_gettime(~process.pid << 3 | 2)
        except OSError:  # it ended meanwhile
            continue
    return total


class Answers(Protocol):
    """Something that is asked on this port of the loopback address."""

    port: int


class Client:
    """A serial client: one connection that is kept, one request after the other."""

    def __init__(self, server: Answers) -> None:
        self.link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)

    def connect(self) -> None:
        self.link.connect()
        self.link.close()

    def ask(self, request: Request) -> Answer:
        self.link.request(request.method, request.path, body=request.body or None, headers=dict(request.headers))
        response = self.link.getresponse()
        answer = Answer(response.status, dict(response.getheaders()), response.read())
        if answer.status != request.status:
            raise WrongAnswerError(
                f"{request.method} {request.path} answered {answer.status} instead of {request.status}: "
                + answer.body[:400].decode(errors="replace")
            )
        return answer

    def close(self) -> None:
        self.link.close()
