"""The one way out: every link of this site to another goes through here, and is looked at when it connects.

A name is resolved here, every address that it resolves to is looked at, and the connection goes to that very address:
a name that resolves to something else a moment later gains nothing. TLS is still checked against the name. No proxy,
no cookie and no redirect is taken from anybody, and all is bounded: in time as a whole, and in size also unpacked.
`send` holds an answer in memory; `fetch` writes a large one into a file as it comes, from known hosts alone.
"""

from __future__ import annotations

import ipaddress
import queue
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import IO, Any
from urllib.parse import urljoin

import certifi
import httpcore
import httpx

from .addresses import Address, Allowed, Hosts, check, look_at, read_address
from .errors import (
    GarbledError,
    NeighbourError,
    RefusedError,
    TooLargeError,
    TooSlowError,
    UnreachableError,
    UntrustedError,
    UnwantedError,
)

Resolve = Callable[[str, int], list[str]]
REDIRECTS = frozenset({301, 302, 303, 307, 308})
KEEP_THE_BODY = frozenset({307, 308})
HERE_IT_IS = 200
# All that is told to another host than the one that was asked: no key, no signature, no cookie.
CARRIED_TO_OTHERS = frozenset({"accept", "user-agent"})
_TYPE = re.compile(r"[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,60}")
A_PIECE = 16 * 1024
GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS


def _nothing(size: int) -> None:
    """What is told of nobody is waiting for."""


def resolve_by_system(host: str, port: int) -> list[str]:
    """The addresses of a host as this machine resolves it. Raises OSError."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


@dataclass(frozen=True)
class Limits:
    """How long it may take, and how long the answer may be. `whole_s` holds for all redirects together."""

    connect_s: float = 5
    read_s: float = 10
    whole_s: float = 20
    most_bytes: int = 1_000_000


@dataclass(frozen=True)
class Wanted:
    """What is fetched into a file: from which hosts, at redirects too, of which types, and how fast it must come.

    `types` are whole, such as `application/pdf`, or the first half of one, such as `video/`. Over any `over_s` seconds
    at least `least_a_s` bytes a second have to come.
    """

    hosts: Hosts
    types: tuple[str, ...]
    least_a_s: int
    over_s: float = 30


@dataclass(frozen=True)
class Answer:
    """What came back, whatever its status. `body` is unpacked; `headers` have small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def header(self, name: str) -> str:
        return self.headers.get(name, "")


