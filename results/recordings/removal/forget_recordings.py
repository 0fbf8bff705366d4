"""Remove recordings that were kept as long as the site keeps them, and uploads that nobody finished."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import QuerySet

from emma_eval.accounts.models import User

from ...models import Origin, Recording, RecordingState
from .removal_reasons import Reason
from .remove_recording import remove_recording

AT_ONCE = 100
NOBODY_CAME_BACK = timedelta(days=14)  # an upload is resumed by whoever has the file, also next week


def forget_recordings(now: datetime, days: int) -> int:
    """Remove what was begun so many days ago, and tell how many; 0 days: never.

    Each in a transaction of its own: what stops in the middle goes on with the next run. No call is excepted: one
    that is gold would be known by what is still there of it.
    """
    if not days:
        return 0
    old = Recording.objects.standing().filter(created_at__lt=now - timedelta(days=days))
    return _remove_all(old, Reason.KEPT_LONG_ENOUGH)


def forget_recordings_of(user: User) -> int:
    """Somebody is erased: a recording has their voice and their screen, so it is about them by itself."""
    return _remove_all(Recording.objects.standing().filter(tester=user), Reason.ERASED)


def forget_unfinished(now: datetime) -> int:
    """Remove uploads and copies that nobody came back to, and tell how many.

    What was recorded in the page is finished with what arrived of it (`finish_recording`): it is evidence.
    """
    left = Recording.objects.filter(state=RecordingState.RECEIVING, heard_at__lt=now - NOBODY_CAME_BACK)
    return _remove_all(left.exclude(origin=Origin.RECORDED), Reason.UNFINISHED)


def _remove_all(found: QuerySet[Recording], reason: Reason) -> int:
    """In slices by key, so that one that can't be removed now holds up no other."""
    removed, ordered = 0, found.order_by("pk")
    rows = list(ordered[:AT_ONCE])
    while rows:
        removed += sum(remove_recording(recording, None, reason) for recording in rows)
        rows = list(ordered.filter(pk__gt=rows[-1].pk)[:AT_ONCE])
    return removed
