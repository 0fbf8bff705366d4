"""Where recordings are kept in a test: in a bucket of a real server, or in a folder."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from .s3 import S3Server

_folders = itertools.count()


def storage_in(server: S3Server, bucket: str, location: str, **more: Any) -> dict[str, Any]:
    """A folder of a bucket, as an entry of STORAGES."""
    options = {
        "bucket_name": bucket,
        "endpoint_url": server.endpoint,
        "region_name": server.region,
        "access_key": server.key,
        "secret_key": server.secret,
        "location": location,
    }
    return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options | more}


def use_bucket(settings: Any, server: S3Server, name: str, *, location: str = "", **more: Any) -> None:
    """In a folder that no other test has, unless one is named."""
    backend = storage_in(server, name, location or f"recordings-{next(_folders)}", **more)
    settings.STORAGES = {**settings.STORAGES, "recordings": backend}


def use_folder(settings: Any, folder: Path) -> None:
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": folder}}
    settings.STORAGES = {**settings.STORAGES, "recordings": backend}


def let_pages_reach(settings: Any, server: S3Server) -> None:
    """As the settings of a site with a bucket do."""
    directives = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    reached = {name: [*directives[name], server.endpoint] for name in ("img-src", "media-src", "connect-src")}
    settings.CONTENT_SECURITY_POLICY = {"DIRECTIVES": {**directives, **reached}}
