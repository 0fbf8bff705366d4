"""How many requests a program may make in a minute. Counted in the database, so that it holds over processes.

One row for each token, written over with one statement; a minute begins with its first request. What is refused is
remembered in the process until the minute is over, so that who goes on asking costs the database nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import OperationalError, connection
from django.db.models import Q
from django.utils import timezone

from ..models import ApiToken, RequestCount, digest_of
from .problems import TooManyRequestsError

MINUTE_MS = 60_000
USED_AT_LEAST_EVERY = timedelta(minutes=1)
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


def count_use(token: ApiToken) -> None:
    """Count a request of a token, and note about when it was. Raises TooManyRequestsError."""
    with _in_a_hurry() as may_write:
        if may_write:
            spend(f"token {token.pk}", settings.API_REQUESTS_A_MINUTE)
            _note_use(token)


def count_stranger(address: str) -> None:
    """Count a request that no token opened, by the address that it came from. Raises TooManyRequestsError."""
    with _in_a_hurry() as may_write:
        if may_write:
            spend(f"address {address}", settings.API_REFUSALS_A_MINUTE)


def spend(who: str, most: int) -> None:
    key, now_ms = digest_of(f"api {who}"), time.time_ns() // 1_000_000
    free_ms = cache.get(key) or _count(key, now_ms, most)
    if free_ms > now_ms:
        cache.set(key, free_ms, (free_ms - now_ms) / 1000)
        raise TooManyRequestsError((free_ms - now_ms) / 1000)


def _count(key: str, now_ms: int, most: int) -> int:
    """When the next request is free; in the past, if this one is."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [key, now_ms, now_ms - MINUTE_MS, now_ms - MINUTE_MS])
        began_ms, requests = cursor.fetchone()
    return int(began_ms) + MINUTE_MS if requests > most else 0


def _note_use(token: ApiToken) -> None:
    """At most once a minute."""
    now = timezone.now()
    if token.used_at is None or now - token.used_at > USED_AT_LEAST_EVERY:
        before = Q(used_at=None) | Q(used_at__lt=now - USED_AT_LEAST_EVERY)
        ApiToken.objects.filter(before, pk=token.pk).update(used_at=now)


@contextmanager
def _in_a_hurry() -> Iterator[bool]:
    """SQLite has one writer: while a large sheet is imported, no program waits for its request to be counted.

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