@dataclass(frozen=True)
class _Asked:
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Outgoing:
    """A way out with its rules. Over plain http only what `allow` names is opened.

    `resolve` and `tls` are handed in by tests; left out, the machine's resolver and its authorities are used.
    """

    allow: Allowed = field(default_factory=Allowed)
    limits: Limits = field(default_factory=Limits)
    resolve: Resolve = field(default=resolve_by_system, repr=False)
    tls: ssl.SSLContext | None = field(default=None, repr=False)

    def send(
        self, method: str, url: str, *, headers: Mapping[str, str] | None = None, body: bytes = b"", follow: int = 0
    ) -> Answer:
        """Ask, and read the answer to its end. Raises a NeighbourError, in words.

        A redirect is an answer like others, unless some are to be followed: then each is looked at as the first
        address was, never from https to http, and to another host goes neither body nor header of ours.
        """
        until = time.monotonic() + self.limits.whole_s
        asked = _Asked(method, url, {name.lower(): said for name, said in (headers or {}).items()}, body)
        answer = self._ask(asked, until)
        for _ in range(follow):
            if answer.status not in REDIRECTS or not answer.header("location"):
                return answer
            asked = _led_on(asked, answer)
            answer = self._ask(asked, until)
        if follow and answer.status in REDIRECTS:
            raise RefusedError(f"it leads on more than {follow} times")
        return answer

    def fetch(
        self, url: str, into: IO[bytes], wanted: Wanted, *, follow: int = 3, heard: Callable[[int], None] = _nothing
    ) -> Answer:
        """Write what is there into a file, as it comes. The answer has no body; nothing is written of one that is not
        200, whose status is for the caller to judge. Raises a NeighbourError, in words.

        `heard` is told now and then how many bytes there are. Half of a file may be written when an error is raised.
        """
        until = time.monotonic() + self.limits.whole_s
        asked = _Asked("GET", url, {}, b"")
        for _ in range(follow + 1):
            _check_host(read_address(asked.url), wanted.hosts)
            with self._open(asked, until) as answer:
                said = Answer(answer.status_code, dict(answer.headers), b"")
                if said.status not in REDIRECTS or not said.header("location"):
                    if said.status == HERE_IT_IS:
                        _write_all(answer, into, wanted, self.limits.most_bytes, heard)
                    return said
            asked = _led_on(asked, said)
        raise RefusedError(f"it leads on more than {follow} times")

    def _ask(self, asked: _Asked, until: float) -> Answer:
        with self._open(asked, until) as answer:
            body = _read_all(answer, self.limits.most_bytes)
            return Answer(answer.status_code, dict(answer.headers), body)

    @contextmanager
    def _open(self, asked: _Asked, until: float) -> Iterator[httpx.Response]:
        """The answer with its body still to be read, while the connection is open."""
        host = check(asked.url, self.allow).host
        headers = {"accept": "*/*", "accept-encoding": "identity", "user-agent": "Emma-Eval", **asked.headers}
        limits = self.limits
        times = httpx.Timeout(limits.read_s, connect=limits.connect_s)
        with (
            _in_words(host),
            httpx.Client(transport=GuardedTransport(self, until), trust_env=False, timeout=times) as client,
            client.stream(asked.method, asked.url, headers=headers, content=asked.body or None) as answer,
        ):
            yield answer

    def addresses_of(self, host: str, port: int, until: float, *, over_tls: bool) -> list[str]:
        """Every address of a host, each looked at. Raises RefusedError if any one of them may not be opened."""
        try:
            said = _within(until, lambda: self.resolve(host, port))
            ips = [ipaddress.ip_address(each) for each in dict.fromkeys(said)]
        except (OSError, ValueError) as cause:
            raise UnreachableError(f"no machine goes by the name {host}") from cause
        if not ips:
            raise UnreachableError(f"no machine goes by the name {host}")
        for ip in ips:
            look_at(host, ip, self.allow, over_tls=over_tls)
        return [str(ip) for ip in ips]


def _led_on(asked: _Asked, answer: Answer) -> _Asked:
    """What a redirect asks for. Raises RefusedError where it would carry something to where it does not belong."""
    to = urljoin(asked.url, answer.header("location")).partition("#")[0]
    was, now = read_address(asked.url), read_address(to)
    if was.scheme == "https" and now.scheme != "https":
        raise RefusedError(f"{was.host} leads on from https to http")
    is_kept = answer.status in KEEP_THE_BODY or asked.method in {"GET", "HEAD"}
    led = replace(asked, url=to) if is_kept else _Asked("GET", to, _without_body(asked.headers), b"")
    if was.origin == now.origin:
        return led
    if led.body:
        raise RefusedError(f"{was.host} leads on to another host, which is not what this was for")
    return replace(led, headers={name: said for name, said in led.headers.items() if name in CARRIED_TO_OTHERS})


def _check_host(address: Address, hosts: Hosts) -> None:
    if not hosts.name(address.host):
        raise RefusedError(f"{address.host} is not among the hosts that files are taken from")


def _without_body(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: said for name, said in headers.items() if not name.startswith("content-")}


