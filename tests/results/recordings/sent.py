"""Recordings that have arrived and wait to be made ready, as the recorder and the uploader leave them."""

from __future__ import annotations

import hashlib
import tempfile
import uuid
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

from django.db import transaction
from django.utils import timezone

import results.tasks  # noqa: F401  (it registers who makes recordings ready)
from emma_eval.accounts.models import User
from emma_eval.adapters.recordings import Kept, Store, StoreError, StoreFullError
from emma_eval.outbox.models import Row
from results.models import Chunk, Origin, Recording, RecordingState, Sides
from results.recordings.hand_over import MAKE_READY, hand_over
from tests.media import media


def pieces(path: Path, count: int = 6) -> list[bytes]:
    """A file as a recorder hands it out: cut anywhere."""
    data = path.read_bytes()
    size = -(-len(data) // count)
    return [data[at : at + size] for at in range(0, len(data), size)]


def recorded(
    tester: User,
    store: Store,
    takes: Sequence[tuple[str, int]],
    *,
    missing: Iterable[tuple[int, int]] = (),
    **fields: Any,
) -> Recording:
    """A recording of these takes (kind of media, when it began on the call clock), some of whose chunks are missing."""
    said = {"sides": Sides.TWO, "sides_because": "Recorded beside the call."}
    recording = Recording.objects.create(
        tester=tester, call_uuid=uuid.uuid4(), origin=Origin.RECORDED, **{**said, **fields}
    )
    lost = set(missing)
    for number, (kind, began_at_ms) in enumerate(takes, 1):
        chunks = pieces(media(kind))
        take = recording.takes.create(
            number=number,
            media_type=f"video/{kind}",
            began_at_ms=began_at_ms,
            has_tester=True,
            has_emma=True,
            chunk_count=len(chunks),
        )
        for place, data in enumerate(chunks):
            arrived_at = None if (number, place) in lost else timezone.now()
            digest = hashlib.sha256(data).hexdigest()
            chunk = Chunk.objects.create(take=take, number=place, size=len(data), sha256=digest, arrived_at=arrived_at)
            if arrived_at:
                put(store, chunk.key, data)
    given(recording)
    return recording


def uploaded(tester: User, store: Store, content: bytes | Path, **fields: Any) -> Recording:
    """A file that was sent whole."""
    said = {"origin": Origin.UPLOADED, "sent_digest": "of what was sent"}
    recording = Recording.objects.create(tester=tester, call_uuid=uuid.uuid4(), **{**said, **fields})
    put(store, f"{recording.folder}sent", content if isinstance(content, bytes) else content.read_bytes())
    given(recording)
    return recording


def given(recording: Recording) -> None:
    with transaction.atomic():
        assert hand_over(recording)


def put(store: Store, key: str, data: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        store.keep(key, Path(file.name), media_type="video/webm")


def keys(store: Store, recording: Recording) -> list[str]:
    """What is in the store of it, without its folder."""
    return sorted(kept.key.removeprefix(recording.folder) for kept in store.under(recording.folder))


def row_of(recording: Recording) -> Row:
    return Row.objects.filter(handler=MAKE_READY, payload__recording=str(recording.pk)).latest("pk")


def state(recording: Recording) -> str:
    recording.refresh_from_db()
    return RecordingState(recording.state).value


class Faulty:
    """A store that fails where it is told to: a fake, since a real one can't be brought to fail at one act only."""

    def __init__(self, store: Store, act: str, on: str = "", error: StoreError | None = None, times: int = 1) -> None:
        self.store, self.act, self.on, self.times = store, act, on, times
        self.error = error or StoreFullError("There is no room left.")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def _may_fail(self, act: str, key: str) -> None:
        if act == self.act and self.on in key and self.times > 0:
            self.times -= 1
            raise self.error

    def look(self, key: str) -> Kept | None:
        self._may_fail("look", key)
        return self.store.look(key)

    def open(self, key: str) -> AbstractContextManager[IO[bytes]]:
        self._may_fail("open", key)
        return self.store.open(key)

    def fetch(self, key: str, path: Path) -> None:
        self._may_fail("fetch", key)
        self.store.fetch(key, path)

    def keep(self, key: str, path: Path, *, media_type: str) -> Kept:
        self._may_fail("keep", key)
        return self.store.keep(key, path, media_type=media_type)

    def remove(self, keys: Iterable[str]) -> None:
        keys = list(keys)
        self._may_fail("remove", " ".join(keys))
        self.store.remove(keys)
