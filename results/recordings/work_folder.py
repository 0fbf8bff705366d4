"""Where a worker lays down what it works on: in the folder of data, since what is given for passing things may hold no
4 GB."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings

WORKED_IN = "making-recordings"
LEFT_BEHIND_AFTER_S = 24 * 3600


@contextmanager
def work_folder() -> Iterator[Path]:
    """A folder of our own, gone afterwards; and gone by the next day, if a worker died of what was in it."""
    home = Path(settings.VAR_DIR) / WORKED_IN
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in home.iterdir():
        if left.stat().st_mtime < time.time() - LEFT_BEHIND_AFTER_S:
            shutil.rmtree(left, ignore_errors=True)
    with TemporaryDirectory(dir=home, ignore_cleanup_errors=True) as folder:
        yield Path(folder)
