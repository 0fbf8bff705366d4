"""When agreement between testers is worked out: light enough for a page to say."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Max

from ..models import Agreement
from .changes import changed_since
from .read_agreement import readable

KEPT_FOR = timedelta(hours=1)
LOOKED_EVERY = timedelta(minutes=5)  # as the settings say, to which a test holds it
# Names no time of day: it would be another one each time that somebody looks.
NOT_YET = (
    "Not worked out yet. It takes a script that several testers ran on the same build, and is looked at every "
    f"{LOOKED_EVERY.seconds // 60} minutes."
)


def is_due(now: datetime, *, with_safety: bool) -> bool:
    """If anything was filed or changed: once an hour, but at once while nothing can be told.

    What the untrained read goes by what they may know of, or its time would tell of the rest.
    """
    kept = Agreement.objects.filter(with_safety=with_safety)
    last: datetime | None = kept.aggregate(at=Max("worked_out_at"))["at"]
    if last is None:
        return True
    return (now - last >= KEPT_FOR or not _tells_anything(with_safety)) and changed_since(last, with_safety=with_safety)


def _tells_anything(with_safety: bool) -> bool:
    """Whether two testers had rated the same at all, and it may be read."""
    return readable(with_safety=with_safety).filter(script="", build="", units__gt=0).exists()
