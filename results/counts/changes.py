"""Whether anything was done since a moment that agreement between testers depends on."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import OuterRef, Q, Subquery
from django.db.models.expressions import Combinable

from emma_eval.accounts.models import AuditEntry
from scripts_catalog import taxonomy
from scripts_catalog.models import ScriptVersion, ScriptVersionQuerySet

# A transaction may be seen some time after the moment that it writes down: what lies this far back is looked at again.
SLACK = timedelta(minutes=10)
CHANGING = (
    "filed a result",
    "corrected a result",
    "imported a sheet",
    "published a script",  # its area decides who may know of it
    "published a version",
)


def changed_since(moment: datetime) -> bool:
    """Read off the audit trail, which has a line for each of these in the same transaction, and an index."""
    newest = (AuditEntry.objects.filter(action=action).order_by("-id").first() for action in CHANGING)
    return any(entry is not None and entry.at >= moment - SLACK for entry in newest)


def moved_since(moment: datetime | Combinable) -> ScriptVersionQuerySet:
    """Versions that took a script into Safety or out of it. One that always was there did not move, nor a new one."""
    earlier = ScriptVersion.objects.filter(script=OuterRef("script"), number=OuterRef("number") - 1)
    crossing = Q(area=taxonomy.SAFETY) ^ Q(before=taxonomy.SAFETY)
    new = ScriptVersion.objects.filter(number__gt=1, created_at__gte=moment)
    return new.annotate(before=Subquery(earlier.values("area"))).filter(crossing)
