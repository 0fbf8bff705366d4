"""What every test may use: people of each role, a script, a build, a result, and the database of this run."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.core.management.commands import flush as flush_command
from django.core.servers.basehttp import WSGIRequestHandler
from django.db import connection
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, sync_playwright
from pytest_django.live_server_helper import LiveServer
from pytest_django.plugin import DjangoDbBlocker

import emma_eval.celery  # noqa: F401  (a shared task without an app would talk to a default broker)
from emma_eval.accounts import append_only
from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from tests import make
from tests.chromium import CHROMIUM_ARGS
from tests.s3 import S3Server, s3_server

OpenPage = Callable[..., Page]

# Playwright's loop runs in the thread of the test; Django would otherwise refuse it the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--data-layer-only", action="store_true", help="only tests marked data_layer, beside any -m")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what was not asked for, and put what needs no database first.

    Among that are the longest, which start whole sites: near the end one process would wait for the other.
    """
    if config.getoption("data_layer_only"):
        left_out = [item for item in items if item.get_closest_marker("data_layer") is None]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item.get_closest_marker("data_layer") is not None]
    items.sort(key=needs_the_database)


def needs_the_database(item: pytest.Item) -> bool:
    fixtures = {"db", "transactional_db", "live_server"}.intersection(getattr(item, "fixturenames", ()))
    return bool(fixtures) or item.get_closest_marker("django_db") is not None


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """SQLite in a file for each test process, so that its log and its locks are real."""
    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        suffix = os.environ.get("PYTEST_XDIST_WORKER", "main")
        database["TEST"]["NAME"] = str(settings.VAR_DIR / f"test_{suffix}.sqlite3")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """PostgreSQL drops no database that somebody is connected to: who is left at the end is named, and goes."""
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT state, query, pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            for state, query, _ in cursor.fetchall():
                print(f"a connection was left {state}, after: {query[:300]}", file=sys.__stderr__)


# What Django itself writes into a new database, by its models alone.
WRITTEN_BY_DJANGO = ("django_content_type", "auth_permission")


@pytest.fixture(scope="session", autouse=True)
def _emptying_the_database_lifts_the_seal_of_the_audit_trail() -> None:
    """Tests with real transactions empty every table afterwards, the one that refuses it included.

    What Django wrote into the new database stays, so that it need not be written again after each of them.
    """
    # On the class: a browser's event loop gives the test another connection object.
    operations, vendor = type(connection.ops), connection.vendor
    write_flush = operations.sql_flush

    def flush(self: Any, style: Any, tables: list[str], **kwargs: Any) -> list[str]:
        tables = [table for table in tables if table not in WRITTEN_BY_DJANGO]
        lifted = [*append_only.UNSEAL_LINKS[vendor], *append_only.UNSEAL[vendor]]
        # To truncate many tables takes PostgreSQL long, however empty they are; its foreign keys wait for the commit.
        emptied = (
            [f'DELETE FROM "{table}"' for table in tables]
            if vendor == "postgresql"
            else write_flush(self, style, tables, **kwargs)
        )
        return [*lifted, *emptied, *append_only.SEAL[vendor], *append_only.SEAL_LINKS[vendor]]

    operations.sql_flush = flush  # type: ignore[method-assign]
    flush_command.emit_post_migrate_signal = lambda *args, **kwargs: None


@pytest.fixture(scope="session", autouse=True)
def _passwords_are_hashed_quickly() -> None:
    """A good hash takes a quarter of a second, and most tests make several people."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session", autouse=True)
def _house_of_the_tests() -> None:
    """The folders that `./emma up` would make; no collectstatic, so the names of static files are not hashed."""
    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    for folder in (settings.STATIC_ROOT, settings.RECORDINGS_DIR, settings.QUEUE_DIR, settings.CONTROL_DIR):
        folder.mkdir(parents=True, exist_ok=True)


@pytest.fixture(scope="session", autouse=True)
def _the_live_server_answers_at_once() -> None:
    """It writes an answer in pieces, and Nagle's algorithm would hold the second back for 40 ms at each request."""
    WSGIRequestHandler.disable_nagle_algorithm = True


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
def eval_lead(db: None) -> User:
    return make.user("lea@example.test", Role.EVAL_TEAM, Role.EVAL_LEAD)


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


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """A real S3 server, once for each test process that asks for it."""
    with s3_server() as server:
        yield server


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, once for each test process."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser, live_server: LiveServer) -> Iterator[OpenPage]:
    """Make browser pages on the live site: `open_page(user, width=360, dark=True, has_touch=True)`.

    Each call is a browser of its own, signed in as that user (None: as nobody). What the pages said about
    scripts that failed or broke the content policy fails the test at its end.
    """
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            complaints.append(message.text)

    def fault(error: Error) -> None:
        complaints.append(f"{error.name}: {error.message}")

    def open_(
        user: User | None = None, *, width: int = 1280, height: int = 800, dark: bool = False, **more: Any
    ) -> Page:
        context = chromium.new_context(
            base_url=live_server.url,
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            **more,
        )
        contexts.append(context)
        if user is not None:
            sign_in(context, user, live_server.url)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", note)
        page.on("pageerror", fault)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []


def sign_in(context: BrowserContext, user: User, url: str) -> None:
    cookie = make.client_of(user).cookies[settings.SESSION_COOKIE_NAME]
    context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": url}])
