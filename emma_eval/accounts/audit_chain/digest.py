"""What a link says of its entry: a digest over the digest before and every column of the entry."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC

from ..models import AuditEntry

FIRST = "0" * 64  # what stands before the first link


def canonical(entry: AuditEntry) -> bytes:
    """The entry as read from the database, the same bytes on every machine: JSON without layout, times in UTC."""
    said = {
        "id": entry.pk,
        "at": entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "actor": entry.actor_id,
        "action": entry.action,
        "target": entry.target,
        "details": entry.details,
        "is_safety": entry.is_safety,
        "script": entry.script,
    }
    return json.dumps(said, sort_keys=True, separators=(",", ":")).encode()


def digest_after(before: str, entry: bytes) -> str:
    """SHA-256 over the digest before and the canonical entry, in hexadecimal."""
    return hashlib.sha256(bytes.fromhex(before) + entry).hexdigest()
