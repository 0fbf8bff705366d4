"""Once an hour: put into the queue what only shows beside others, and what was filed before there was a queue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q

from ..models import DIMENSION_KEYS, Change, Problem, QueuedFor, QueueWalk, Result
from .file_review import settle
from .find_disagreement import queue_disagreement, queue_rows
from .gold import keep_all_within_share
from .hold_result import lock
from .reasons import reason_for

BATCH = 1_000
# A transaction that began before the last look may have ended after it.
LOOKED_AT_TWICE = timedelta(minutes=10)
Pair = tuple[str, str]


def look_for_reviews(now: datetime) -> int:
    """Bring the queue up to date; how many results changed their place. May run at any time and twice."""
    walk, _ = QueueWalk.objects.get_or_create(pk=1, defaults={"share": settings.REVIEW_SHARE})
    changed = _settle_waiting(now) + _walk_on(walk, now)
    changed += _compare(walk, now)
    keep_all_within_share(now)
    return changed


def _settle_waiting(now: datetime) -> int:
    """Results that wait for more reviews than are wanted by now: the setting was lowered."""
    in_hand = Count("reviews", filter=Q(reviews__filed_at__isnull=False, reviews__is_of_gold=False))
    waiting = Result.objects.filter(queued_for__lt=QueuedFor.PICK, reviewed_at__isnull=False)
    complete = waiting.alias(filed=in_hand).filter(filed__gte=settings.REVIEWERS_PER_RESULT)
    keys = list(complete.order_by("pk").values_list("pk", flat=True))
    for pk in keys:
        with transaction.atomic():
            settle(lock(pk), now)
    return len(keys)


# --- results of before ----------------------------------------------------------------------------


def _walk_on(walk: QueueWalk, now: datetime) -> int:
    """Look through all results once, from where the last walk was broken off; again, when another share is asked for.

    What is filed meanwhile has its place already.
    """
    if walk.share != settings.REVIEW_SHARE:
        walk.share, walk.up_to, walk.ended_at = settings.REVIEW_SHARE, 0, None
    changed = 0
    while walk.ended_at is None:
        rows = list(_next_batch(walk.up_to))
        changed += _queue(rows)
        walk.up_to = rows[-1].pk if rows else walk.up_to
        walk.ended_at = now if len(rows) < BATCH else None
        walk.save()
    return changed


def _next_batch(up_to: int) -> Iterable[Result]:
    columns = ("pk", "draft_uuid", "queued_for", "reviewed_at", *DIMENSION_KEYS)
    return Result.objects.filter(pk__gt=up_to).order_by("pk").only(*columns)[:BATCH]


def _queue(rows: list[Result]) -> int:
    """Queue those of a batch that something speaks for, and that nobody queued or reviewed since it was read."""
    waiting = [row for row in rows if row.queued_for is None and row.reviewed_at is None]
    tags = defaultdict(list)
    for pk, tag in Problem.objects.filter(result__in=waiting).values_list("result_id", "tag"):
        tags[pk].append(tag)
    found = defaultdict(list)
    for row in waiting:
        reason = reason_for(row, tags[row.pk])
        if reason is not None:
            found[reason].append(row.pk)
    still = Result.objects.filter(queued_for=None)
    return sum(queue_rows(still.filter(pk__in=pks), reason) for reason, pks in found.items())


# --- results beside each other ----------------------------------------------------------------------


def _compare(walk: QueueWalk, now: datetime) -> int:
    """Compare the results of every script and build of which something was filed or corrected since the last time."""
    changed = sum(queue_disagreement(script, build) for script, build in _moved_since(walk.disagreement_until))
    walk.disagreement_until = now - LOOKED_AT_TWICE
    walk.save(update_fields=["disagreement_until"])
    return changed


def _moved_since(moment: datetime | None) -> list[Pair]:
    results = Result.objects.order_by("script", "build")
    if moment is None:
        return list(results.values_list("script__slug", "build__sort_key").distinct())
    filed = results.filter(filed_at__gte=moment).values_list("script__slug", "build__sort_key").distinct()
    changes = Change.objects.filter(at__gte=moment).select_related("result").only("fields", "result")
    corrected = {pair for change in changes for pair in _pairs_of(change)}
    return sorted({*filed, *corrected})


def _pairs_of(change: Change) -> set[Pair]:
    """A result that went over to another build is missing on the one before."""
    builds = {change.result.build_id, *change.fields.get("build_id", ())}
    return {(change.result.script_id, build) for build in builds}
