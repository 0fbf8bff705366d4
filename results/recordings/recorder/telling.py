"""What the recorder of a live-call page tells, read from JSON. What is odd is refused in words."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass

from ...models import MOST_CALL_MS
from ...told import MOST_NUMBER, MalformedError, as_list, as_object, as_whole, claim, sha256, whole

MOST_CHUNK_BYTES = 16 * 1024**2
MOST_CHUNKS = 50_000  # 24 hours of one every two seconds
MOST_CHUNKS_AT_ONCE = 20
MOST_TAKE_NUMBER = 999
MEDIA_TYPE = re.compile(r"(video|audio)/(webm|mp4)(;codecs=[A-Za-z0-9.,\- ]{1,70})?")


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
    told = as_object(said, "The beginning")
    try:
        recording = uuid.UUID(str(told.get("recording")))
    except ValueError as cause:
        raise MalformedError("recording must be a UUID.") from cause
    return ToldBeginning(recording, whole(told, "consent_age_ms", MOST_NUMBER), claim(told, "has_begun"))


def read_take(said: object) -> ToldTake:
    told = as_object(said, "The take")
    media_type = told.get("media_type")
    if not isinstance(media_type, str) or not MEDIA_TYPE.fullmatch(media_type):
        raise MalformedError("media_type must be one that a browser records in: webm or mp4.")
    return ToldTake(
        number=whole(told, "number", MOST_TAKE_NUMBER, least=1),
        media_type=media_type,
        began_at_ms=whole(told, "began_at_ms", MOST_CALL_MS),
        has_tester=claim(told, "has_tester"),
        has_emma=claim(told, "has_emma"),
        chunk_count=None if told.get("chunk_count") is None else whole(told, "chunk_count", MOST_CHUNKS),
    )


def read_chunks(said: object) -> ToldChunks:
    told = as_object(said, "The batch")
    return ToldChunks(
        take=whole(told, "take", MOST_TAKE_NUMBER, least=1),
        announced=tuple(_chunk(each) for each in as_list(told.get("announced", []), "announced", MOST_CHUNKS_AT_ONCE)),
        sent=tuple(
            as_whole(each, "Each of sent", MOST_CHUNKS - 1)
            for each in as_list(told.get("sent", []), "sent", MOST_CHUNKS_AT_ONCE)
        ),
    )


def read_finish(said: object) -> bool:
    """Whether it is to be finished as it is, whatever is missing."""
    told = as_object(said, "What is told")
    return "as_it_is" in told and claim(told, "as_it_is")


def _chunk(said: object) -> ToldChunk:
    told = as_object(said, "Each of announced")
    size = whole(told, "size", MOST_CHUNK_BYTES, least=1)
    return ToldChunk(whole(told, "number", MOST_CHUNKS - 1), size, sha256(told))
