"""A large answer into a file, from known hosts alone, against real servers on loopback."""

from __future__ import annotations

import gzip
import io
import os
import socket
import time
import tracemalloc
from pathlib import Path
from typing import IO

import pytest

from emma_eval.adapters.addresses import Allowed, Hosts, UnreadableError
from emma_eval.adapters.errors import (
    GarbledError,
    NeighbourError,
    RefusedError,
    TooLargeError,
    TooSlowError,
    UnwantedError,
)
from emma_eval.adapters.outgoing import Limits, Outgoing, Wanted
from tests.receivers import Talk, answer, in_turn, raw, redirect, serving

from .certificates import Authority
from .test_outgoing import HERE, OK, leads_to

TYPES = ("video/", "audio/", "application/octet-stream")
WANTED = Wanted(Hosts.read(["127.0.0.1"]), TYPES, least_a_s=100, over_s=0.2)
SHORT = Limits(connect_s=0.5, read_s=0.5, whole_s=2, most_bytes=50_000)
VIDEO = OK + b"Content-Type: video/mp4\r\n"


class Emptied(io.RawIOBase):
    """A file that counts what is written and keeps none of it."""

    size = 0

    def write(self, piece: object) -> int:
        self.size += len(piece)  # type: ignore[arg-type]
        return len(piece)  # type: ignore[arg-type]


def test_it_is_written_as_it_comes() -> None:
    body, into = os.urandom(50_000), io.BytesIO()
    with serving(answer(body=body, Content_Type="Video/MP4; codecs=x")) as there:
        got = Outgoing(HERE, SHORT).fetch(there.url, into, WANTED)
    assert (got.status, got.body, into.getvalue()) == (200, b"", body)


def test_a_large_one_takes_no_memory() -> None:
    size, into = 60_000_000, Emptied()
    pieces = [VIDEO + f"Content-Length: {size}\r\n\r\n".encode(), *[bytes(1_000_000)] * 60]
    with serving(raw(*pieces)) as there:
        tracemalloc.start()
        Outgoing(HERE, Limits(most_bytes=size)).fetch(there.url, into, WANTED)  # type: ignore[arg-type]
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert into.size == size
    assert most < 5_000_000


@pytest.mark.parametrize("media_type", ["audio/mpeg", "video/webm", "application/octet-stream"])
def test_sound_video_and_what_says_no_more_are_taken(media_type: str) -> None:
    into = io.BytesIO()
    with serving(answer(body=b"x", Content_Type=media_type)) as there:
        Outgoing(HERE, SHORT).fetch(there.url, into, WANTED)
    assert into.getvalue() == b"x"


@pytest.mark.parametrize(
    ("media_type", "told"),
    [
        ("text/html; charset=utf-8", "text/html"),
        ("application/octet-stream-of-lies", "application/octet-stream-of-lies"),
        ("", ""),
        ("<script>/x", ""),
        ("xvideo/mp4", "xvideo/mp4"),
    ],
)
def test_of_another_type_nothing_is_written(media_type: str, told: str) -> None:
    into = io.BytesIO()
    with serving(answer(body=b"<html>", Content_Type=media_type)) as there, pytest.raises(UnwantedError) as fault:
        Outgoing(HERE, SHORT).fetch(there.url, into, WANTED)
    assert (fault.value.media_type, fault.value.may_retry, into.getvalue()) == (told, False, b"")


def test_what_is_not_there_is_told_by_its_status() -> None:
    into = io.BytesIO()
    with serving(answer(404, b"gone", Content_Type="video/mp4")) as there:
        assert Outgoing(HERE, SHORT).fetch(there.url, into, WANTED).status == 404
    assert into.getvalue() == b""


# --- from where -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "host", "is_named"),
    [
        ([], "a.example", False),
        (["a.example"], "a.example", True),
        (["A.Example"], "a.EXAMPLE", True),
        (["a.example"], "b.a.example", False),
        (["a.example"], "aa.example", False),
        (["*.a.example"], "b.a.example", True),
        (["*.a.example"], "c.b.a.example", True),
        (["*.a.example"], "a.example", False),
        (["*.a.example"], "ba.example", False),
        (["*.a.example"], "a.example.evil.example", False),
        (["127.0.0.1"], "127.0.0.1", True),
    ],
)
def test_a_host_is_named_exactly_or_by_what_it_stands_below(entries: list[str], host: str, is_named: bool) -> None:
    assert Hosts.read(entries).name(host) is is_named


