"""A script, and a call that is being held with it."""

from __future__ import annotations

import pytest

from emma_eval.accounts.models import User
from results.models import Call
from scripts_catalog.models import Script
from tests import make


@pytest.fixture
def script(db: None) -> Script:
    return make.script("bad-news-day")


@pytest.fixture
def call(tester: User, script: Script) -> Call:
    """Ten minutes old."""
    return make.call(tester, script)
