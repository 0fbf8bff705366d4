"""What killed workers left behind is cleared away; what somebody still works on is not."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from emma_eval.accounts.models import User
from results import tasks
from results.export.forget_files import forget_files
from results.models import Export

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
TWO_DAYS_AGO_S = 2 * 24 * 3600


def put(name: str, *, is_old: bool, is_folder: bool = False) -> Path:
    path = Path(settings.EXPORTS_DIR) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if is_folder:
        path.mkdir()
        (path / "results.xlsx").write_bytes(b"half")
    else:
        path.write_bytes(b"whole")
    if is_old:
        os.utime(path, times=(time.time() - TWO_DAYS_AGO_S,) * 2)
    return path


def test_files_of_no_export_go_after_a_day(owner: User) -> None:
    stray, fresh, kept = (
        put("stray.xlsx", is_old=True),
        put("fresh.xlsx", is_old=False),
        put("kept.xlsx", is_old=True),
    )
    Export.objects.create(owner=owner, total=1, file="kept.xlsx", made_at=timezone.now() - timedelta(days=2))
    tasks.forget_exports()
    assert [path.exists() for path in (stray, fresh, kept)] == [False, True, True]


def test_folders_of_killed_workers_go_after_a_day(owner: User) -> None:
    left = put("making-left", is_old=True, is_folder=True)
    in_work = put("making-now", is_old=False, is_folder=True)
    forget_files()
    assert [path.exists() for path in (left, in_work)] == [False, True]


def test_a_site_that_never_exported_has_nothing_to_forget(db: None) -> None:
    forget_files()
    assert Path(settings.EXPORTS_DIR).stat().st_mode & 0o077 == 0
