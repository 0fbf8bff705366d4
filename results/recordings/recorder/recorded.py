"""What the recorder of a live-call page tells, read from JSON. What is odd is refused in words."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from typing import Any

from ...models import MOST_CALL_MS

MOST_CHUNK_BYTES = 16 * 1024**2
MOST_CHUNKS = 50_000  # 24 hours of one every two seconds
MOST_CHUNKS_AT_ONCE = 20
MOST_TAKE_NUMBER = 999
MEDIA_TYPE = re.compile(r"(video|audio)/(webm|mp4)(;codecs=[A-Za-z0-9.,\- ]{1,70})?")
SHA256 = re.compile(r"[0-9a-f]{64}")


class MalformedError(Exception):
    """The page told something that has another shape than agreed. The words say what."""


@dataclass(frozen=True)
class ToldBeginning:
    """A recording by the name that its page gave it, and how long ago its tester agreed to being recorded.

    `has_begun`: something of it is recorded already, since the site could not be asked before.
    """

    recording: uuid.UUID
    consent_age_ms: int
    has_begun: bool


@dataclass(frozen=True)
class ToldTake:
    """A take; `chunk_count` is None while it goes on."""

    number: int
    media_type: str
    began_at_ms: int
    has_tester: bool
    has_emma: bool
    chunk_count: int | None


@dataclass(frozen=True)
class ToldChunk:
    """A chunk that is to be sent. Numbers begin at 0."""

    number: int
    size: int
    sha256: str


@dataclass(frozen=True)
class ToldChunks:
    """Chunks of one take: those that links are asked for, and those that were sent by such links."""

    take: int
    announced: tuple[ToldChunk, ...]
    sent: tuple[int, ...]


def read_beginning(said: object) -> ToldBeginning:
    told = _object(said, "The beginning")
    try:
        recording = uuid.UUID(str(told.get("recording")))
    except ValueError as cause:
        raise MalformedError("recording must be a UUID.") from cause
    return ToldBeginning(recording, _whole(told, "consent_age_ms", 2**53), _claim(told, "has_begun"))


def read_take(said: object) -> ToldTake:
    told = _object(said, "The take")
    media_type = told.get("media_type")
    if not isinstance(media_type, str) or not MEDIA_TYPE.fullmatch(media_type):
        raise MalformedError("media_type must be one that a browser records in: webm or mp4.")
    return ToldTake(
        number=_whole(told, "number", MOST_TAKE_NUMBER, least=1),
        media_type=media_type,
        began_at_ms=_whole(told, "began_at_ms", MOST_CALL_MS),
        has_tester=_claim(told, "has_tester"),
        has_emma=_claim(told, "has_emma"),
        chunk_count=None if told.get("chunk_count") is None else _whole(told, "chunk_count", MOST_CHUNKS),
    )


def read_chunks(said: object) -> ToldChunks:
    told = _object(said, "The batch")
    return ToldChunks(
        take=_whole(told, "take", MOST_TAKE_NUMBER, least=1),
        announced=tuple(_chunk(each) for each in _list(told, "announced")),
        sent=tuple(_whole({"sent": each}, "sent", MOST_CHUNKS - 1) for each in _list(told, "sent")),
    )


def read_finish(said: object) -> bool:
    """Whether it is to be finished as it is, whatever is missing."""
    told = _object(said, "What is told")
    return "as_it_is" in told and _claim(told, "as_it_is")


def _chunk(said: object) -> ToldChunk:
    told = _object(said, "Each of announced")
    sha256 = told.get("sha256")
    if not isinstance(sha256, str) or not SHA256.fullmatch(sha256):
        raise MalformedError("sha256 must be 64 hex digits.")
    return ToldChunk(_whole(told, "number", MOST_CHUNKS - 1), _whole(told, "size", MOST_CHUNK_BYTES, least=1), sha256)


def _object(said: object, name: str) -> dict[str, Any]:
    if not isinstance(said, dict):
        raise MalformedError(f"{name} must be an object.")
    return said


def _list(told: dict[str, Any], name: str) -> list[object]:
    said = told.get(name, [])
    if not isinstance(said, list) or len(said) > MOST_CHUNKS_AT_ONCE:
        raise MalformedError(f"{name} must be a list of at most {MOST_CHUNKS_AT_ONCE}.")
    return said


def _whole(told: dict[str, Any], name: str, most: int, least: int = 0) -> int:
    said = told.get(name)
    if type(said) is not int or not least <= said <= most:
        raise MalformedError(f"{name} must be a whole number from {least} to {most}.")
    return said


def _claim(told: dict[str, Any], name: str) -> bool:
    said = told.get(name)
    if not isinstance(said, bool):
        raise MalformedError(f"{name} must be true or false.")
    return said
