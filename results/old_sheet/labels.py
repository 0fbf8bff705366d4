"""The labels of the old sheet: how words are compared, and how a list of tags is taken apart."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from scripts_catalog import taxonomy

NOTHING = frozenset({"", "n/a", "na", "n.a.", "#n/a", "-", "none"})
_LOOKALIKES = str.maketrans({"‘": "'", "’": "'", "ʼ": "'", "`": "'", "´": "'", "‐": "-", "‑": "-", "–": "-", "—": "-"})


def plain(text: str) -> str:
    """Words as they are compared: without case, spaces and the many shapes of apostrophes and hyphens."""
    folded = unicodedata.normalize("NFKC", text.translate(_LOOKALIKES)).translate(_LOOKALIKES).casefold()
    return "".join(folded.split())


TAG_OF_LABEL = {plain(tag.label): tag.key for tag in taxonomy.TAG_BY_KEY.values()}
_LONGEST_FIRST = sorted(TAG_OF_LABEL, key=len, reverse=True)
_SEPARATORS = ",;"


@lru_cache(maxsize=4096)
def tags_in(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tags of a list joined by ", ", in its order, and the words in it that are no tag.

    Some labels hold commas, so the list is not split: at each place the longest label that fits is taken.
    """
    rest = plain(text.strip().replace("\n", ", "))
    if rest in NOTHING:
        return (), ()
    tags: list[str] = []
    unknown: list[str] = []
    while rest := rest.lstrip(_SEPARATORS):
        label = _label_at_the_start(rest)
        if label:
            tags.append(TAG_OF_LABEL[label])
        else:
            label = re.split(f"[{_SEPARATORS}]", rest, maxsplit=1)[0]
            unknown.append(label)
        rest = rest[len(label) :]
    return tuple(tags), tuple(unknown)


def _label_at_the_start(words: str) -> str | None:
    for label in _LONGEST_FIRST:
        if words.startswith(label) and words[len(label) : len(label) + 1] in {"", *_SEPARATORS}:
            return label
    return None
