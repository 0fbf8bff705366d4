"""Forget what nobody came back to: drafts, and calls of which no result was filed. Only where the site is told to."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef

from ..models import Call, Draft, Recording, Result

AT_ONCE = 500


def forget_drafts(now: datetime, days: int) -> int:
    """Remove drafts that were last saved so many days ago, and tell how many. 0 days: never."""
    if not days:
        return 0
    return Draft.objects.filter(saved_at__lt=now - timedelta(days=days)).delete()[0]


def forget_calls(now: datetime, days: int) -> int:
    """Remove calls that began so many days ago and have no result, with their moments; how many. 0 days: never.

    A call that has a recording stays as long as that: what its scripts were decides who may see the recording.
    """
    if not days:
        return 0
    filed = Result.objects.filter(tester=OuterRef("tester"), call_uuid=OuterRef("uuid"))
    recorded = Recording.objects.standing().filter(tester=OuterRef("tester"), call_uuid=OuterRef("uuid"))
    old = Call.objects.filter(~Exists(filed), ~Exists(recorded), created_at__lt=now - timedelta(days=days))
    forgotten = 0
    while keys := list(old.values_list("pk", flat=True)[:AT_ONCE]):
        Call.objects.filter(pk__in=keys).delete()
        forgotten += len(keys)
    return forgotten
