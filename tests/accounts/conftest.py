"""Sign-in limits are counted in the cache; each test starts with none used up."""

from __future__ import annotations

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def _no_limit_is_used_up() -> None:
    cache.clear()
