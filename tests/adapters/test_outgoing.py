"""The one way out, against real servers on loopback."""

from __future__ import annotations

import gzip
import os
import socket
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from emma_eval.adapters.addresses import Allowed
from emma_eval.adapters.errors import (
    GarbledError,
    NeighbourError,
    RefusedError,
    TooLargeError,
    TooSlowError,
    UnreachableError,
    UntrustedError,
)
from emma_eval.adapters.outgoing import Limits, Outgoing
from tests.receivers import Receiver, Talk, answer, in_turn, raw, redirect, serving

from .certificates import Authority
from .test_addresses import HOSTILE

HERE = Allowed.read(["127.0.0.1"])
SHORT = Limits(connect_s=0.5, read_s=0.5, whole_s=1.2, most_bytes=50_000)
OK = b"HTTP/1.1 200 OK\r\n"


def leads_to(*ips: str) -> Callable[[str, int], list[str]]:
    """A resolver for which every name leads to these."""
    return lambda host, port: list(ips)


def test_it_asks_and_reads_the_whole_answer() -> None:
    with serving(answer(201, b'{"a": 1}', Content_Type="application/json")) as there:
        got = Outgoing(HERE).send("POST", there.url + "?k=a%20b", headers={"X-One": "1"}, body=b"body")
    assert (got.status, got.body, got.header("content-type")) == (201, b'{"a": 1}', "application/json")
    [heard] = there.heard
    assert (heard.method, heard.path, heard.body) == ("POST", "/hook?k=a%20b", b"body")
    assert heard.headers["host"] == f"127.0.0.1:{there.port}"
    assert heard.headers["x-one"] == "1"
    assert heard.headers["user-agent"] == "Emma-Eval"
    assert "cookie" not in heard.headers


@pytest.mark.parametrize("url", HOSTILE, ids=lambda url: ascii(url)[1:60])
def test_nothing_is_resolved_for_a_hostile_address(url: str) -> None:
    def resolve(host: str, port: int) -> list[str]:
        raise AssertionError(host)

    with pytest.raises(RefusedError):
        Outgoing(resolve=resolve).send("GET", url)


# --- where a name leads -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "ip",
    [
        *(
            "127.0.0.1",
            "10.0.0.1",
            "172.20.1.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
        ),
        *("::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:1::", "fe80::1%1", "fd00::1", "::"),
    ],
)
def test_a_name_that_leads_inside_is_refused_without_a_connection(ip: str) -> None:
    with serving(answer()) as there, pytest.raises(RefusedError, match=r"^hooks\.example is .*, which this site"):
        Outgoing(resolve=leads_to(ip)).send("GET", f"https://hooks.example:{there.port}/")
    assert there.heard == []


def test_one_bad_address_among_good_ones_is_enough() -> None:
    with pytest.raises(RefusedError, match="a private address"):
        Outgoing(resolve=leads_to("93.184.215.14", "10.0.0.1")).send("GET", "https://hooks.example/")


def test_a_name_that_leads_elsewhere_a_moment_later_gains_nothing() -> None:
    """DNS rebinding: what is looked at is what is connected to. A second look would find another address."""
    answers = iter([["127.0.0.2"], ["127.0.0.1"], ["127.0.0.1"]])
    asked: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return next(answers)

    with serving(answer(body=b"good"), "127.0.0.2") as good, socket.create_server(("127.0.0.1", good.port)) as bad:
        bad.settimeout(0.2)
        way = Outgoing(Allowed.read(["127.0.0.2"]), resolve=resolve)
        assert way.send("GET", f"http://rebinds.example:{good.port}/").body == b"good"
        assert asked == ["rebinds.example"]
        with pytest.raises(RefusedError):
            way.send("GET", f"http://rebinds.example:{good.port}/")
        with pytest.raises(TimeoutError):
            bad.accept()
    assert good.heard[0].headers["host"] == f"rebinds.example:{good.port}"


def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    with serving(answer(body=b"good"), "127.0.0.3") as there:
        way = Outgoing(Allowed.read(["127.0.0.0/8"]), resolve=leads_to("127.0.0.4", "127.0.0.3"))
        assert way.send("GET", f"http://two.example:{there.port}/").body == b"good"


def test_over_plain_http_only_what_is_named_is_opened() -> None:
    with pytest.raises(RefusedError, match="EMMA_OUTGOING_ALLOW"):
        Outgoing(HERE, resolve=leads_to("93.184.215.14")).send("GET", "http://public.example/")


