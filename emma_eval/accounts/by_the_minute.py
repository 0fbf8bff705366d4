"""How many requests somebody may make in a minute. Counted in the database, so that it holds over processes.

One row for each program, person or address, written over with one statement; a minute begins with its first request.
What is refused is remembered in the process until the minute is over, so that who goes on asking costs the database
nothing. Who is signed in is counted by who they are, never by their address: an office may have one for everybody.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db import OperationalError, connection
from django.http import HttpResponseBase, JsonResponse

from .models import RequestCount, digest_of
from .roles import UserRequest

MINUTE_MS = 60_000
# A read waits no longer than this for one long writer of SQLite; then it isn't counted, nor are those that follow soon.
PATIENCE_MS, BUSY_S, BUSY = 2000, 10, "api-is-busy"
log = logging.getLogger(__name__)

COUNT = """
INSERT INTO accounts_requestcount AS kept (key, began_ms, requests) VALUES (%s, %s, 1)
ON CONFLICT (key) DO UPDATE SET
  requests = CASE WHEN kept.began_ms > %s THEN kept.requests + 1 ELSE 1 END,
  began_ms = CASE WHEN kept.began_ms > %s THEN kept.began_ms ELSE excluded.began_ms END
RETURNING began_ms, requests
"""
View = Callable[..., HttpResponseBase]


class TooManyInAMinuteError(Exception):
    """The limit is reached; in so many seconds the next request is free."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"too many requests for {wait_s:.1f} s")
        self.wait_s = max(1, math.ceil(wait_s))


def at_most(what: str, setting: str) -> Callable[[View], View]:
    """Let a person's page ask this as often in a minute as the setting says; it is told when to come back."""

    def limit(view: View) -> View:
        @wraps(view)
        def respond(request: UserRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            try:
                count(f"{what} {request.user.pk}", getattr(settings, setting))
            except TooManyInAMinuteError as refused:
                return _come_back(refused.wait_s)
            return view(request, *args, **kwargs)

        return respond

    return limit


def _come_back(wait_s: int) -> JsonResponse:
    words = f"This page saves very often. It goes on in {wait_s} seconds."
    return JsonResponse({"error": "too_many", "message": words}, status=429, headers={"Retry-After": str(wait_s)})


def count(who: str, most: int) -> None:
    """Count a request, unless that would have to wait long. Raises TooManyInAMinuteError."""
    with in_a_hurry() as may_write:
        if may_write:
            spend(who, most)


def spend(who: str, most: int) -> None:
    key, now_ms = digest_of(f"api {who}"), time.time_ns() // 1_000_000
    free_ms = cache.get(key) or _count(key, now_ms, most)
    if free_ms > now_ms:
        cache.set(key, free_ms, (free_ms - now_ms) / 1000)
        raise TooManyInAMinuteError((free_ms - now_ms) / 1000)


def _count(key: str, now_ms: int, most: int) -> int:
    """When the next request is free; in the past, if this one is."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [key, now_ms, now_ms - MINUTE_MS, now_ms - MINUTE_MS])
        began_ms, requests = cursor.fetchone()
    return int(began_ms) + MINUTE_MS if requests > most else 0


@contextmanager
def in_a_hurry() -> Iterator[bool]:
    """SQLite has one writer: while a large sheet is imported, nobody waits for their request to be counted.

    False: it was waited for a moment ago, in vain.
    """
    if connection.vendor != "sqlite" or cache.get(BUSY):
        yield connection.vendor != "sqlite"
        return
    usual_ms = round(settings.DATABASES["default"]["OPTIONS"]["timeout"] * 1000)
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")
    try:
        yield True
    except OperationalError as cause:
        if "locked" not in str(cause):
            raise
        log.warning("requests are not counted: the database is being written to")
        cache.set(BUSY, True, BUSY_S)
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {usual_ms}")


def clear_away() -> None:
    """Remove the counts of minutes that are over."""
    RequestCount.objects.filter(began_ms__lt=time.time_ns() // 1_000_000 - 60 * MINUTE_MS).delete()
