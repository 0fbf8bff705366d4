"""Real servers on loopback that answer as a test tells them to, byte by byte where it must be."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Heard:
    """One request as it came. `headers` have small letters."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Talk = Callable[[socket.socket, Heard], None]


@dataclass
class Receiver:
    """Where it listens, what it heard, and how it answers from now on."""

    host: str
    port: int
    talk: Talk
    scheme: str = "http"
    heard: list[Heard] = field(default_factory=list)
    asked_for: list[str | None] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}/hook"


def answer(status: int = 200, body: bytes = b"", **headers: str) -> Talk:
    """A whole answer, at once."""
    said = {"Content-Length": str(len(body)), "Connection": "close"}
    said |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in said.items())

    def talk(connection: socket.socket, heard: Heard) -> None:
        connection.sendall(f"HTTP/1.1 {status} Said\r\n{lines}\r\n".encode() + body)

    return talk


def redirect(to: str, status: int = 302) -> Talk:
    return answer(status, Location=to)


def raw(*pieces: bytes, every_s: float = 0, hangs_s: float = 0) -> Talk:
    """These bytes and then the end, or silence."""

    def talk(connection: socket.socket, heard: Heard) -> None:
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(every_s)
        time.sleep(hangs_s)

    return talk


def late(talk: Talk, after_s: float) -> Talk:
    """The same, after a while."""

    def talk_late(connection: socket.socket, heard: Heard) -> None:
        time.sleep(after_s)
        talk(connection, heard)

    return talk_late


def in_turn(*talks: Talk) -> Talk:
    """One after the other; the last for all that come after."""
    left = list(talks)

    def talk(connection: socket.socket, heard: Heard) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(connection, heard)

    return talk


@contextmanager
def serving(talk: Talk, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """A server with a thread for each connection, until the test leaves it."""
    with socket.create_server((host, 0), backlog=64) as door:
        receiver = Receiver(host, door.getsockname()[1], talk, "https" if tls else "http")
        threading.Thread(target=_take_all, args=(door, receiver, tls), daemon=True).start()
        yield receiver
        with contextlib.suppress(OSError):
            door.shutdown(socket.SHUT_RDWR)


def _take_all(door: socket.socket, receiver: Receiver, tls: ssl.SSLContext | None) -> None:
    while True:
        try:
            connection, _ = door.accept()
        except OSError:
            return
        threading.Thread(target=_take, args=(connection, receiver, tls), daemon=True).start()


def _take(connection: socket.socket, receiver: Receiver, tls: ssl.SSLContext | None) -> None:
    with contextlib.suppress(OSError), connection:
        connection.settimeout(10)
        spoken = tls.wrap_socket(connection, server_side=True) if tls else connection
        with spoken:
            heard = _read(spoken)
            if heard is not None:
                receiver.heard.append(heard)
                receiver.talk(spoken, heard)


def _read(connection: socket.socket) -> Heard | None:
    read = b""
    while b"\r\n\r\n" not in read:
        piece = connection.recv(65_536)
        if not piece:
            return None
        read += piece
    head, _, body = read.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65_536)
    method, path, _ = first.split(" ")
    return Heard(method, path, headers, body)
