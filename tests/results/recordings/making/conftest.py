"""Where recordings are kept, and where they are worked on: in folders of the test."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import Settings

from emma_eval.adapters.recordings import Store
from results.recordings.store import recordings_store
from tests.stores import use_folder


@pytest.fixture
def store(settings: Settings, tmp_path: Path) -> Store:
    use_folder(settings, tmp_path / "recordings")
    settings.VAR_DIR = tmp_path
    return recordings_store()
