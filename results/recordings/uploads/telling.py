"""What the page that uploads tells, read from JSON: the file, its parts, and which of them arrived."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...told import MOST_NUMBER, MalformedError, as_list, as_object, sha256, text, whole

MOST_PARTS_AT_ONCE = 16
MOST_CHARACTERS = 2_000  # of what is shortened or refused in words later on
_ETAG = re.compile(r"[!-~]{0,100}")  # with the quotes that it stands in, where it does


@dataclass(frozen=True)
class Announced:
    """What a page says of a file before it is sent. `fingerprint` is a digest of its name, size and time."""

    name: str
    size: int
    media_type: str
    fingerprint: str
    sides: str
    has_consent: bool


@dataclass(frozen=True)
class Asked:
    """A part that is about to be sent."""

    number: int
    sha256: str


@dataclass(frozen=True)
class Arrived:
    """A part that the store took, with the ETag that it answered; empty where the browser was not shown it."""

    number: int
    sha256: str
    etag: str


@dataclass(frozen=True)
class ToldParts:
    """Parts of one upload: those that links are asked for, and those that were sent by such links."""

    asked: tuple[Asked, ...]
    arrived: tuple[Arrived, ...]


def read_announced(said: object) -> Announced:
    """The shape alone: whether such a file is taken is said by `begin_upload`."""
    told = as_object(said, "The file")
    return Announced(
        name=text(told, "name", MOST_CHARACTERS),
        size=whole(told, "size", MOST_NUMBER),
        media_type=text(told, "media_type", MOST_CHARACTERS),
        fingerprint=text(told, "fingerprint", MOST_CHARACTERS),
        sides=text(told, "sides", MOST_CHARACTERS),
        has_consent=told.get("has_consent") is True,
    )


def read_parts(said: object) -> ToldParts:
    told = as_object(said, "The batch")
    asked, arrived = (as_list(told.get(name, []), name, MOST_PARTS_AT_ONCE) for name in ("ask", "arrived"))
    return ToldParts(tuple(map(_asked, asked)), tuple(map(_arrived, arrived)))


def read_digest(said: object) -> str:
    """Of the whole file, as the page has made it of the digests of its parts."""
    return text(as_object(said, "The end"), "digest", MOST_CHARACTERS)


def _asked(said: object) -> Asked:
    told = as_object(said, "Each of ask")
    return Asked(whole(told, "number"), sha256(told))


def _arrived(said: object) -> Arrived:
    told = as_object(said, "Each of arrived")
    etag = text(told, "etag", MOST_CHARACTERS)
    if not _ETAG.fullmatch(etag):
        raise MalformedError("What the store answered can't be read.")
    return Arrived(whole(told, "number"), sha256(told), etag)
