"""What this site keeps and where: its database, folders, secret and bucket, read from the settings."""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from emma_eval.adapters.recordings_folder import ARRIVING

from .postgresql import Database

BASE_DIR = Path(__file__).resolve().parent.parent.parent
MADE_AGAIN = "exports/"  # what of the bucket is not kept: an export is made again by asking for it


def version() -> str:
    found: dict[str, Any] = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())
    return str(found["project"]["version"])


def engine() -> str:
    return "sqlite" if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3") else "postgresql"


def sqlite_path() -> Path:
    return Path(settings.DATABASES["default"]["NAME"])


def postgres() -> Database:
    return Database.of_settings(settings.DATABASES["default"])


def folders() -> dict[str, Path]:
    """The folders whose files can't be made again, by their names in a backup."""
    return {"recordings": settings.RECORDINGS_DIR, "imports": settings.IMPORTS_DIR}


def files_in(folder: Path) -> Iterator[Path]:
    """Its files, in order. What links elsewhere is not ours to keep, and what is still arriving is no file yet."""
    for path, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if name != ARRIVING)
        for name in sorted(names):
            found = Path(path) / name
            if found.is_file() and not found.is_symlink():
                yield found


def secret_path() -> Path:
    return Path(settings.VAR_DIR / "secret_key")


def keeps_its_secret() -> bool:
    """Whether the secret is the folder's own; one of the environment is kept by whoever set it."""
    return not os.environ.get("EMMA_SECRET_KEY", "").strip() and secret_path().exists()


def keeps_its_postgres() -> bool:
    """Whether the database is the one that `./emma up --postgres` runs in this folder."""
    return not os.environ.get("DATABASE_URL", "").strip() and (settings.VAR_DIR / "database_url").exists()


def has_demo_team() -> bool:
    from emma_eval.accounts.models import User

    return User.objects.filter(is_demo=True).exists()


def fingerprint(secret: str) -> str:
    """Tells whether two secrets are the same, and nothing else: they are long and random."""
    return hashlib.sha256(f"emma-eval backup {secret}".encode()).hexdigest()[:16]
