"""Whether anything was done since a moment that agreement between testers depends on."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import OuterRef, Q, Subquery
from django.db.models.expressions import Combinable

from emma_eval.accounts.keys import least_key_at
from emma_eval.accounts.models import AuditEntry
from scripts_catalog import taxonomy
from scripts_catalog.models import ScriptVersion, ScriptVersionQuerySet

from ..models import Result

# A transaction may be seen some time after the moment that it writes down: what lies this far back is looked at again.
SLACK = timedelta(minutes=10)
CHANGING = (
    "filed a result",
    "corrected a result",
    "imported a sheet",
    "published a script",  # its area decides who may know of it
    "published a version",
)


def changed_since(moment: datetime, *, with_safety: bool) -> bool:
    """Of everything, or of what the untrained may know of: then nothing else moves it.

    Read off the audit trail, which has a line for each of these in the same transaction, and an index. Of a sheet or a
    move that touches Safety the line is for the trained: what of it the untrained see is looked for by itself.
    """
    since = moment - SLACK
    entries = AuditEntry.objects.all() if with_safety else AuditEntry.objects.filter(is_safety=False)
    newest = (entries.filter(action=action).order_by("-id").first() for action in CHANGING)
    if any(entry is not None and entry.at >= since for entry in newest):
        return True
    return not with_safety and (_has_open_results(since) or moved_since(since).exists())


def moved_since(moment: datetime | Combinable) -> ScriptVersionQuerySet:
    """Versions that took a script into Safety or out of it. One that always was there did not move, nor a new one."""
    earlier = ScriptVersion.objects.filter(script=OuterRef("script"), number=OuterRef("number") - 1)
    crossing = Q(area=taxonomy.SAFETY) ^ Q(before=taxonomy.SAFETY)
    new = ScriptVersion.objects.filter(number__gt=1, created_at__gte=moment)
    return new.annotate(before=Subquery(earlier.values("area"))).filter(crossing)


def _has_open_results(since: datetime) -> bool:
    return Result.objects.open_to_all().filter(pk__gte=least_key_at(since)).exists()
