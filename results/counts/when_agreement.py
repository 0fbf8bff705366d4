"""When agreement between testers is worked out: light enough for a page to say."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Max

from ..models import Agreement
from .changes import changed_since

KEPT_FOR = timedelta(hours=1)
LOOKED_EVERY = timedelta(minutes=5)  # as the settings say, to which a test holds it
# Names no time of day: it would be another one each time that somebody looks.
NOT_YET = (
    "Not worked out yet. It takes a script that several testers ran on the same build, and is looked at every "
    f"{LOOKED_EVERY.seconds // 60} minutes."
)


def is_due(now: datetime) -> bool:
    """If anything was filed or changed: once an hour, but at once while nothing could be told so far."""
    last = _last()
    if last is None:
        return True
    return (now - last >= KEPT_FOR or not _tells_anything()) and changed_since(last)


def _last() -> datetime | None:
    found: datetime | None = Agreement.objects.aggregate(at=Max("worked_out_at"))["at"]
    return found


def _tells_anything() -> bool:
    """Whether two testers had rated the same at all; what only the trained may know of changes nothing in this."""
    return Agreement.objects.filter(script="", build="", with_safety=False, units__gt=0).exists()
