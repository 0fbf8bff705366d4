"""Join what the page recorded: fetch the chunks of all takes, and make one file of them."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from emma_eval.adapters.media import BadMediaError, Run, Segment, join_takes
from emma_eval.adapters.media.pieces import TakeWriter, find_start
from emma_eval.adapters.recordings import NotKeptError, Store
from emma_eval.outbox.deliver import hold_on

from ...models import Chunk, Recording, Take
from ..recorder.finish_recording import never_arrived

NOTHING = "Nothing of the recording arrived that could be played."
UNREAD = "Some of what arrived could not be read."
HOLD_ON_EVERY = 20  # chunks: some seconds at a store that is slow
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class JoinedCall:
    """The file, what of the call is in it, and what is said of what is not."""

    path: Path
    segments: Sequence[Segment]
    words: str


def join_chunks(recording: Recording, store: Store, folder: Path) -> JoinedCall:
    """One file of all takes. A chunk that is missing or is not what was announced leaves a hole, and no more."""
    runs: list[Run] = []
    takes = list(recording.takes.all())
    missing = sum(_fetch(take, takes, store, folder, runs) for take in takes)
    if not runs:
        raise BadMediaError(NOTHING)
    joined = join_takes(runs, folder, beat=hold_on)
    for run in runs:
        run.path.unlink()
    words = never_arrived(missing) if missing else ""
    return JoinedCall(joined.path, joined.segments, " ".join([words] * bool(words) + [UNREAD] * bool(joined.unread)))


def _fetch(take: Take, takes: Sequence[Take], store: Store, folder: Path, runs: list[Run]) -> int:
    """Write the runs of a take; how many of its chunks are missing."""
    chunks = {chunk.number: chunk for chunk in take.chunks.exclude(arrived_at=None)}
    count = max(take.chunk_count or 0, max(chunks, default=-1) + 1)
    head = b"" if 0 in chunks else _head_of_another(take, takes, store)
    writer, missing = TakeWriter(folder, take.number, take.began_at_ms, head), 0
    for number in range(count):
        data = _bytes_of(store, chunks.get(number))
        if number % HOLD_ON_EVERY == 0:
            hold_on()
        if data is None:
            missing += 1
            writer.skip()
        else:
            writer.add(data)
    runs += writer.runs()
    return missing


def _bytes_of(store: Store, chunk: Chunk | None) -> bytes | None:
    """The chunk as it was announced; None where it is not to be had. What came otherwise is asked for once more."""
    if chunk is None:
        return None
    for _ in range(2):
        try:
            with store.open(chunk.key) as file:
                data = file.read()
        except NotKeptError:
            return None
        if hashlib.sha256(data).hexdigest() == chunk.sha256:
            return data
        log.warning("%s is not what was announced", chunk)
    return None


def _head_of_another(take: Take, takes: Sequence[Take], store: Store) -> bytes:
    """The page writes the same head for each take of a kind: one that was lost is borrowed."""
    for data in _first_chunks(take, takes, store):
        start = find_start(data)
        if start:
            return data[:start]
    return b""


def _first_chunks(take: Take, takes: Sequence[Take], store: Store) -> Iterator[bytes]:
    for other in takes:
        first = other.chunks.filter(number=0).exclude(arrived_at=None).first()
        if other.pk != take.pk and other.media_type == take.media_type and first is not None:
            data = _bytes_of(store, first)
            if data is not None:
                yield data
