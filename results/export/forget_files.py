"""Remove files that were made a week ago, and what killed workers left behind."""

from __future__ import annotations

import shutil
import time
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.core.files.storage import storages
from django.utils import timezone

from results.models import FILES_ARE_KEPT_FOR, Export

from .make_file import MAKING, STORAGE

EXPORTS_ARE_TOLD_FOR = timedelta(days=30)
LEFT_BEHIND_AFTER = timedelta(days=1)


def forget_files(now: datetime | None = None) -> None:
    """May run at any time and twice. A file goes before its export says so: what is told to be there is there."""
    now = now or timezone.now()
    for export in Export.objects.filter(made_at__lt=now - FILES_ARE_KEPT_FOR).exclude(file=""):
        Export.objects.filter(pk=export.pk).update(file="")
        export.calls.clear()
        storages[STORAGE].delete(export.file)
    Export.objects.filter(asked_at__lt=now - EXPORTS_ARE_TOLD_FOR).delete()
    _forget_strays(now - LEFT_BEHIND_AFTER)
    _forget_folders(now - LEFT_BEHIND_AFTER)


def _forget_strays(before: datetime) -> None:
    """Files that belong to no export: their worker was killed between writing them and saying so."""
    storage = storages[STORAGE]
    Path(settings.EXPORTS_DIR).mkdir(mode=0o700, parents=True, exist_ok=True)
    _, names = storage.listdir("")
    known = set(Export.objects.filter(file__in=names).values_list("file", flat=True))
    for name in set(names) - known - {""}:
        if storage.get_modified_time(name) < before:
            storage.delete(name)


def _forget_folders(before: datetime) -> None:
    for folder in Path(settings.EXPORTS_DIR).glob(f"{MAKING}*"):
        if folder.stat().st_mtime < time.time() - (timezone.now() - before).total_seconds():
            shutil.rmtree(folder, ignore_errors=True)
