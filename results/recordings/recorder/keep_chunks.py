"""Take in the chunks of a take: each is announced, sent straight to the store by a link, and seen to have arrived.

They may come in any order, twice and late. The page keeps its copy until the site has seen for itself that the store
holds it, so nothing depends on what the page believes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Sum

from emma_eval.adapters.recordings import Link, Store

from ...models import MOST_RECORDING_BYTES, Chunk, Recording, Take
from .begin_recording import RefusedError, receiving
from .telling import MOST_CHUNKS, ToldChunk, ToldChunks

NO_SUCH_TAKE = "The site does not know of this take."
PAST_THE_END = "The take ended before this chunk."
ANOTHER = "The site has another chunk of this number."
TOO_LARGE = f"A recording is at most {MOST_RECORDING_BYTES // 1024**3} GB long. Finish it, and begin another one."


@dataclass(frozen=True)
class RefusedChunk:
    number: int
    why: str


@dataclass
class KeptChunks:
    """Where to send chunks by their number, which have arrived, and which are refused for good."""

    links: dict[int, Link] = field(default_factory=dict)
    arrived: list[int] = field(default_factory=list)
    refused: list[RefusedChunk] = field(default_factory=list)


def keep_chunks(recording: Recording, told: ToldChunks, store: Store, now: datetime) -> KeptChunks:
    """Sign a link for each chunk that is announced, and look for those that were sent.

    The store is asked outside of any transaction. Raises RefusedError, or a StoreError of the store.
    """
    kept = KeptChunks()
    take, announced = _announce(recording, told, kept, now)
    for chunk in announced:
        if chunk.arrived_at is None:
            kept.links[chunk.number] = store.put_link(
                chunk.key,
                size=chunk.size,
                media_type=take.media_type,
                sha256=chunk.sha256,
                holds_s=settings.LINKS_HOLD_S,
            )
        else:
            kept.arrived.append(chunk.number)
    sent = take.chunks.filter(number__in=told.sent).select_related("take")
    kept.arrived += [chunk.number for chunk in look_for(sent, store, now)]
    return kept


def _announce(recording: Recording, told: ToldChunks, kept: KeptChunks, now: datetime) -> tuple[Take, list[Chunk]]:
    with transaction.atomic():
        recording = receiving(recording.pk, now)
        take = recording.takes.filter(number=told.take).first()
        if take is None:
            raise RefusedError(NO_SUCH_TAKE)
        known = {each.number: each for each in take.chunks.filter(number__in=[each.number for each in told.announced])}
        new = []
        for each in told.announced:
            why = _fault(take, each, known.get(each.number))
            if why:
                kept.refused.append(RefusedChunk(each.number, why))
            elif each.number not in known:
                known[each.number] = Chunk(take=take, number=each.number, size=each.size, sha256=each.sha256)
                new.append(known[each.number])
        _keep_within_bounds(recording, new)
        Chunk.objects.bulk_create(new)
        refused = {each.number for each in kept.refused}
        return take, [chunk for number, chunk in known.items() if number not in refused]


def _fault(take: Take, told: ToldChunk, there: Chunk | None) -> str:
    if take.chunk_count is not None and told.number >= take.chunk_count:
        return PAST_THE_END
    if there is not None and (there.size, there.sha256) != (told.size, told.sha256):
        return ANOTHER
    return ""


def _keep_within_bounds(recording: Recording, new: list[Chunk]) -> None:
    if not new:
        return
    there = Chunk.objects.filter(take__recording=recording).aggregate(bytes=Sum("size"), count=Count("pk"))
    is_too_large = (there["bytes"] or 0) + sum(chunk.size for chunk in new) > MOST_RECORDING_BYTES
    if is_too_large or there["count"] + len(new) > MOST_CHUNKS:
        raise RefusedError(TOO_LARGE)


def look_for(chunks: Iterable[Chunk], store: Store, now: datetime) -> list[Chunk]:
    """Those that the store holds as they were announced: all of their bytes, which their link held to their digest."""
    found = []
    for chunk in chunks:
        there = None if chunk.arrived_at else store.look(chunk.key)
        if chunk.arrived_at or (there is not None and there.size == chunk.size):
            found.append(chunk)
    missing = [chunk.pk for chunk in found if chunk.arrived_at is None]
    Chunk.objects.filter(pk__in=missing, arrived_at=None).update(arrived_at=now)
    return found
