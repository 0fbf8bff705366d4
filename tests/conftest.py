"""What every test may use: people of each role, a script, a build, a result, and the database of this run."""

from __future__ import annotations

import os

import pytest
from django.conf import settings
from django.test import Client

import emma_eval.celery  # noqa: F401  (a shared task without an app would talk to a default broker)
from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from tests import make

# Playwright's loop runs in the thread of the test; Django would otherwise refuse it the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """SQLite in a file for each test process, so that its log and its locks are real."""
    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        suffix = os.environ.get("PYTEST_XDIST_WORKER", "main")
        database["TEST"]["NAME"] = str(settings.VAR_DIR / f"test_{suffix}.sqlite3")


@pytest.fixture(autouse=True)
def _plain_static_files() -> None:
    """No collectstatic in tests: the names of static files are not hashed."""
    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)


@pytest.fixture
def tester(db: None) -> User:
    return make.user("tess@example.test", Role.TESTER)


@pytest.fixture
def trained_tester(db: None) -> User:
    return make.user("tara@example.test", Role.TESTER, is_trained=True)


@pytest.fixture
def eval_member(db: None) -> User:
    return make.user("eve@example.test", Role.EVAL_TEAM)


@pytest.fixture
def trained_eval_member(db: None) -> User:
    return make.user("evan@example.test", Role.EVAL_TEAM, is_trained=True)


@pytest.fixture
def manager(db: None) -> User:
    return make.user("max@example.test", Role.MANAGER)


@pytest.fixture
def administrator(db: None) -> User:
    return make.user("ada@example.test", Role.ADMINISTRATOR)


@pytest.fixture
def tester_client(tester: User) -> Client:
    return make.client_of(tester)


@pytest.fixture
def eval_client(eval_member: User) -> Client:
    return make.client_of(eval_member)


@pytest.fixture
def manager_client(manager: User) -> Client:
    return make.client_of(manager)
