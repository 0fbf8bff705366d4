"""Take a backup of a running site: first one moment of the database, then the files, the manifest last."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from emma_eval.adapters.bucket import Bucket, StoredObject
from emma_eval.bucket import bucket_of_this_site

from . import archive, postgresql, site, sqlite
from .archive import Target
from .contents import Contents
from .manifest import Manifest
from .refused import Refused


def take(target: Path, with_files: bool, now: datetime) -> Manifest:
    """Everything in the database at one moment has its files, unless somebody removed them meanwhile."""
    with archive.write(target) as (kept, scratch):
        found = _keep_database(kept, scratch)
        for name, folder in site.folders().items():
            _keep_folder(kept, name, folder)
        bucket = bucket_of_this_site()
        objects = _keep_bucket(kept, bucket, with_files) if bucket else ()
        _keep_secret(kept)
        said = Manifest(
            version=site.version(),
            taken_at=now.astimezone(UTC).isoformat(timespec="seconds"),
            engine=site.engine(),
            engine_version=found.engine_version,
            migrations=found.migrations,
            rows=found.rows,
            files=tuple(kept.files),
            secret_fingerprint=site.fingerprint(settings.SECRET_KEY),
            bucket=bucket.name if bucket else "",
            objects=objects,
            trail_head=found.trail.head,
            trail_fault=found.trail.fault,
        )
        archive.finish(kept, said, settings.SECRET_KEY)
    return said


def _keep_database(kept: Target, scratch: Path) -> Contents:
    """Through a file beside the backup: a tar wants to know the size of what comes, and a dump ends when it ends."""
    if site.engine() == "sqlite":
        copied = scratch / "database.sqlite3"
        if not site.sqlite_path().exists():
            raise Refused(f"There is no database at {site.sqlite_path()} yet: there is nothing to keep.")
        sqlite.copy(site.sqlite_path(), copied)
        found = sqlite.contents(copied)
    else:
        copied = scratch / "database.pgdump"
        with archive.new_file(copied) as target:
            found = postgresql.dump(site.postgres(), target)
    if not found.migrations:
        raise Refused("The database is empty: there is nothing to keep.")
    with copied.open("rb") as source:
        kept.add(copied.name, source, copied.stat().st_size, time.time())
    copied.unlink()
    return found


def _keep_folder(kept: Target, name: str, folder: Path) -> None:
    for path in site.files_in(folder):
        try:
            source = path.open("rb")
        except FileNotFoundError:
            continue  # removed since it was listed, as a sheet is after its import
        with source:
            about = path.stat()
            kept.add(f"{name}/{path.relative_to(folder).as_posix()}", source, about.st_size, about.st_mtime)


def _keep_bucket(kept: Target, bucket: Bucket, with_files: bool) -> tuple[StoredObject, ...]:
    objects = tuple(_objects(bucket))
    if with_files:
        for place, stored in enumerate(objects):
            with bucket.open(stored.key) as source:
                kept.add(copy_of(place), source, stored.size, time.time())
    return objects


def _objects(bucket: Bucket) -> Iterator[StoredObject]:
    return (stored for stored in bucket.objects() if not stored.key.startswith(site.MADE_AGAIN))


def copy_of(place: int) -> str:
    """The name in a backup of the object in this place of the manifest's list: a key may be no name for a file."""
    return f"bucket/{place:09d}"


def _keep_secret(kept: Target) -> None:
    if site.keeps_its_secret():
        secret = site.secret_path().read_bytes()
        kept.add("secret_key", io.BytesIO(secret), len(secret), time.time())
