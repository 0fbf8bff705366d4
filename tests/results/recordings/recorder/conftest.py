"""Where the recording of a call that is being held is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from emma_eval.adapters.recordings_folder import FolderStore

from ..recorded import folder_store


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return folder_store(tmp_path)
