"""Plain text in parts: words, and web addresses that people may follow. No markup is read out of it, none is made."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..filing.links import is_public_link

MOST_LINKS = 50
_ADDRESS = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_ENDS_A_SENTENCE = ".,;:!?'…»”’"
_PAIRS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True)
class Part:
    """A piece of text, as it was written; `is_link` where it is an address that leads to a public host."""

    text: str
    is_link: bool = False


def split_links(text: str) -> list[Part]:
    """The whole text in order: the parts put together are what was written, to the letter."""
    parts: list[Part] = []
    end = 0
    for found in _ADDRESS.finditer(text):
        link = _without_its_end(found.group())
        if not is_public_link(link) or sum(part.is_link for part in parts) >= MOST_LINKS:
            continue
        parts += [Part(text[end : found.start()]), Part(link, is_link=True)]
        end = found.start() + len(link)
    return [part for part in [*parts, Part(text[end:])] if part.text]


def _without_its_end(address: str) -> str:
    """An address at the end of a sentence or in brackets doesn't have their signs; one may well end in a bracket."""
    while address:
        last = address[-1]
        is_odd_bracket = last in _PAIRS and address.count(last) > address.count(_PAIRS[last])
        if last not in _ENDS_A_SENTENCE and not is_odd_bracket:
            break
        address = address[:-1]
    return address