def test_no_name_no_listener_and_no_resolver_are_told_apart() -> None:
    def fails(host: str, port: int) -> list[str]:
        raise socket.gaierror("no")

    with pytest.raises(UnreachableError, match=r"no machine goes by the name gone\.example"):
        Outgoing(resolve=fails).send("GET", "https://gone.example/")
    with pytest.raises(UnreachableError, match="no machine goes by the name"):
        Outgoing(resolve=leads_to()).send("GET", "https://gone.example/")
    with pytest.raises(UnreachableError, match="does not take connections"):
        Outgoing(HERE).send("GET", "http://127.0.0.1:1/")


def test_a_resolver_that_hangs_is_not_waited_for() -> None:
    let_go = threading.Event()

    def hangs(host: str, port: int) -> list[str]:
        let_go.wait(5)
        return []

    began = time.monotonic()
    with pytest.raises(TooSlowError):
        Outgoing(limits=SHORT, resolve=hangs).send("GET", "https://slow.example/")
    assert time.monotonic() - began < 1.5
    let_go.set()


def test_nothing_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password word")
    with serving(answer(body=b"proxy")) as proxy, serving(answer(body=b"straight")) as there:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"):
            monkeypatch.setitem(os.environ, name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setitem(os.environ, "NETRC", str(tmp_path / "netrc"))
        assert Outgoing(HERE).send("GET", there.url).body == b"straight"
    assert proxy.heard == []
    assert "authorization" not in there.heard[0].headers


# --- TLS --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def over_tls(authority: Authority, there: Receiver, host: str, **more: object) -> bytes:
    way = Outgoing(Allowed.read([host]), SHORT, resolve=leads_to("127.0.0.1"), tls=authority.trusting())
    return way.send("GET", f"https://{host}:{there.port}/").body


def test_tls_is_checked_against_the_name_though_the_connection_goes_to_an_address(authority: Authority) -> None:
    asked_for: list[str | None] = []
    tls = authority.server_for("right.example")
    tls.sni_callback = lambda connection, name, context: asked_for.append(name)
    with serving(answer(body=b"proven"), tls=tls) as there:
        assert over_tls(authority, there, "right.example") == b"proven"
    assert asked_for == ["right.example"]


def test_a_certificate_for_another_name_is_no_proof(authority: Authority) -> None:
    is_none = pytest.raises(UntrustedError, match=r"right\.example can't prove that it is right\.example")
    with serving(answer(), tls=authority.server_for("other.example")) as there, is_none:
        over_tls(authority, there, "right.example")
    assert there.heard == []


def test_a_certificate_that_is_over_is_no_proof(authority: Authority) -> None:
    is_over = pytest.raises(UntrustedError, match="expired")
    with serving(answer(), tls=authority.server_for("right.example", days=-1)) as there, is_over:
        over_tls(authority, there, "right.example")


def test_an_authority_that_nobody_knows_is_no_proof(authority: Authority) -> None:
    with serving(answer(), tls=authority.server_for("right.example")) as there:
        way = Outgoing(Allowed.read(["right.example"]), SHORT, resolve=leads_to("127.0.0.1"))
        with pytest.raises(UntrustedError):
            way.send("GET", f"https://right.example:{there.port}/")
    assert there.heard == []


def test_whoever_speaks_no_tls_is_told_so(authority: Authority) -> None:
    with serving(answer()) as there, pytest.raises(NeighbourError) as fault:
        over_tls(authority, there, "right.example")
    assert isinstance(fault.value, UntrustedError | TooSlowError)


# --- redirects --------------------------------------------------------------------------------


def test_a_redirect_is_an_answer_unless_it_is_to_be_followed() -> None:
    with serving(redirect("/elsewhere")) as there:
        assert Outgoing(HERE).send("GET", there.url).status == 302
    assert len(there.heard) == 1


def test_a_redirect_that_is_asked_for_is_followed_and_looked_at() -> None:
    with serving(in_turn(redirect("../other#part"), answer(body=b"there"))) as there:
        assert Outgoing(HERE).send("GET", there.url, headers={"X-Key": "k"}, follow=2).body == b"there"
    assert [heard.path for heard in there.heard] == ["/hook", "/other"]
    assert there.heard[1].headers["x-key"] == "k"


@pytest.mark.parametrize(
    "to",
    [
        "http://169.254.169.254/",
        "http://10.0.0.1/",
        "file:///etc/passwd",
        "//127.1/",
        "gopher://a/",
        "http://me@127.0.0.1/",
        "http://2130706433/",
        "http://[::1]/",
        "https://a b/",
        "\\\\127.0.0.2\\a",
    ],
)
def test_a_redirect_to_where_nobody_may_go_is_refused(to: str) -> None:
    with serving(redirect(to)) as there, pytest.raises(RefusedError):
        Outgoing(HERE).send("GET", there.url, follow=3)
    assert len(there.heard) == 1


def test_redirects_come_to_an_end() -> None:
    with serving(redirect("/again")) as there, pytest.raises(RefusedError, match="more than 3 times"):
        Outgoing(HERE).send("GET", there.url, follow=3)
    assert len(there.heard) == 4


def test_from_https_nothing_leads_to_http(authority: Authority) -> None:
    with (
        serving(answer()) as plain,
        serving(redirect(f"http://127.0.0.1:{plain.port}/"), tls=authority.server_for("right.example")) as there,
    ):
        allow = Allowed.read(["127.0.0.1", "right.example"])
        way = Outgoing(allow, SHORT, resolve=leads_to("127.0.0.1"), tls=authority.trusting())
        with pytest.raises(RefusedError, match="from https to http"):
            way.send("GET", f"https://right.example:{there.port}/", follow=3)
    assert plain.heard == []


def test_keys_and_signatures_are_not_carried_to_another_host() -> None:
    keys = {
        "Authorization": "Bearer k",
        "Cookie": "a=b",
        "webhook-signature": "v1,k",
        "X-Api-Key": "k",
        "Accept": "a/b",
    }
    with serving(answer()) as other, serving(redirect(other.url)) as there:
        Outgoing(HERE).send("GET", there.url, headers=keys, follow=1)
    assert set(other.heard[0].headers) == {"host", "accept", "accept-encoding", "connection", "user-agent"}
    assert other.heard[0].headers["accept"] == "a/b"


@pytest.mark.parametrize("status", [307, 308])
def test_a_body_is_not_carried_to_another_host(status: int) -> None:
    is_refused = pytest.raises(RefusedError, match="leads on to another host")
    with serving(answer()) as other, serving(redirect(other.url, status)) as there, is_refused:
        Outgoing(HERE).send("POST", there.url, body=b"secret", follow=1)
    assert other.heard == []


@pytest.mark.parametrize(("status", "method", "body"), [(303, "GET", b""), (302, "GET", b""), (307, "POST", b"said")])
def test_a_redirect_within_a_host_keeps_the_body_where_it_says_so(status: int, method: str, body: bytes) -> None:
    with serving(in_turn(redirect("/other", status), answer())) as there:
        Outgoing(HERE).send("POST", there.url, headers={"Content-Type": "a/b"}, body=b"said", follow=1)
    assert (there.heard[1].method, there.heard[1].body) == (method, body)
    assert ("content-type" in there.heard[1].headers) == bool(body)


# --- time -------------------------------------------------------------------------------------


def drip(piece: bytes = b"x", head: bytes = OK + b"Content-Length: 100\r\n\r\n") -> Talk:
    return raw(head, *([piece] * 100), every_s=0.05)


@pytest.mark.parametrize(
    "talk",
    [
        raw(hangs_s=3),
        raw(OK, hangs_s=3),
        raw(OK + b"Content-Length: 10\r\n\r\n12345", hangs_s=3),
        drip(),
        drip(b"X-Header: drips\r\n", OK),
        drip(b"1\r\nx\r\n", OK + b"Transfer-Encoding: chunked\r\n\r\n"),
        drip(b"HTTP/1.1 103 Early\r\n\r\n", b""),
        drip(b"H", b""),
    ],
    ids=["silence", "no head", "half a body", "body", "headers", "chunks", "early answers", "first line"],
)
def test_whoever_is_slow_in_any_way_is_left_in_time(talk: Talk) -> None:
    began = time.monotonic()
    with serving(talk) as there, pytest.raises(NeighbourError) as fault:
        Outgoing(HERE, SHORT).send("GET", there.url)
    assert time.monotonic() - began < 2.5
    assert fault.value.may_retry
    assert isinstance(fault.value, TooSlowError) or "can't be read" in str(fault.value)


def test_redirects_that_are_slow_have_one_time_together() -> None:
    with serving(raw(b"HTTP/1.1 302 Said\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n")) as there:
        slow = there.talk

        def after_a_while(connection: socket.socket, heard: object) -> None:
            time.sleep(0.4)
            slow(connection, heard)  # type: ignore[arg-type]

        there.talk = after_a_while
        began = time.monotonic()
        with pytest.raises(TooSlowError):
            Outgoing(HERE, SHORT).send("GET", there.url, follow=20)
        assert time.monotonic() - began < 2.5


def test_a_door_that_never_opens_is_left_in_time() -> None:
    """A full queue of connections, so that no further one is taken."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as door:
        port = door.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(("127.0.0.1", port))
        began = time.monotonic()
        with pytest.raises(TooSlowError, match="did not take the connection in time"):
            Outgoing(HERE, SHORT).send("GET", f"http://127.0.0.1:{port}/")
        assert time.monotonic() - began < 2
        for each in waiting:
            each.close()


# --- size -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "talk",
    [
        answer(body=b"x" * 50_001),
        raw(OK + b"Content-Length: 999999999999\r\n\r\n"),
        raw(OK + b"\r\n", *([b"x" * 10_000] * 50)),
        raw(OK + b"Transfer-Encoding: chunked\r\n\r\n", *([b"2710\r\n" + b"x" * 10_000 + b"\r\n"] * 50)),
        answer(body=gzip.compress(b"\0" * 20_000_000), Content_Encoding="gzip"),
        answer(body=zlib.compress(b"\0" * 20_000_000), Content_Encoding="deflate"),
        answer(body=gzip.compress(b"\0" * 50_001), Content_Encoding="GZIP"),
    ],
    ids=["one byte too many", "as it says", "to the end", "chunks", "gzip bomb", "deflate bomb", "gzip, one too many"],
)
def test_an_answer_that_is_too_long_is_not_read_to_its_end(talk: Talk) -> None:
    with serving(talk) as there, pytest.raises(TooLargeError, match="longer than 50,000 bytes") as fault:
        Outgoing(HERE, SHORT).send("GET", there.url)
    assert not fault.value.may_retry


def test_a_bomb_takes_no_more_memory_than_the_limit() -> None:
    import tracemalloc

    bomb = gzip.compress(b"\0" * 100_000_000)
    with serving(answer(body=bomb, Content_Encoding="gzip")) as there:
        tracemalloc.start()
        with pytest.raises(TooLargeError):
            Outgoing(HERE, Limits(most_bytes=200_000)).send("GET", there.url)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert most < 5_000_000


@pytest.mark.parametrize("size", [0, 1, 50_000])
@pytest.mark.parametrize("encoding", ["", "identity", "gzip", "deflate"])
def test_an_answer_of_the_full_length_is_read_whole(size: int, encoding: str) -> None:
    body = os.urandom(size // 2).hex().encode() if size > 1 else b"x" * size
    packed = {"gzip": gzip.compress, "deflate": zlib.compress}.get(encoding, bytes)(body)
    with serving(answer(body=packed, **({"Content_Encoding": encoding} if encoding else {}))) as there:
        assert Outgoing(HERE, SHORT).send("GET", there.url).body == body


# --- answers that are none --------------------------------------------------------------------


@pytest.mark.parametrize(
    "talk",
    [
        raw(OK + b"Content-Length: 10\r\n\r\n12345"),
        raw(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n"),
        raw(b"SSH-2.0-OpenSSH\r\n"),
        raw(b""),
        raw(b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n"),
        raw(b"HTTP/1.1 abc OK\r\n\r\n"),
        raw(OK + b"Content-Length: ten\r\n\r\n"),
        raw(OK + b"X: " + b"y" * 300_000 + b"\r\n\r\n"),
        answer(body=b"no gzip", Content_Encoding="gzip"),
        answer(body=gzip.compress(os.urandom(2_000))[:-40], Content_Encoding="gzip"),
        answer(body=b"what", Content_Encoding="br"),
        answer(body=b"what", Content_Encoding="gzip, gzip"),
    ],
    ids=[
        *(
            "cut off",
            "cut chunks",
            "another protocol",
            "nothing",
            "no header",
            "no status",
            "no length",
            "endless header",
        ),
        *("no gzip", "cut gzip", "another packing", "packed twice"),
    ],
)
def test_what_can_not_be_read_is_told_and_may_be_tried_again(talk: Talk) -> None:
    with serving(talk) as there, pytest.raises(GarbledError) as fault:
        Outgoing(HERE, SHORT).send("GET", there.url)
    assert fault.value.may_retry


def test_what_went_wrong_names_the_host_alone() -> None:
    """An address, a header and an answer may hold keys; a text of an error goes to pages and logs."""
    with serving(raw(OK + b"Content-Length: 9\r\n\r\nsec-ret")) as there, pytest.raises(NeighbourError) as fault:
        Outgoing(HERE, SHORT).send("POST", f"{there.url}/sec-ret?k=sec-ret", headers={"K": "sec-ret"}, body=b"sec-ret")
    assert "127.0.0.1" in str(fault.value)
    assert "sec-ret" not in str(fault.value)
