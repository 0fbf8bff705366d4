"""What a backup says of itself: `manifest.json`, written last, with a checksum over its own words.

The checksum finds damage. Who wrote the words is told by the signature: whoever knows the secret of the site.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import asdict, dataclass
from typing import Any

from emma_eval.adapters.bucket import StoredObject

from .refused import Refused

NAME = "manifest.json"
FORMAT = 2  # 1 did not name the head of the audit trail
LARGEST = 256 * 1024 * 1024  # bytes: more than a million files
ENGINES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
NOT_WHOLE = "This backup's manifest is damaged, so nothing in it can be trusted. Use another backup."


@dataclass(frozen=True)
class KeptFile:
    """One file of a backup, by its name there."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """`rows` counts every table; `migrations` are those applied, which is the schema; a time is ISO 8601 in UTC.

    `trail_head` is the digest of the newest link of the audit trail, `trail_fault` what did not fit in its chain even
    then. `signature` is no part of the words: it is what was read beside them.
    """

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
    trail_head: str = ""
    trail_fault: str = ""
    format: int = FORMAT
    signature: str = ""

    def to_bytes(self, secret: str) -> bytes:
        said = self._words()
        about = {"sha256": _checksum(said), "signature": _signature(said, secret)}
        return json.dumps({**said, **about}, indent=1, sort_keys=True).encode()

    def is_signed_with(self, secret: str) -> bool:
        return hmac.compare_digest(self.signature.encode(), _signature(self._words(), secret).encode())

    def _words(self) -> dict[str, Any]:
        left_out = {"signature"} if self.format > 1 else {"signature", "trail_head", "trail_fault"}
        return {name: said for name, said in asdict(self).items() if name not in left_out}


def _canonical(said: dict[str, Any]) -> bytes:
    """The words without their layout, so that a reader may print them as it likes."""
    return json.dumps(said, sort_keys=True, separators=(",", ":")).encode()


def _checksum(said: dict[str, Any]) -> str:
    return hashlib.sha256(_canonical(said)).hexdigest()


def _signature(said: dict[str, Any], secret: str) -> str:
    """Nobody can make it without the secret; the words before it keep it apart from other uses of the secret."""
    key = hashlib.sha256(f"emma-eval backup signature {secret}".encode()).digest()
    return hmac.new(key, _canonical(said), hashlib.sha256).hexdigest()


def read(written: bytes) -> Manifest:
    try:
        said = json.loads(written)
        if said["format"] > FORMAT:
            raise Refused("This backup was made by a newer Emma Eval: restore it with that version.")
        signature = said.pop("signature", "")
        if said.pop("sha256") != _checksum(said):
            raise Refused(NOT_WHOLE)
        files = tuple(KeptFile(**kept) for kept in said.pop("files"))
        objects = tuple(StoredObject(**stored) for stored in said.pop("objects"))
        said["migrations"] = tuple(said["migrations"])
        found = Manifest(**said, files=files, objects=objects, signature=signature)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as cause:
        raise Refused(NOT_WHOLE) from cause
    if not _is_of_our_kind(found):
        raise Refused(NOT_WHOLE)
    return found


def _is_of_our_kind(found: Manifest) -> bool:
    """Its checksum says that nothing was damaged, not that somebody meant well."""
    words = [found.version, found.taken_at, found.engine_version, found.secret_fingerprint, found.bucket]
    words += [found.trail_head, found.trail_fault]
    words += [found.signature, *found.migrations, *(kept.sha256 for kept in found.files)]
    words += [*(kept.name for kept in found.files), *(stored.key for stored in found.objects)]
    numbers = [kept.size for kept in found.files] + [stored.size for stored in found.objects]
    return (
        found.engine in ENGINES
        and isinstance(found.rows, dict)
        and all(isinstance(word, str) for word in words)
        and all(type(number) is int and number >= 0 for number in [*numbers, *found.rows.values()])
    )
