"""A call that is being held, and where its recording is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from emma_eval.accounts.models import User
from emma_eval.adapters.recordings_folder import FolderStore
from results.models import Call
from scripts_catalog.models import Script
from tests import make

from ..recorded import folder_store


@pytest.fixture
def script(db: None) -> Script:
    return make.script("bad-news-day")


@pytest.fixture
def call(tester: User, script: Script) -> Call:
    return make.call(tester, script)


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return folder_store(tmp_path)
