"""Which links may be shown and followed, judged by their form alone."""

from __future__ import annotations

import unicodedata

import pytest

from results.filing.links import _is_visible, is_only_too_long, is_public_link

HOSTILE = [
    "",
    " ",
    "drive.example.com/abc",
    "//example.com/a",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "javascript://example.com/%0aalert(1)",
    "java\tscript:alert(1)",
    "java\nscript:alert(1)",
    "\x01javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "ftp://example.com/a",
    "blob:https://example.com/1",
    "view-source:https://example.com",
    "ws://example.com/",
    "ｈttps://example.com/",
    "https:example.com",
    "https:/example.com",
    "https:///example.com",
    "https://",
    "https://?a=1",
    "https://user@example.com/",
    "https://user:secret@example.com/",
    "https://@example.com/",
    "https://example.com;@evil.example/",
    "https://example.com\\@evil.example/",
    "https:\\\\example.com/",
    "https://example.com%40evil.example/",
    "https://exa mple.com/",
    "https://example.com/a b",
    " https://example.com/",
    "https://example.com/\n",
    "https://example.com/\x00",
    "https://example.com/\x7f",
    "https://example.com/\u202egpj.exe",
    "https://exam\u00adple.com/",
    "https://exam\u200bple.com/",
    "https://example.com/\ud800",
    "https://localhost/",
    "https://localhost./",
    "https://recorder.localhost/",
    "https://printer.local/",
    "https://db.internal/",
    "https://nas.lan/",
    "https://box.home.arpa/",
    "https://intranet/",
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://127.1/",
    "http://127.0.0.1:8000/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0x7f.0x1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://08.8.8.8/",
    "http://256.256.256.256/",
    "http://1.2.3.4.5/",
    "http://134744072/",
    "http://0/",
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://172.16.5.4/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://100.64.0.1/",
    "http://198.18.0.1/",
    "http://192.0.2.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://127．0．0．1/",
    "http://１２７.0.0.1/",
    "http://127.0.0.1\ufe0f/",
    "http://127.0.0.1\u3164/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fc00::1]/",
    "http://[fec0::1]/",
    "http://[ff0e::1]/",
    "http://[2001:db8::1]/",
    "http://[v1.fe]/",
    "http://[2001:4860:4860::8888].evil.example/",
    "http://[::1",
    "https://example.com:0/",
    "https://example.com:99999/",
    "https://example.com:８０/",
    "https://example.com:80a/",
    "https://.example.com/",
    "https://example..com/",
    "https://exa<mple.com/",
    "https://example.com\u2044evil.example/",
    "https://" + "a" * 64 + ".com/",
    "https://" + "a." * 130 + "com/",
    "https://example.com/" + "a" * 10_000,
]

HARMLESS = [
    "https://example.com",
    "http://example.com/",
    "HTTPS://EXAMPLE.COM/Path?q=1#t=12",
    "https://recordings.example.test/call-7-0000.webm",
    "https://drive.example.com/file/d/1AbC_def-2/view?usp=sharing",
    "https://example.com:8443/a",
    "https://example.com:/a",
    "https://example.com./a",
    "https://example.com/a?next=https://user@evil.example/",
    "https://example.com/#@evil.example",
    "https://example.com/%E4%B8%89%E6%96%87%E9%AD%9A",
    "https://例え.jp/録音",
    "https://xn--r8jz45g.jp/",
    "https://my_bucket.s3.example.com/a",
    "https://8.8.8.8/a",
    "https://[2001:4860:4860::8888]/a",
    "https://[2001:4860:4860::8888]:8443/a",
    "https://1password.example/",
    "https://example.com/" + "a" * 1_900,
]


def test_there_are_enough_hostile_links() -> None:
    assert len(HOSTILE) >= 60


@pytest.mark.parametrize("link", HOSTILE, ids=lambda link: ascii(link)[:60])
def test_it_refuses(link: str) -> None:
    assert not is_public_link(link)


@pytest.mark.parametrize("link", HARMLESS, ids=lambda link: ascii(link)[:60])
def test_it_accepts(link: str) -> None:
    assert is_public_link(link)


def test_of_all_characters_it_refuses_those_that_are_not_seen() -> None:
    every = [chr(number) for number in range(0x110000)]
    unseen = [c for c in every if c.isspace() or unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Cn"}]
    assert [c for c in every if c != "\\" and not _is_visible(c)] == unseen


@pytest.mark.parametrize(
    ("link", "is_it"),
    [
        ("https://example.com/".ljust(2_000, "a"), False),
        ("https://example.com/".ljust(2_001, "a"), True),
        ("https://10.0.0.1/".ljust(2_001, "a"), False),
        ("javascript:".ljust(9_000, "a"), False),
    ],
)
def test_a_long_link_is_only_too_long_if_it_leads_somewhere(link: str, is_it: bool) -> None:
    assert is_only_too_long(link) is is_it
