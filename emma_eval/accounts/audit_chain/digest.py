"""What a link says of its entry: a digest over the digest before and every column of the entry."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..models import AuditEntry

FIRST = "0" * 64  # what stands before the first link


def canonical(entry: AuditEntry) -> bytes:
    """The entry as read from the database, the same bytes on every machine."""
    return words_of(
        entry.at,
        id=entry.pk,
        actor=entry.actor_id,
        action=entry.action,
        target=entry.target,
        details=entry.details,
        is_safety=entry.is_safety,
        script=entry.script,
    )


def words_of(at: datetime, **columns: Any) -> bytes:
    """JSON without layout, times in UTC: for whoever reads the columns without Django, too."""
    said = {"at": at.astimezone(UTC).isoformat(timespec="microseconds"), **columns}
    return json.dumps(said, sort_keys=True, separators=(",", ":")).encode()


def digest_after(before: str, entry: bytes) -> str:
    """SHA-256 over the digest before and the canonical entry, in hexadecimal."""
    return hashlib.sha256(bytes.fromhex(before) + entry).hexdigest()
