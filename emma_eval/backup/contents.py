"""What a database holds, counted: the same for both engines."""

from __future__ import annotations

from dataclasses import dataclass

from .refused import Refused


@dataclass(frozen=True)
class Contents:
    """`rows` of every table, the applied `migrations`, and the `triggers` that guard it (the audit trail's)."""

    engine_version: str
    migrations: tuple[str, ...]
    rows: dict[str, int]
    triggers: tuple[str, ...]

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
