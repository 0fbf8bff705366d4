"""Where a recorder's bytes can be taken up again behind a hole, and what stands in front of them.

A recorder writes a head once, and then clusters (WebM) or fragments (MP4), each of which can be read on its own behind
that head. Nothing is decoded here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .kinds import Run

_CLUSTER = b"\x1f\x43\xb6\x75"
_TIME_OF_CLUSTER = 0xE7
_FRAGMENT = b"moof"
_LONGEST_START = 16


def find_start(data: bytes) -> int | None:
    """Where the first whole cluster or fragment begins."""
    found = [at for at in (_find_cluster(data), _find_fragment(data)) if at is not None]
    return min(found, default=None)


def _find_cluster(data: bytes) -> int | None:
    """Its four bytes may stand in a picture by chance, but not with a length and a time behind them."""
    at = data.find(_CLUSTER)
    while at >= 0:
        first = data[at + 4] if at + 4 < len(data) else 0
        length = 9 - first.bit_length()
        if first and at + 4 + length < len(data) and data[at + 4 + length] == _TIME_OF_CLUSTER:
            return at
        at = data.find(_CLUSTER, at + 1)
    return None


def _find_fragment(data: bytes) -> int | None:
    at = data.find(_FRAGMENT, 4)
    while at >= 0:
        if data[at + 8 : at + 12] == b"mfhd":
            return at - 4
        at = data.find(_FRAGMENT, at + 1)
    return None


class TakeWriter:
    """Writes the chunks of one take as runs: each a file that can be read on its own."""

    def __init__(self, folder: Path, take: int, began_at_ms: int, borrowed_head: bytes = b"") -> None:
        self.folder = folder
        self.take = take
        self.began_at_ms = began_at_ms
        self.head = borrowed_head
        self.is_head_whole = bool(borrowed_head)
        self.is_first = not borrowed_head
        self.is_behind_hole = bool(borrowed_head)
        self.looked_through = b""
        self.paths: list[tuple[Path, bool]] = []

    def add(self, chunk: bytes) -> None:
        """The next chunk."""
        if self.is_behind_hole:
            chunk = self._take_up(chunk)
        elif not self.is_head_whole:
            self._learn_head(chunk)
        if not chunk:
            return
        if not self.paths:
            self._begin(b"")
        with self.paths[-1][0].open("ab") as file:
            file.write(chunk)

    def skip(self) -> None:
        """Here something is missing."""
        self.is_behind_hole, self.is_head_whole, self.looked_through = True, True, b""
        self.is_first = self.is_first and bool(self.paths)

    def runs(self) -> Sequence[Run]:
        return [Run(path, self.take, self.began_at_ms, is_first) for path, is_first in self.paths]

    def _learn_head(self, chunk: bytes) -> None:
        start = find_start(self.head[-_LONGEST_START:] + chunk)
        tail = min(len(self.head), _LONGEST_START)
        self.is_head_whole = start is not None
        self.head = self.head + chunk if start is None else (self.head + chunk)[: len(self.head) - tail + start]

    def _take_up(self, chunk: bytes) -> bytes:
        """What can be read of it, behind a head of its own; nothing where nothing begins in it."""
        data = self.looked_through + chunk
        start = find_start(data)
        if start is None or not self.head:
            self.looked_through = data[-_LONGEST_START:]
            return b""
        self.is_behind_hole, self.looked_through = False, b""
        self._begin(self.head)
        return data[start:]

    def _begin(self, head: bytes) -> None:
        path = self.folder / f"take-{self.take:03}-{len(self.paths):03}"
        path.write_bytes(head)
        self.paths.append((path, self.is_first and not self.paths))
