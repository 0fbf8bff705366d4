"""Where recordings are kept: what is asked of a store, whether it is a bucket or a folder.

Files come and go by links that the store signs for one object, one act and some minutes; a link to send also holds
the size and the SHA-256 of what may be sent. Sizes are bytes, a SHA-256 is 64 hex digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from .errors import NeighbourError

MOST_KEY_CHARACTERS = 200
_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(?:/[A-Za-z0-9_][A-Za-z0-9._-]*)*")


class StoreError(NeighbourError):
    """The store did not do what was asked; its text is for people and names no key."""


class NotKeptError(StoreError):
    """The store has no such object, or no longer knows of an upload."""

    may_retry = False


class StoreFullError(StoreError):
    """There is no room left."""


class NoSuchKeyError(StoreError):
    """Nothing is kept under such a name, by whomever it was made up."""

    may_retry = False


class MismatchError(StoreError):
    """What arrived is not what was announced: its size, its SHA-256 or its ETag is another."""

    may_retry = False


@dataclass(frozen=True)
class Link:
    """An address to send bytes to by PUT, with the headers that must be sent as they are."""

    url: str
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Kept:
    """An object as the store has it."""

    key: str
    size: int
    etag: str


@dataclass(frozen=True)
class SentPart:
    """A part of an upload as the store has it. Numbers begin at 1.

    `sha256` is empty where a server does not tell it: the link that the part came by held it all the same.
    """

    number: int
    size: int
    etag: str
    sha256: str


def checked_key(key: str) -> str:
    """The key of an object that can be; none leads anywhere but under where recordings are."""
    if len(key) > MOST_KEY_CHARACTERS or not _KEY.fullmatch(key):
        raise NoSuchKeyError("Recordings have no such names.")
    return key


def checked_prefix(prefix: str) -> str:
    """How the keys of several objects begin; nothing is how all of them do."""
    if prefix:
        checked_key(prefix.removesuffix("/"))
    return prefix


class Store(Protocol):
    """Every act waits a bounded time and raises a StoreError in words; `may_retry` says whether later may help."""

    def put_link(self, key: str, *, size: int, media_type: str, sha256: str, holds_s: int) -> Link:
        """For sending one object whole."""

    def get_link(self, key: str, *, media_type: str, holds_s: int, saved_as: str = "") -> str:
        """For reading one object, whole or in ranges; with `saved_as` a browser saves it under that name."""

    def begin_parts(self, key: str, *, media_type: str) -> str:
        """Begin to send an object in parts; the store's name for that."""

    def part_link(self, key: str, upload_id: str, number: int, *, size: int, sha256: str, holds_s: int) -> Link:
        """For sending one part."""

    def parts(self, key: str, upload_id: str) -> Sequence[SentPart]:
        """The parts that arrived, by number. NotKeptError for an upload that is over."""

    def finish_parts(self, key: str, upload_id: str, parts: Sequence[SentPart]) -> Kept:
        """Join the parts. MismatchError where one is another than it was. Asked twice, it says the same."""

    def drop_parts(self, key: str, upload_id: str) -> None:
        """Forget what was sent. Of an upload that is over there is nothing to forget."""

    def look(self, key: str) -> Kept | None:
        """The object, or None."""

    def under(self, prefix: str) -> Iterator[Kept]:
        """The objects whose keys begin so."""

    def open(self, key: str) -> AbstractContextManager[IO[bytes]]:
        """Its bytes, as they come. NotKeptError where there is none."""

    def fetch(self, key: str, path: Path) -> None:
        """Into a file of ours. NotKeptError where there is none."""

    def keep(self, key: str, path: Path, *, media_type: str) -> Kept:
        """A file of ours; large ones are sent in parts."""

    def remove(self, keys: Iterable[str]) -> None:
        """Remove objects; what is not there is removed already."""
