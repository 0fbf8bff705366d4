"""Web addresses in plain text."""

from __future__ import annotations

import pytest

from results.comments.split_links import MOST_LINKS, split_links
from tests.security.payloads import PAYLOADS


def links(text: str) -> list[str]:
    return [part.text for part in split_links(text) if part.is_link]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See https://example.org/a?b=1#c.", ["https://example.org/a?b=1#c"]),
        ("(https://example.org/wiki/Emma_(film))", ["https://example.org/wiki/Emma_(film)"]),
        ("“https://example.org/x”, and\nhttp://example.org", ["https://example.org/x", "http://example.org"]),
        ("https://例え.jp/ページ！", ["https://例え.jp/ページ！"]),
        ("nothing here, not even example.org", []),
        ("javascript:alert(1) data:text/html,x ftp://example.org", []),
        ("https://user:secret@example.org/", []),
        ("http://localhost/x http://10.0.0.1/ http://127.1/ https://", []),
        ("https://example.org\\@evil.example", []),
        ("https://exa\u202emple.org/", []),
    ],
)
def test_it_finds_public_addresses_and_no_others(text: str, found: list[str]) -> None:
    assert links(text) == found


@pytest.mark.parametrize(
    "text", ["", "a https://example.org b", *PAYLOADS, *(f"https://example.org/{p}" for p in PAYLOADS)]
)
def test_nothing_that_was_written_is_lost_or_changed(text: str) -> None:
    assert "".join(part.text for part in split_links(text)) == text


def test_a_flood_of_links_stays_text() -> None:
    assert len(links("https://example.org/ " * 500)) == MOST_LINKS
