"""Reading that may take longer than a page is given: in tasks, over all results of a large site."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def take_time() -> Iterator[None]:
    """Lift the limit that PostgreSQL puts on a statement. SQLite has none, and a transaction there would keep
    everybody from writing."""
    if connection.vendor != "postgresql":
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = '10min'")
        yield
