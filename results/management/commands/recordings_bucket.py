"""Give the bucket of recordings the rules that it keeps by itself; done twice, it changes nothing."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from emma_eval.adapters.errors import NeighbourError
from results.recordings.store import bucket_of_recordings


class Command(BaseCommand):
    help = "Let this site's pages into the bucket, have it drop unfinished uploads, encrypt, and stay closed."

    def handle(self, *args: Any, **options: Any) -> None:
        found = bucket_of_recordings()
        if found is None:
            raise CommandError("Recordings are kept in a folder: there is no bucket. Set EMMA_S3_BUCKET to use one.")
        from emma_eval.adapters.bucket_rules import Rules, lay_down  # only where there is a bucket: it is heavy

        bucket, folder = found
        rules = Rules(
            origin=settings.ORIGIN,
            folder=folder,
            unfinished_days=settings.UNFINISHED_UPLOADS_ARE_KEPT_DAYS,
            old_versions_days=settings.OLD_VERSIONS_ARE_KEPT_DAYS,
            encryption=settings.S3_ENCRYPTION,
        )
        try:
            done = lay_down(bucket, rules)
        except NeighbourError as told:
            raise CommandError(str(told)) from told
        for each in done:
            self.stdout.write(f"{each.what}: {each.words}")
        if not all(each.is_well for each in done):
            raise CommandError("Not all of it could be set: give the key those rights, or set it at the server.")
