"""Prove a backup, and say exactly what was proven. Changes nothing but a scratch folder or database."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from . import postgresql, site, sqlite
from .archive import Source
from .contents import Contents, compare
from .manifest import Manifest
from .postgresql import Database
from .refused import Refused

AS_COUNTED = "as many in each as were counted when it was taken"


def verify(source: Source) -> Iterator[str]:
    """One sentence for each thing proven; `Refused` ends it."""
    said = source.checked()
    size = sum(kept.size for kept in said.files)
    yield f"Taken {said.taken_at} by version {said.version}, from {said.engine} {said.engine_version}."
    yield f"Every one of its {len(said.files)} files ({size:,} bytes) has the size and checksum of its manifest."
    with tempfile.TemporaryDirectory(prefix="emma-verify-") as scratch:
        if said.engine == "sqlite":
            source.extract(("database.sqlite3",), Path(scratch))
            yield from _loaded(said, sqlite.contents(Path(scratch) / "database.sqlite3"), "opened, found sound")
        else:
            source.extract(("database.pgdump",), Path(scratch))
            os.chmod(scratch, 0o700)
            yield from _verify_dump(said, Path(scratch) / "database.pgdump")
    if said.objects:
        copies = sum(kept.name.startswith("bucket/") for kept in said.files)
        yield f"Of {len(said.objects)} files in the bucket {said.bucket} it holds {copies}; the others are only listed."


def _verify_dump(said: Manifest, dumped: Path) -> Iterator[str]:
    """Loaded into a scratch database where there is a server that lets us, else read to its end without one."""
    server, why_not = _server_of_ours()
    if server is not None:
        try:
            with postgresql.scratch_beside(server) as scratch:
                if scratch is not None:
                    postgresql.load(scratch, dumped)
                    yield from _loaded(said, postgresql.contents(scratch), "loaded into a scratch database")
                    return
                why_not = "the role of DATABASE_URL may not make a scratch database"
        except Refused as cause:
            if "does not answer" not in str(cause):
                raise
            why_not = "PostgreSQL does not answer"
    rows = postgresql.rows_in(dumped)
    compare(said.rows, rows)
    yield f"The dump was read to its end: {sum(rows.values()):,} rows in {len(rows)} tables, {AS_COUNTED}."
    yield f"It was not loaded into a server, since {why_not}: constraints and triggers were not tried."


def _server_of_ours() -> tuple[Database | None, str]:
    from django.conf import settings

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "emma_eval.settings")
    try:
        is_configured = bool(settings.DATABASES)
    except ImproperlyConfigured:
        is_configured = False
    if not is_configured or site.engine() != "postgresql":
        return None, "no PostgreSQL is configured here"
    return site.postgres(), ""


def _loaded(said: Manifest, found: Contents, how: str) -> Iterator[str]:
    compare(said.rows, found.rows)
    if found.migrations != said.migrations:
        raise Refused("The schema in this backup is not the one its manifest names.")
    yield f"The database was {how}: {found.total():,} rows in {len(found.rows)} tables, {AS_COUNTED}."
    guards = [name for name in found.triggers if name.startswith("audit_")]
    if not guards:
        raise Refused("The database in this backup has lost the triggers that keep its audit trail append-only.")
    yield f"Its audit trail is append-only ({len(guards)} triggers are there)."
