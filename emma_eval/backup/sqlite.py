"""A SQLite database: copied while others write, counted, proven sound."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import trail
from .contents import Contents
from .refused import Refused


@contextmanager
def _opened(path: Path, mode: str = "rw") -> Iterator[sqlite3.Connection]:
    link = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=20)
    try:
        yield link
    finally:
        link.close()


def copy(source: Path, target: Path) -> None:
    """One moment of a database that may be written to meanwhile; the copy is a single file.

    All pages in one step: in the write-ahead log a reader keeps nobody from writing, and what is written
    meanwhile can't make it start again.
    """
    with _opened(source) as living:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with _opened(target) as kept:
            living.backup(kept, pages=-1)
            kept.execute("PRAGMA journal_mode=DELETE")


def contents(path: Path) -> Contents:
    """What is in it, if SQLite itself finds nothing wrong."""
    try:
        with _opened(path, "ro") as link:
            link.execute("PRAGMA trusted_schema = OFF")  # what a stranger's schema calls is not run
            faults = [fault for (fault,) in link.execute("PRAGMA integrity_check(5)")]
            if faults != ["ok"]:
                raise Refused(f"The SQLite database in it is damaged: {'; '.join(faults)}")
            tables = [name for (name,) in link.execute(TABLES)]
            rows = {name: _count(link, name) for name in tables}
            seals = [name for (name,) in link.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
            migrations = link.execute("SELECT app, name FROM django_migrations")
            return Contents(
                engine_version=sqlite3.sqlite_version,
                migrations=tuple(sorted(f"{app}.{name}" for app, name in migrations)),
                rows=dict(sorted(rows.items())),
                triggers=tuple(sorted(seals)),
                trail=trail.walk(link.execute(trail.LINKED)) if trail.TABLE in rows else trail.Trail(),
            )
    except sqlite3.DatabaseError as cause:
        raise Refused(f"The SQLite database can't be read: {cause}.") from cause


def _count(link: sqlite3.Connection, table: str) -> int:
    quoted = table.replace('"', '""')
    return int(link.execute(f'SELECT count(*) FROM "{quoted}"').fetchone()[0])  # noqa: S608  (a name, quoted)


TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
