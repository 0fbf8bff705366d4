"""Link entries that are not linked yet. Beside the acts that write them: no act waits for the chain.

An entry is written in the transaction of its act, so one with an early key may be committed after one with a later
key. It is linked when it is seen, behind those that were there: the chain is in the order of linking.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Exists, Max, OuterRef, QuerySet

from .. import keys
from ..models import AuditEntry, AuditLink
from .digest import FIRST, canonical, digest_after

IN_ONE_TRANSACTION = 500  # entries: SQLite has one writer, and nobody is to wait long for it
LATE_BY_AT_MOST = timedelta(days=1)  # what is committed later than that is found by the nightly look at everything
ONE_AT_A_TIME = 7_201_133  # the key of the lock on PostgreSQL; any number that no other lock has


def link_entries(now: datetime, *, is_everything: bool = False, patience_s: float = 45) -> int:
    """Link what is not linked, oldest first, and tell how many. May run at any time, twice, and be killed."""
    since = 0 if is_everything else _since(now)
    until, linked = time.monotonic() + patience_s, 0
    while time.monotonic() < until and (first := _first_unlinked(since)) is not None:
        made = _link_some(first)
        if not made:
            break
        linked, since = linked + len(made), made[-1].entry + 1  # so that no batch looks at what another linked
    return linked


def _since(now: datetime) -> int:
    """From here on nothing is taken as linked: a day ago, or the newest link where that is longer ago."""
    newest = AuditLink.objects.aggregate(newest=Max("entry"))["newest"]
    return min(newest or 0, keys.least_key_at(now - LATE_BY_AT_MOST))


def _first_unlinked(since: int) -> int | None:
    """Looked for outside of any transaction: among a million that are linked it takes seconds."""
    return _unlinked(since).values_list("pk", flat=True).first()


def _unlinked(since: int) -> QuerySet[AuditEntry]:
    linked = AuditLink.objects.filter(entry=OuterRef("pk"))
    return AuditEntry.objects.filter(~Exists(linked), pk__gte=since).order_by("pk")


@transaction.atomic
def _link_some(since: int) -> list[AuditLink]:
    if not _is_our_turn():
        return []
    last = AuditLink.objects.order_by("-place").first()
    place, digest = (last.place, last.digest) if last else (0, FIRST)
    made = []
    for place_now, entry in enumerate(_unlinked(since)[:IN_ONE_TRANSACTION], place + 1):
        digest = digest_after(digest, canonical(entry))
        made.append(AuditLink(entry=entry.pk, place=place_now, digest=digest))
    AuditLink.objects.bulk_create(made, batch_size=500)
    return made


def _is_our_turn() -> bool:
    """Whether nobody else is linking. SQLite has one writer anyway; the unique place stands behind."""
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, 0)", [ONE_AT_A_TIME])
        return bool(cursor.fetchone()[0])
