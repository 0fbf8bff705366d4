"""The chain of the audit trail in a database that is kept or proven: walked without Django, and without trust in it.

What exactly was done to a line is told by `manage.py verify_audit` on the restored site.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from emma_eval.accounts.audit_chain.digest import FIRST, digest_after, words_of

TABLE = "accounts_auditlink"
LINKED = (
    "SELECT l.place, l.digest, l.entry, e.id, e.at, e.actor_id, e.action, e.target, e.details, e.is_safety, e.script "
    "FROM accounts_auditlink l LEFT JOIN accounts_auditentry e ON e.id = l.entry ORDER BY l.place"
)


@dataclass(frozen=True)
class Trail:
    """`head`: the digest of the newest link; empty where the schema has no chain. `fault`: the first link that does
    not fit, in words; empty where all do."""

    links: int = 0
    head: str = ""
    fault: str = ""

    def in_words(self) -> str:
        if not self.head:
            return "has no chain: it was kept by an older Emma Eval"
        holds = f"does NOT hold: {self.fault}" if self.fault else "holds"
        return f"is a chain of {self.links:,} lines, which {holds}; its head is {self.head}"


def walk(linked: Iterable[tuple[Any, ...]]) -> Trail:
    """Rows of `LINKED`, in their order. What can't be read doesn't fit."""
    links, before, head, fault = 0, FIRST, FIRST, ""
    for links, (place, digest, *entry) in enumerate(linked, 1):
        if not fault and (place != links or digest != _digest(before, entry)):
            fault = f"the line in place {links:,} is not as it was linked"
        before = head = str(digest)
    return Trail(links, head, fault)


def _digest(before: str, entry: list[Any]) -> str:
    """What the link of this entry must be; nothing where the entry is gone or says what none of ours says."""
    _, key, at, actor, action, target, details, is_safety, script = entry
    columns = {"id": key, "actor": actor, "action": action, "target": target, "script": script}
    try:
        moment = at if isinstance(at, datetime) else datetime.fromisoformat(at).replace(tzinfo=UTC)
        said = json.loads(details) if isinstance(details, str) else details
        return digest_after(before, words_of(moment, **columns, details=said, is_safety=bool(is_safety)))
    except (ValueError, TypeError, RecursionError):
        return ""
