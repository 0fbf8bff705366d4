"""Why a result is to be looked at, as far as it tells by itself. Disagreement shows only beside others."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable

from django.conf import settings

from scripts_catalog import taxonomy

from ..models import DIMENSION_KEYS, QueuedFor, Result

VERY_LOW = 1
OTHER_TAGS = frozenset(tag.key for tag in taxonomy.TAG_BY_KEY.values() if tag.needs_a_note)


def reason_for(result: Result, tags: Iterable[str]) -> QueuedFor | None:
    """The most pressing reason that the result itself gives; `tags` are those it has or is about to get."""
    if not OTHER_TAGS.isdisjoint(tags):
        return QueuedFor.OTHER_TAG
    if any((getattr(result, key) or VERY_LOW + 1) <= VERY_LOW for key in DIMENSION_KEYS):
        return QueuedFor.VERY_LOW
    return QueuedFor.SAMPLE if is_drawn(result.draft_uuid, settings.REVIEW_SHARE) else None


def reason_after(result: Result, tags: Iterable[str], changed: Iterable[str]) -> int | None:
    """The reason after a correction of these fields. Disagreement holds as long as no rating was changed."""
    if result.queued_for == QueuedFor.DISAGREEMENT and set(DIMENSION_KEYS).isdisjoint(changed):
        return result.queued_for
    return reason_for(result, tags)


def is_drawn(draft_uuid: uuid.UUID, share: int) -> bool:
    """Whether a draft is of the share in percent that is drawn. The same draft gives the same answer each time, and
    whatever is drawn for a share is drawn for a larger one, too.

    Its UUID is hashed first: keys that an import derives from rows need not be spread evenly.
    """
    place = int.from_bytes(hashlib.sha256(draft_uuid.bytes).digest()[:4])
    return place * 100 < share * 2**32
