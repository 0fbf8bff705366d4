"""Tess, and a call that she may hold; a file with other needs has fixtures of its own."""

from __future__ import annotations

import pytest
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import Call
from scripts_catalog.models import Build, Script
from tests import make
from tests.browser.beside_a_call import new_call


@pytest.fixture
def tess(live_server: LiveServer) -> User:
    return make.user("tess@example.test", Role.TESTER, name="Tess")


@pytest.fixture
def build(live_server: LiveServer) -> Build:
    return make.build("2026.10", is_current=True)


@pytest.fixture
def script(live_server: LiveServer) -> Script:
    return make.script("bad-news-day", title="Bad news day")


@pytest.fixture
def call(tess: User, script: Script, build: Build) -> Call:
    return new_call(tess, script)
