"""What a backup says of itself: `manifest.json`, written last, with a checksum over its own words."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from emma_eval.adapters.bucket import StoredObject

from .refused import Refused

NAME = "manifest.json"
FORMAT = 1
NOT_WHOLE = "This backup's manifest is damaged, so nothing in it can be trusted. Use another backup."


@dataclass(frozen=True)
class KeptFile:
    """One file of a backup, by its name there."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """`rows` counts every table; `migrations` are those applied, which is the schema; a time is ISO 8601 in UTC."""

    version: str
    taken_at: str
    engine: str
    engine_version: str
    migrations: tuple[str, ...]
    rows: dict[str, int]
    files: tuple[KeptFile, ...]
    secret_fingerprint: str
    bucket: str = ""
    objects: tuple[StoredObject, ...] = ()
    format: int = FORMAT

    def to_bytes(self) -> bytes:
        said = asdict(self)
        return json.dumps({**said, "sha256": _checksum(said)}, indent=1, sort_keys=True).encode()


def _checksum(said: dict[str, Any]) -> str:
    """Over the words without their layout, so that a reader may print them as it likes."""
    return hashlib.sha256(json.dumps(said, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read(written: bytes) -> Manifest:
    try:
        said = json.loads(written)
        if said["format"] > FORMAT:
            raise Refused("This backup was made by a newer Emma Eval: restore it with that version.")
        if said.pop("sha256") != _checksum(said):
            raise Refused(NOT_WHOLE)
        files = tuple(KeptFile(**kept) for kept in said.pop("files"))
        objects = tuple(StoredObject(**stored) for stored in said.pop("objects"))
        return Manifest(**{**said, "migrations": tuple(said["migrations"])}, files=files, objects=objects)
    except (ValueError, KeyError, TypeError, AttributeError) as cause:
        raise Refused(NOT_WHOLE) from cause
