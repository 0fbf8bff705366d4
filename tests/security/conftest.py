from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker

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


@pytest.fixture(scope="module")
def lasting_world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """A world for all tests of a file: it stands in a transaction around those of the tests, which leave it as it was.

    A test takes a copy of it, for what it writes into the objects themselves.
    """
    around = transaction.atomic()
    with django_db_blocker.unblock():
        around.__enter__()
        made = build_world()
    yield made
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        around.__exit__(None, None, None)
    made.upload.path.unlink(missing_ok=True)
