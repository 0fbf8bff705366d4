"""The labels of the old sheet: how words are compared, and how a list of tags is taken apart."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from scripts_catalog import taxonomy

NOTHING = frozenset({"", "n/a", "na", "n.a.", "#n/a", "-", "none"})
MOST_REMEMBERED_CHARACTERS = 200
_LOOKALIKES = str.maketrans({"‘": "'", "’": "'", "ʼ": "'", "`": "'", "´": "'", "‐": "-", "‑": "-", "–": "-", "—": "-"})


def plain(text: str) -> str:
    """Words as they are compared: without case, spaces and the many shapes of apostrophes and hyphens."""
    return _remembered(text) if len(text) <= MOST_REMEMBERED_CHARACTERS else _plain(text)


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text.translate(_LOOKALIKES)).translate(_LOOKALIKES).casefold()
    return "".join(folded.split())


# A sheet says the same few words in every row.
_remembered = lru_cache(maxsize=4096)(_plain)
TAG_OF_LABEL = {plain(tag.label): tag.key for tag in taxonomy.TAG_BY_KEY.values()}
_LONGEST_FIRST = sorted(TAG_OF_LABEL, key=len, reverse=True)
_SEPARATORS = ",;"
_SEPARATOR = re.compile(f"[{_SEPARATORS}]")
MOST_LIST_CHARACTERS = 4_000


def tags_in(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tags of a list joined by ", ", in its order, and the words in it that are no tag.

    Some labels hold commas, so the list is not split: at each place the longest label that fits is taken.
    A cell that is longer than all tags together is no list of tags, and is not searched for any.
    """
    if len(text) > MOST_LIST_CHARACTERS:
        return (), (text,)
    return _tags_in(text)


@lru_cache(maxsize=4096)
def _tags_in(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    words = plain(text.strip().replace("\n", ", "))
    if words in NOTHING:
        return (), ()
    tags: list[str] = []
    unknown: list[str] = []
    at = 0
    while at < len(words):
        if words[at] in _SEPARATORS:
            at += 1
            continue
        label = _label_at(words, at)
        if label:
            tags.append(TAG_OF_LABEL[label])
        else:
            label = words[at : _end_of_word(words, at)]
            unknown.append(label)
        at += len(label)
    return tuple(tags), tuple(unknown)


def _label_at(words: str, at: int) -> str | None:
    for label in _LONGEST_FIRST:
        end = at + len(label)
        if words.startswith(label, at) and words[end : end + 1] in {"", *_SEPARATORS}:
            return label
    return None


def _end_of_word(words: str, at: int) -> int:
    found = _SEPARATOR.search(words, at)
    return found.start() if found else len(words)
