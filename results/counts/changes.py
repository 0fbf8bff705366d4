"""Whether anything was done since a moment that agreement between testers depends on."""

from __future__ import annotations

from datetime import datetime, timedelta

from emma_eval.accounts.models import AuditEntry

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