def _within(until: float, work: Callable[[], list[str]]) -> list[str]:
    """Resolving has no time limit of its own: what takes too long is left to end by itself."""
    done: queue.SimpleQueue[list[str] | OSError] = queue.SimpleQueue()

    def resolve() -> None:
        try:
            done.put(work())
        except (OSError, UnicodeError) as fault:
            done.put(fault if isinstance(fault, OSError) else OSError(str(fault)))

    threading.Thread(target=resolve, daemon=True).start()
    try:
        found = done.get(timeout=max(0.0, until - time.monotonic()))
    except queue.Empty as cause:
        raise httpcore.ConnectTimeout("resolving") from cause
    if isinstance(found, OSError):
        raise found
    return found


# --- the connection ---------------------------------------------------------------------------


class GuardedTransport(httpx.BaseTransport):
    """What an httpx client sends by: each connection is looked at by `outgoing`, and all of them end by `until`."""

    def __init__(self, outgoing: Outgoing, until: float) -> None:
        self._guards = {
            scheme: httpcore.ConnectionPool(
                ssl_context=outgoing.tls or _authorities(),
                network_backend=_Guard(outgoing, until, over_tls=scheme == "https"),
            )
            for scheme in ("http", "https")
        }

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        asked = httpcore.Request(
            request.method,
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _as_httpx():
            answer = self._guards[url.scheme].handle_request(asked)
        stream = _Stream(answer.stream)
        return httpx.Response(answer.status, headers=answer.headers, stream=stream, extensions=answer.extensions)

    def close(self) -> None:
        for guard in self._guards.values():
            guard.close()


class _Stream(httpx.SyncByteStream):
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from self._inner

    def close(self) -> None:
        self._inner.close()


class _Guard(httpcore.NetworkBackend):
    """Connects to what was looked at, and to nothing else."""

    def __init__(self, outgoing: Outgoing, until: float, *, over_tls: bool) -> None:
        self._outgoing = outgoing
        self._until = until
        self._over_tls = over_tls
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        until = min(self._until, time.monotonic() + (timeout or 0))
        fault: Exception = httpcore.ConnectError("no address")
        for ip in self._outgoing.addresses_of(host, port, until, over_tls=self._over_tls):
            try:
                stream = self._inner.connect_tcp(ip, port, timeout=_left(until))
                return _Watched(stream, self._until)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as cause:
                fault = cause
        raise fault


class _Watched(httpcore.NetworkStream):
    """A connection that ends in time, however slowly the other side drips."""

    def __init__(self, inner: httpcore.NetworkStream, until: float) -> None:
        self._inner = inner
        self._until = until

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._no_longer(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), A_PIECE):
            self._inner.write(buffer[start : start + A_PIECE], self._no_longer(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        inner = self._inner.start_tls(ssl_context, server_hostname, self._no_longer(timeout))
        return _Watched(inner, self._until)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)

    def _no_longer(self, timeout: float | None) -> float:
        left = _left(self._until)
        return left if timeout is None else min(timeout, left)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the whole time is over")
    return left


@lru_cache(maxsize=1)
def _authorities() -> ssl.SSLContext:
    """Whom we believe: the authorities of this machine, and Mozilla's list, which a small machine may lack."""
    made = ssl.create_default_context()
    made.load_verify_locations(certifi.where())
    return made


# --- the answer -------------------------------------------------------------------------------


def _read_all(answer: httpx.Response, most: int) -> bytes:
    """The body, unpacked. Raises TooLargeError as soon as it is longer than `most`, packed or not."""
    said = answer.headers.get("content-length", "")
    if said.isdecimal() and int(said[:19]) > most:
        raise TooLargeError(_too_large(most))
    unpacker = _unpacker(answer.headers.get("content-encoding", "").strip().lower())
    packed, body = 0, bytearray()
    for piece in answer.iter_raw(A_PIECE):
        packed += len(piece)
        # A bomb goes off one byte past the limit.
        body += unpacker.decompress(piece, most + 1 - len(body)) if unpacker else piece
        if packed > most or len(body) > most:
            raise TooLargeError(_too_large(most))
    if unpacker and packed and not unpacker.eof:
        raise GarbledError("its answer was cut off")
    return bytes(body)


def _write_all(
    answer: httpx.Response, into: IO[bytes], wanted: Wanted, most: int, heard: Callable[[int], None]
) -> None:
    """The body into a file, as it comes. Raises UnwantedError before anything is written, TooLargeError at the first
    byte too many, and TooSlowError where it drips."""
    _check_type(answer, wanted.types)
    said = answer.headers.get("content-length", "")
    if said.isdecimal() and int(said[:19]) > most:
        raise TooLargeError(_too_large(most))
    size, counted, since = 0, 0, time.monotonic()
    for piece in answer.iter_raw():
        size += len(piece)
        if size > most:
            raise TooLargeError(_too_large(most))
        into.write(piece)
        took = time.monotonic() - since
        if took >= wanted.over_s:
            if size - counted < wanted.least_a_s * took:
                raise TooSlowError(f"it sends less than {wanted.least_a_s:,} bytes a second")
            counted, since = size, time.monotonic()
            heard(size)


def _check_type(answer: httpx.Response, types: tuple[str, ...]) -> None:
    found = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if answer.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        raise GarbledError("its answer is packed in a way that was not asked for")
    if not any(found.startswith(each) if each.endswith("/") else found == each for each in types):
        raise UnwantedError(found if _TYPE.fullmatch(found) else "")


def _too_large(most: int) -> str:
    return f"its answer is longer than {most:,} bytes"


def _unpacker(encoding: str) -> zlib._Decompress | None:
    if encoding in {"", "identity"}:
        return None
    if encoding not in {"gzip", "x-gzip", "deflate"}:
        raise GarbledError("its answer is packed in a way that was not asked for")
    return zlib.decompressobj(GZIP_OR_ZLIB)


# --- what went wrong --------------------------------------------------------------------------

_NAMES = (
    *("ConnectTimeout", "ReadTimeout", "WriteTimeout", "PoolTimeout", "ConnectError", "ReadError", "WriteError"),
    *("LocalProtocolError", "RemoteProtocolError", "UnsupportedProtocol"),
)
_AS_HTTPX: dict[type[Exception], type[httpx.TransportError]] = {
    getattr(httpcore, name): getattr(httpx, name) for name in _NAMES
}


@contextmanager
def _as_httpx() -> Iterator[None]:
    """A transport of httpx raises httpx's errors, which have the names of httpcore's."""
    try:
        yield
    except tuple(_AS_HTTPX) as cause:
        raise _AS_HTTPX[type(cause)](str(cause)) from cause


@contextmanager
def _in_words(host: str) -> Iterator[None]:
    """One of our errors for each of theirs. What they say is left out: it may quote the other side."""
    try:
        yield
    except NeighbourError:
        raise
    except (httpx.ConnectTimeout, httpx.PoolTimeout) as cause:
        raise TooSlowError(f"{host} did not take the connection in time") from cause
    except httpx.TimeoutException as cause:
        raise TooSlowError(f"{host} did not answer in full within its time") from cause
    except httpx.ConnectError as cause:
        raise _not_connected(host, cause) from cause
    except httpx.InvalidURL as cause:
        raise RefusedError("it can be read in two ways") from cause
    except (httpx.TransportError, zlib.error, UnicodeError) as cause:
        raise GarbledError(f"{host} broke off, or its answer can't be read") from cause


def _not_connected(host: str, fault: BaseException) -> NeighbourError:
    """Nobody listens, or whoever does is not the one: the reason stands at the bottom of the causes."""
    cause: BaseException | None = fault
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return UntrustedError(f"{host} can't prove that it is {host}: {cause.verify_message}")
        if isinstance(cause, ssl.SSLError):
            return UntrustedError(f"{host} does not speak TLS as it should")
        cause = cause.__cause__ or cause.__context__
    return UnreachableError(f"{host} does not take connections")
