"""Put a backup onto an empty site: everything is proven first, and what goes wrong later is taken back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command
from django.db.migrations.loader import MigrationLoader

from emma_eval import prepare
from emma_eval.bucket import bucket_of_this_site
from emma_eval.start import read_settings

from . import postgresql, proof, site, sqlite
from .archive import Source
from .contents import Contents, compare, compare_trail
from .manifest import ENGINES, Manifest
from .refused import Refused
from .take import copy_of


@dataclass(frozen=True)
class Restored:
    """What is there now. `applied`: migrations of this version that the backup did not have yet."""

    said: Manifest
    who_made_it: str
    applied: int
    files: int
    has_same_secret: bool
    lacking: tuple[str, ...]
    ran_as_superuser: bool
    has_demo_team: bool


def restore(source: Source) -> Restored:
    said = source.checked()
    _refuse_the_folder_of_another(_folder())
    made_secret = _get_ready(source)
    # The secret that came with it proves nothing.
    known_secrets = () if made_secret else (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    who_made_it = proof.who_made(said, known_secrets)
    _refuse_what_does_not_fit(said)
    var = Path(settings.VAR_DIR)
    prepare.make_folders(var)
    with _scratch(var) as scratch:
        source.extract(("recordings", "imports", f"database.{_ending(said)}", "bucket"), scratch)
        _fill_bucket(said, scratch)
        _put_database(said, scratch)
        files = _put_files(scratch)
    if made_secret:
        prepare.write_secret(var, made_secret)
    applied = len(waiting(said))
    call_command("migrate", interactive=False, verbosity=0)
    return Restored(
        said=said,
        who_made_it=who_made_it,
        applied=applied,
        files=files,
        has_same_secret=site.fingerprint(settings.SECRET_KEY) == said.secret_fingerprint,
        lacking=lacking_in_bucket(said),
        ran_as_superuser=said.engine == "postgresql" and postgresql.is_superuser(site.postgres()),
        has_demo_team=site.has_demo_team(),
    )


def _folder() -> Path:
    return Path(os.environ.get("EMMA_VAR") or site.BASE_DIR / "var").resolve()


def _refuse_the_folder_of_another(var: Path) -> None:
    """What root puts there, the user that the site runs as could not read."""
    owner = var.stat().st_uid if var.exists() else os.geteuid()
    if os.geteuid() == 0 and owner != 0:
        raise Refused(
            f"{var} belongs to the user {owner}: restore as that user, or the site can't read what is put there."
        )


def _get_ready(source: Source) -> str:
    """The settings want a secret: the environment's, this folder's, the backup's own, or a new one."""
    var = _folder()
    made = ""
    if not os.environ.get("EMMA_SECRET_KEY") and not (var / "secret_key").exists():
        made = (source.read("secret_key") or b"").decode(errors="replace").strip() or prepare.new_secret()
        os.environ["EMMA_SECRET_KEY"] = made
    read_settings()
    django.setup()
    return made


# --- what is refused ------------------------------------------------------------------------------


def _refuse_what_does_not_fit(said: Manifest) -> None:
    if said.engine != site.engine():
        mend = (
            "leave out --postgres and DATABASE_URL"
            if said.engine == "sqlite"
            else "set DATABASE_URL, or let ./emma restore --postgres bring a PostgreSQL of its own"
        )
        raise Refused(
            f"This backup is of a site on {ENGINES[said.engine]}, and this one is configured for "
            f"{ENGINES[site.engine()]}: {mend}."
        )
    unknown = sorted(set(said.migrations) - known())
    if unknown:
        raise Refused(
            f"This backup was made by a newer Emma Eval ({said.version}): this one ({site.version()}) does not know "
            f"{unknown[0]}{f' and {len(unknown) - 1} more migrations' if unknown[1:] else ''}. "
            "Restore it with that version."
        )
    _refuse_unless_empty(said)


def _refuse_unless_empty(said: Manifest) -> None:
    if said.engine == "sqlite" and site.sqlite_path().exists():
        raise Refused(f"There is a database at {site.sqlite_path()} already. Restore onto an empty folder.")
    if said.engine == "postgresql" and postgresql.contents(site.postgres()).rows:
        raise Refused("The database of DATABASE_URL holds tables already. Restore into an empty database.")
    for folder in site.folders().values():
        if next(site.files_in(folder), None):
            raise Refused(f"There are files in {folder} already. Restore onto an empty folder.")


def known() -> set[str]:
    """The migrations of this version."""
    return {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}


def waiting(said: Manifest) -> set[str]:
    """Those of this version that a backup does not have: they are applied after it is restored."""
    return known() - set(said.migrations)


# --- putting it there -----------------------------------------------------------------------------


@contextmanager
def _scratch(var: Path) -> Iterator[Path]:
    """On the same disk, so that what is whole can be moved to its place at once."""
    scratch = var / "restoring"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(mode=0o700)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _ending(said: Manifest) -> str:
    return "sqlite3" if said.engine == "sqlite" else "pgdump"


def _put_database(said: Manifest, scratch: Path) -> None:
    """Its rows are counted before it gets its place (SQLite) or right after it was loaded (PostgreSQL)."""
    kept = scratch / f"database.{_ending(said)}"
    if said.engine == "sqlite":
        _compare(said, sqlite.contents(kept))
        shutil.move(kept, site.sqlite_path())
    else:
        compare(said.rows, postgresql.rows_in(kept))
        postgresql.load(site.postgres(), kept)
        _compare(said, postgresql.contents(site.postgres()))


def _compare(said: Manifest, found: Contents) -> None:
    compare(said.rows, found.rows)
    compare_trail(said.trail_head, said.trail_fault, found.trail)


def _put_files(scratch: Path) -> int:
    count = 0
    for name, folder in site.folders().items():
        for path in list(site.files_in(scratch / name)):
            place = folder / path.relative_to(scratch / name)
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.move(path, place)
            count += 1
    return count


def _fill_bucket(said: Manifest, scratch: Path) -> None:
    """Put back what the backup holds of a bucket; what is there already stays as it is."""
    bucket = bucket_of_this_site()
    copies = {place: scratch / copy_of(place) for place in range(len(said.objects))}
    copies = {place: path for place, path in copies.items() if path.exists()}
    if copies and bucket is None:
        raise Refused("This backup holds files of a bucket: set EMMA_S3_BUCKET and its key, to put them there.")
    if bucket is None:
        return
    there = {stored.key for stored in bucket.objects()}
    for place, path in copies.items():
        if said.objects[place].key not in there:
            with path.open("rb") as source:
                bucket.put(said.objects[place].key, source)


def lacking_in_bucket(said: Manifest) -> tuple[str, ...]:
    """What was in the bucket when the backup was taken, and is not there now in its size."""
    bucket = bucket_of_this_site()
    if bucket is None:
        return tuple(stored.key for stored in said.objects)
    there = {stored.key: stored.size for stored in bucket.objects()} if said.objects else {}
    return tuple(stored.key for stored in said.objects if there.get(stored.key) != stored.size)
