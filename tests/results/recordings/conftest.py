"""An upload to either store, as a page goes about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from results.models import Call
from results.recordings.uploads import begin_upload as beginning
from tests.s3 import S3Server
from tests.stores import use_bucket, use_folder

from .uploading import SMALLEST, Page


@pytest.fixture(params=["folder", "bucket"])
def part_size(
    request: pytest.FixtureRequest, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> int:
    """In either store; the size of its parts, as small as it takes them."""
    cache.clear()
    if request.param == "folder":
        use_folder(settings, tmp_path / "recordings")
    else:
        server: S3Server = request.getfixturevalue("s3")
        use_bucket(settings, server, server.shared_bucket)
    size = 10 if request.param == "folder" else SMALLEST
    monkeypatch.setattr(beginning, "PART_BYTES", size)
    return size


@pytest.fixture
def page(tester_client: Client, call: Call, part_size: int) -> Page:
    """Two whole parts and the beginning of a third."""
    return Page.begin(tester_client, call.uuid, b"a" * part_size + b"b" * part_size + b"ccc")
