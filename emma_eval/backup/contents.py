"""What a database holds, counted: the same for both engines."""

from __future__ import annotations

from dataclasses import dataclass, field

from .refused import Refused
from .trail import Trail


@dataclass(frozen=True)
class Contents:
    """`rows` of every table, the applied `migrations`, the `triggers` that guard it (the audit trail's) and the chain
    of the audit trail."""

    engine_version: str
    migrations: tuple[str, ...]
    rows: dict[str, int]
    triggers: tuple[str, ...]
    trail: Trail = field(default_factory=Trail)

    def total(self) -> int:
        return sum(self.rows.values())


def compare(kept: dict[str, int], found: dict[str, int]) -> None:
    """Refuse, unless every table holds as many rows as were counted when the backup was taken."""
    wrong = [
        f"{table} has {found.get(table, 'no')} rows instead of {kept.get(table, 'none')}"
        for table in sorted(kept.keys() | found.keys())
        if kept.get(table) != found.get(table)
    ]
    if wrong:
        raise Refused(f"The database in this backup is not what was kept: {'; '.join(wrong[:5])}.")


def compare_trail(head: str, fault: str, found: Trail) -> None:
    """Refuse, unless the chain is the one that was kept: the same head, and nothing in it that did not fit then."""
    if not head:
        return  # kept before backups named the head
    if found.head != head:
        raise Refused(f"The audit trail in this backup is not what was kept: its head is {found.head}, not {head}.")
    if found.fault != fault:
        raise Refused(f"The audit trail in this backup is not what was kept: {found.fault or 'it was mended'}.")
