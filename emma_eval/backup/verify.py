"""Prove a backup, and say exactly what was proven. Nothing of the site is touched: its server is not even asked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from . import postgresql, proof, sqlite, stranger
from .archive import Source
from .contents import Contents, compare, compare_trail
from .manifest import Manifest
from .refused import Refused

AS_COUNTED = "as many in each as were counted when it was taken"


def verify(source: Source) -> Iterator[str]:
    """One sentence for each thing proven or not; `Refused` ends it."""
    said = source.checked()
    size = sum(kept.size for kept in said.files)
    yield f"Taken {said.taken_at} by version {said.version}, from {said.engine} {said.engine_version}."
    yield f"Every one of its {len(said.files)} files ({size:,} bytes) has the size and checksum of its manifest."
    yield proof.who_made(said, _secrets_at_hand())
    with tempfile.TemporaryDirectory(prefix="emma-verify-") as scratch:
        if said.engine == "sqlite":
            source.extract(("database.sqlite3",), Path(scratch))
            yield from _loaded(said, sqlite.contents(Path(scratch) / "database.sqlite3"), "opened, found sound")
        else:
            source.extract(("database.pgdump",), Path(scratch))
            yield from _verify_dump(said, Path(scratch) / "database.pgdump")
    if said.objects:
        copies = sum(kept.name.startswith("bucket/") for kept in said.files)
        yield f"Of {len(said.objects)} files in the bucket {said.bucket} it holds {copies}; the others are only listed."


def _secrets_at_hand() -> tuple[str, ...]:
    """Those of the site that is configured here, if one is."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "emma_eval.settings")
    try:
        return (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    except ImproperlyConfigured:
        return ()


def _verify_dump(said: Manifest, dumped: Path) -> Iterator[str]:
    """Loaded into a server of its own where this machine can run one, else read to its end without one."""
    with stranger.room() as room:
        if room.database is not None:
            postgresql.load(room.database, dumped)
            yield from _loaded(said, postgresql.contents(room.database), "loaded into a PostgreSQL of its own")
            return
    rows = postgresql.rows_in(dumped)
    compare(said.rows, rows)
    yield f"The dump was read to its end: {sum(rows.values()):,} rows in {len(rows)} tables, {AS_COUNTED}."
    yield f"It was not loaded, since {room.why_not}: constraints, triggers and the chain of the trail were not tried."


def _loaded(said: Manifest, found: Contents, how: str) -> Iterator[str]:
    compare(said.rows, found.rows)
    compare_trail(said.trail_head, said.trail_fault, found.trail)
    if found.migrations != said.migrations:
        raise Refused("The schema in this backup is not the one its manifest names.")
    yield f"The database was {how}: {found.total():,} rows in {len(found.rows)} tables, {AS_COUNTED}."
    guards = [name for name in found.triggers if name.startswith("audit_")]
    if not guards:
        raise Refused("The database in this backup has lost the triggers that keep its audit trail append-only.")
    yield f"Its audit trail is append-only ({len(guards)} triggers are there)."
    yield f"Its audit trail {found.trail.in_words()}{_noted(said)}."


def _noted(said: Manifest) -> str:
    if not said.trail_head:
        return ", which its manifest does not name"
    return ", all as when it was taken" if said.trail_fault else ", as its manifest says"
