"""Why a result is to be looked at, as far as it tells by itself. Disagreement shows only beside others."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from django.conf import settings
from django.utils.crypto import salted_hmac

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
    """The reason after a correction of these fields. Disagreement holds as long as no rating was changed, and what was
    drawn stays drawn, whatever the share and the site's secret are by now.
    """
    if result.queued_for == QueuedFor.DISAGREEMENT and set(DIMENSION_KEYS).isdisjoint(changed):
        return result.queued_for
    drawn = QueuedFor.SAMPLE if result.queued_for == QueuedFor.SAMPLE else None
    return reason_for(result, tags) or drawn


def is_drawn(draft_uuid: uuid.UUID, share: int) -> bool:
    """Whether a draft is of the share in percent that is drawn. The same draft gives the same answer each time, and
    whatever is drawn for a share is drawn for a larger one, too.

    The site's secret is in it: who makes the UUID, which is the browser or the program of a tester, can't choose. With
    another secret others are drawn; what waits already waits on.
    """
    digest = salted_hmac("results.review.is_drawn", draft_uuid.bytes, algorithm="sha256").digest()
    place = int.from_bytes(digest[:4])
    return place * 100 < share * 2**32