@pytest.mark.parametrize(
    "entry", ["*", "*.", "*.org", "a.*.example", "https://a.example", "a.example/x", "a b", "0x7f.1"]
)
def test_what_is_no_host_is_refused(entry: str) -> None:
    with pytest.raises(UnreadableError):
        Hosts.read([entry])


def test_from_another_host_nothing_is_asked() -> None:
    with serving(answer(Content_Type="video/mp4"), "127.0.0.2") as there, pytest.raises(RefusedError) as fault:
        Outgoing(Allowed.read(["127.0.0.0/8"]), SHORT).fetch(there.url, io.BytesIO(), WANTED)
    assert str(fault.value) == "127.0.0.2 is not among the hosts that files are taken from"
    assert there.heard == []


def test_a_redirect_leads_to_named_hosts_alone() -> None:
    with serving(answer(body=b"x", Content_Type="video/mp4"), "127.0.0.2") as other:
        with serving(redirect(other.url)) as there, pytest.raises(RefusedError, match=r"^127\.0\.0\.2 is not among"):
            Outgoing(Allowed.read(["127.0.0.0/8"]), SHORT).fetch(there.url, io.BytesIO(), WANTED)
        assert other.heard == []


def test_a_redirect_within_them_is_followed() -> None:
    into = io.BytesIO()
    with serving(in_turn(redirect("/there"), answer(body=b"there", Content_Type="video/mp4"))) as there:
        Outgoing(HERE, SHORT).fetch(there.url, into, WANTED)
    assert into.getvalue() == b"there"


def test_redirects_end() -> None:
    with serving(redirect("/again")) as there, pytest.raises(RefusedError, match="more than 3 times"):
        Outgoing(HERE, SHORT).fetch(there.url, io.BytesIO(), WANTED)


