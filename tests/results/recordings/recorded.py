"""What a page tells of what it records, for tests: short to write, told as the page tells it."""

from __future__ import annotations

import hashlib
import json
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

from django.test import Client

from emma_eval.adapters.recordings_folder import FolderStore
from results.models import Call, Recording
from results.recordings.recorder.begin_recording import begin_recording, begin_take
from results.recordings.recorder.keep_chunks import KeptChunks, keep_chunks
from results.recordings.recorder.telling import ToldBeginning, ToldChunk, ToldChunks, ToldTake

WEBM = "video/webm;codecs=vp8,opus"


def folder_store(folder: Path) -> FolderStore:
    return FolderStore(folder=folder, secret="of the tests", address=lambda token: f"/kept/{token}/")


def bytes_of(number: int) -> bytes:
    return b"chunk %06d" % number * 10


def chunk(number: int, content: bytes | None = None) -> ToldChunk:
    content = bytes_of(number) if content is None else content
    return ToldChunk(number, len(content), hashlib.sha256(content).hexdigest())


def begin(call: Call, now: datetime, named: uuid.UUID | None = None, *, has_begun: bool = False) -> Recording:
    return begin_recording(call, ToldBeginning(named or uuid.uuid4(), 1_500, has_begun), now)


def take(recording: Recording, now: datetime, number: int = 1, **facts: Any) -> None:
    said: dict[str, Any] = {"media_type": WEBM, "began_at_ms": 0, "has_tester": True, "has_emma": True}
    begin_take(recording, ToldTake(**{"number": number, "chunk_count": None, **said, **facts}), now)


def put(store: FolderStore, recording: Recording, number: int, take_number: int = 1) -> None:
    """As if a page had sent it by its link."""
    place = store.path(f"{recording.pk}/chunks/{take_number:03}-{number:06}")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(bytes_of(number))


def announce(
    store: FolderStore, recording: Recording, now: datetime, *numbers: int, sent: tuple[int, ...] = (), take: int = 1
) -> KeptChunks:
    return keep_chunks(recording, ToldChunks(take, tuple(map(chunk, numbers)), sent), store, now)


def send(store: FolderStore, recording: Recording, now: datetime, *numbers: int, take: int = 1) -> None:
    """Announced, sent, and seen."""
    announce(store, recording, now, *numbers, take=take)
    for number in numbers:
        put(store, recording, number, take)
    assert sorted(announce(store, recording, now, sent=numbers, take=take).arrived) == sorted(numbers)


def tell(client: Client, address: str, body: Any) -> Any:
    return client.post(
        address, json.dumps(body), content_type="application/json", headers={"Accept": "application/json"}
    )
