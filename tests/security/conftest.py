from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from django.core.cache import cache

from .world import World, build_world


@pytest.fixture(autouse=True)
def _no_limit_is_used_up() -> None:
    cache.clear()


@pytest.fixture(autouse=True)
def _refusals_are_not_news() -> Iterator[None]:
    """These tests are refused thousands of times; writing each down takes longer than the refusal."""
    log = logging.getLogger("django.request")
    log.setLevel(logging.CRITICAL)
    yield
    log.setLevel(logging.NOTSET)


@pytest.fixture
def world(db: None) -> Iterator[World]:
    made = build_world()
    yield made
    made.upload.path.unlink(missing_ok=True)
