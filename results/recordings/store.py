"""The store of recordings that this site is configured with."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.files.storage import FileSystemStorage, storages
from django.urls import reverse

from emma_eval.adapters.recordings_folder import FolderStore

if TYPE_CHECKING:
    from emma_eval.adapters.bucket import Bucket
    from emma_eval.adapters.recordings import Store
    from emma_eval.adapters.recordings_s3 import S3Store


def recordings_store() -> Store:
    """A bucket or a folder, as `STORAGES["recordings"]` says: django-storages holds the one configuration of both."""
    return folder_of_this_site() or _bucket_of(storages["recordings"])


def folder_of_this_site() -> FolderStore | None:
    """The folder, where recordings are kept in one."""
    storage = storages["recordings"]
    if not isinstance(storage, FileSystemStorage):
        return None
    return FolderStore(
        folder=Path(storage.location),
        secret=settings.SECRET_KEY,
        address=_address,
        known_secrets=tuple(settings.SECRET_KEY_FALLBACKS),
        unfinished_s=settings.UNFINISHED_UPLOADS_ARE_KEPT_DAYS * 24 * 3600,
    )


def _address(token: str) -> str:
    """Of this site, whatever name it is called by."""
    return reverse("kept", args=[token])


def _bucket_of(storage: Any) -> S3Store:
    return _bucket(
        bucket=storage.bucket_name,
        folder=_folder_in(storage),
        parameters=tuple(sorted(storage.object_parameters.items())),
        **_way_to(storage),
    )


def _folder_in(storage: Any) -> str:
    return f"{storage.location.strip('/')}/"


def _way_to(storage: Any) -> dict[str, Any]:
    """Where the server of the bucket is, and the key to it."""
    return {
        "endpoint": storage.endpoint_url,
        "region": storage.region_name,
        "key": storage.access_key,
        "secret": storage.secret_key,
    }


@lru_cache(maxsize=4)
def _bucket(*, parameters: tuple[tuple[str, str], ...], **named: Any) -> S3Store:
    """One for the process: its client takes a tenth of a second to make, and its connections are kept."""
    from emma_eval.adapters.recordings_s3 import S3Store  # twenty megabytes: only where there is a bucket

    return S3Store(parameters=dict(parameters), **named)


def bucket_of_recordings() -> tuple[Bucket, str] | None:
    """The bucket itself, and the folder of recordings in it; None where they are kept in a folder of ours."""
    storage: Any = storages["recordings"]
    if isinstance(storage, FileSystemStorage):
        return None
    from emma_eval.adapters.bucket import Bucket

    return Bucket(name=storage.bucket_name, **_way_to(storage)), _folder_in(storage)