@pytest.mark.parametrize("ip", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1"])
def test_a_named_host_that_leads_inside_is_refused(ip: str) -> None:
    wanted = Wanted(Hosts.read(["*.video.example"]), TYPES, least_a_s=1)
    way = Outgoing(limits=SHORT, resolve=leads_to(ip))
    with serving(answer(Content_Type="video/mp4")) as there, pytest.raises(RefusedError, match="which this site"):
        way.fetch(f"https://cdn.video.example:{there.port}/", io.BytesIO(), wanted)
    assert there.heard == []


def test_a_redirect_to_a_named_host_that_leads_inside_is_refused(tmp_path: Path) -> None:
    """Over TLS, as it would be: the first host is what it says, and the second is named, too, but lies inside."""
    wanted, authority = Wanted(Hosts.read(["*.video.example"]), TYPES, least_a_s=1), Authority(tmp_path)

    def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"] if host == "good.video.example" else ["10.0.0.1"]

    tls = authority.server_for("good.video.example")
    way = Outgoing(Allowed.read(["good.video.example"]), SHORT, resolve=resolve, tls=authority.trusting())
    with serving(redirect("https://bad.video.example/x"), tls=tls) as there, pytest.raises(RefusedError) as fault:
        way.fetch(f"https://good.video.example:{there.port}/", io.BytesIO(), wanted)
    assert str(fault.value) == "bad.video.example is a private address, which this site does not open"
    assert len(there.heard) == 1


def test_a_name_that_leads_inside_a_moment_later_gains_nothing() -> None:
    answers = iter([["127.0.0.2"], ["127.0.0.1"]])
    wanted = Wanted(Hosts.read(["rebinds.example"]), TYPES, least_a_s=1)
    with serving(redirect("/there"), "127.0.0.2") as good, socket.create_server(("127.0.0.1", good.port)) as bad:
        bad.settimeout(0.2)
        way = Outgoing(Allowed.read(["127.0.0.2"]), SHORT, resolve=lambda host, port: next(answers))
        with pytest.raises(RefusedError, match="own address"):
            way.fetch(f"http://rebinds.example:{good.port}/", io.BytesIO(), wanted)
        with pytest.raises(TimeoutError):
            bad.accept()


# --- how much, how fast, and whether it is all ---------------------------------------------------


@pytest.mark.parametrize(
    "talk",
    [
        answer(body=b"x" * 50_001, Content_Type="video/mp4"),
        raw(VIDEO + b"Content-Length: 999999999999\r\n\r\n"),
        raw(VIDEO + b"\r\n", *([b"x" * 10_000] * 50)),
        raw(VIDEO + b"Transfer-Encoding: chunked\r\n\r\n", *([b"2710\r\n" + b"x" * 10_000 + b"\r\n"] * 50)),
    ],
    ids=["one byte too many", "as it says", "to the end", "chunks"],
)
def test_what_is_too_large_is_not_written_to_its_end(talk: Talk) -> None:
    into = io.BytesIO()
    with serving(talk) as there, pytest.raises(TooLargeError, match="longer than 50,000 bytes"):
        Outgoing(HERE, SHORT).fetch(there.url, into, WANTED)
    assert len(into.getvalue()) <= 50_000


@pytest.mark.parametrize(
    "talk",
    [
        raw(VIDEO + b"Content-Length: 10\r\n\r\n12345"),
        raw(VIDEO + b"Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n"),
        answer(body=gzip.compress(b"x"), Content_Encoding="gzip", Content_Type="video/mp4"),
    ],
    ids=["shorter than it says", "without its last chunk", "packed"],
)
def test_half_a_file_is_none_and_may_be_tried_again(talk: Talk) -> None:
    with serving(talk) as there, pytest.raises(GarbledError) as fault:
        Outgoing(HERE, SHORT).fetch(there.url, io.BytesIO(), WANTED)
    assert fault.value.may_retry


@pytest.mark.parametrize(
    ("limits", "wanted"),
    [
        (Limits(read_s=5, whole_s=30), WANTED),  # too little comes, though never long nothing
        (Limits(read_s=5, whole_s=0.6), Wanted(WANTED.hosts, TYPES, least_a_s=1)),  # as fast as it must, too long
        (Limits(read_s=0.03, whole_s=30), Wanted(WANTED.hosts, TYPES, least_a_s=1)),  # nothing comes for too long
    ],
    ids=["drips", "whole time", "silence"],
)
def test_whoever_is_slow_is_left(limits: Limits, wanted: Wanted) -> None:
    drips = raw(VIDEO + b"Content-Length: 1000\r\n\r\n", *([b"x"] * 100), every_s=0.05)
    began = time.monotonic()
    with serving(drips) as there, pytest.raises(TooSlowError):
        Outgoing(HERE, limits).fetch(there.url, io.BytesIO(), wanted)
    assert time.monotonic() - began < 2


def test_whoever_waits_is_told_how_much_there_is() -> None:
    heard: list[int] = []
    pieces = raw(VIDEO + b"Content-Length: 3000\r\n\r\n", *([b"x" * 100] * 30), every_s=0.02)
    with serving(pieces) as there:
        Outgoing(HERE, SHORT).fetch(there.url, io.BytesIO(), WANTED, heard=heard.append)
    assert heard
    assert heard == sorted(heard)
    assert heard[-1] <= 3000


def test_a_file_that_takes_no_more_is_the_callers_to_tell() -> None:
    class Full(io.RawIOBase):
        def write(self, piece: object) -> int:
            raise OSError(28, "No space left on device")

    full: IO[bytes] = Full()  # type: ignore[assignment]
    with serving(answer(body=b"x", Content_Type="video/mp4")) as there, pytest.raises(OSError, match="No space"):
        Outgoing(HERE, SHORT).fetch(there.url, full, WANTED)


def test_what_went_wrong_names_the_host_alone() -> None:
    with serving(raw(VIDEO + b"Content-Length: 9\r\n\r\nsec")) as there, pytest.raises(NeighbourError) as fault:
        Outgoing(HERE, SHORT).fetch(f"{there.url}/sec-ret?k=sec-ret", io.BytesIO(), WANTED)
    assert "127.0.0.1" in str(fault.value)
    assert "sec-ret" not in str(fault.value)
