"""The bucket of this site, if its files are kept in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from emma_eval.adapters.bucket import Bucket


def bucket_of_this_site(patience_s: float = 20) -> Bucket | None:
    """The bucket of EMMA_S3_BUCKET, if files are kept in one."""
    if not settings.S3_BUCKET:
        return None
    from emma_eval.adapters.bucket import Bucket  # its library weighs twenty megabytes: only where there is a bucket

    said = settings.STORAGES["exports"]["OPTIONS"]
    return Bucket(
        name=said["bucket_name"],
        endpoint=said["endpoint_url"],
        region=said["region_name"],
        key=said["access_key"],
        secret=said["secret_key"],
        patience_s=patience_s,
        written_with=said.get("object_parameters", {}),
    )
