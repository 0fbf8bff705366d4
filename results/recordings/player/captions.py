"""Read a transcript in WebVTT (https://www.w3.org/TR/webvtt1/), strictly: what can't be shown as it is, is refused."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from ...models import as_clock
from .clocks import as_seconds

MOST_CAPTIONS_BYTES = 1_000_000
MOST_CUES = 20_000
_TIME = r"(?:([0-9]{2,3}):)?([0-5][0-9]):([0-5][0-9])\.([0-9]{3})"
_TIMING = re.compile(rf"{_TIME}[ \t]+-->[ \t]+{_TIME}((?:[ \t]+[a-z]+:[^ \t]+)*)[ \t]*")
# No place is looked at twice, whatever is in the file: a tag that is not closed ends where the next one begins.
_VOICE = re.compile(r"<v(?:\.[^ \t<>]*)?[ \t]+([^ \t<>][^<>]*)>")
_TAG = re.compile(r"<[^<>]*>")
_CHARACTER = re.compile(r"&(?:#x?[0-9A-Fa-f]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});")


class UnreadableCaptionsError(Exception):
    """Its text says what is wrong with the file, and in which line."""


@dataclass(frozen=True)
class Cue:
    """What is said from one place of the recording to another; `by` is empty where the file names nobody."""

    from_ms: int
    to_ms: int
    by: str
    words: str

    @property
    def at(self) -> str:
        return as_clock(self.from_ms)

    @property
    def seconds(self) -> str:
        return as_seconds(self.from_ms)


def read_captions(content: bytes) -> list[Cue]:
    """All cues, in the order of the file, which must be that of their beginnings. Raises UnreadableCaptionsError."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableCaptionsError("This is no text in UTF-8.") from None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not re.fullmatch(r"WEBVTT(?:[ \t].*)?", lines[0]) or "\0" in text:
        raise UnreadableCaptionsError("This is no WebVTT file: its first line is not WEBVTT.")
    cues = [cue for block in _blocks(lines) if (cue := _cue_in(block)) is not None]
    _check(cues)
    return cues


def _blocks(lines: list[str]) -> Iterable[list[tuple[int, str]]]:
    """Runs of lines that are not empty, each line with its number; the head of the file is not among them."""
    block: list[tuple[int, str]] = []
    is_head = True
    for number, line in enumerate([*lines, ""], 1):
        if line.strip():
            block.append((number, line))
            continue
        if block and not is_head:
            yield block
        is_head, block = False, []


def _cue_in(block: list[tuple[int, str]]) -> Cue | None:
    if re.match(r"(?:NOTE|STYLE|REGION)(?:[ \t]|$)", block[0][1]) and "-->" not in block[0][1]:
        return None
    if "-->" not in block[0][1]:
        block = block[1:]  # its name
    found = _TIMING.fullmatch(block[0][1]) if block else None
    if found is None:
        number = block[0][0] if block else 0
        raise UnreadableCaptionsError(
            f"Line {number} should hold the times of a cue, as 00:01:02.500 --> 00:01:04.000."
        )
    from_ms, to_ms = _ms(*found.groups()[:4]), _ms(*found.groups()[4:8])
    if to_ms <= from_ms:
        raise UnreadableCaptionsError(f"In line {block[0][0]} a cue ends before it begins.")
    said = " ".join(line for _, line in block[1:])
    voice = _VOICE.search(said)
    return Cue(from_ms, to_ms, _unescaped(voice[1]).strip() if voice else "", _plain(said))


def _plain(said: str) -> str:
    return " ".join(_unescaped(_TAG.sub("", said)).split())


def _unescaped(said: str) -> str:
    """Characters that are written by name or number; a number that no character has stays as it is written."""
    return _CHARACTER.sub(lambda found: html.unescape(found[0]), said)


def _ms(hours: str | None, minutes: str, seconds: str, thousandths: str) -> int:
    return ((int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)) * 1000 + int(thousandths)


def _check(cues: list[Cue]) -> None:
    if not cues:
        raise UnreadableCaptionsError("There is no cue in this file.")
    if len(cues) > MOST_CUES:
        raise UnreadableCaptionsError(f"A transcript has at most {MOST_CUES:,} cues.")
    for before, after in pairwise(cues):
        if after.from_ms < before.from_ms:
            raise UnreadableCaptionsError("The cues are not in the order of their times.")
