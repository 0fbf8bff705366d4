"""Gold results: their answer is known, and they are mixed into the queue to see how well reviewers agree with it.

Which results are gold is known to leads alone. So only what waits for a review becomes gold, and it waits on: nothing
of it changes for anybody else (docs/decisions/0107-*). And when a reviewer meets one follows no rhythm that could be
counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from emma_eval.accounts import audit
from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role

from ..models import GoldAnswer, Hold, QueuedFor, Result, ResultQuerySet, Review
from .hold_result import lock
from .open_to import IS_GOLD

MOST_LOOKED_AT = 200


class CannotBeGoldError(Exception):
    """The result does not wait for a review, or somebody has begun one. Nothing was changed."""


def set_gold(lead: User, result_pk: int, tags: Sequence[str], why: str) -> GoldAnswer:
    """Make this the known answer of a result, the biggest problem first; or change it, or bring it back."""
    with transaction.atomic():
        result = lock(result_pk)
        was = GoldAnswer.objects.filter(result=result).first()
        if (was is None or was.retired_at is not None) and not may_become_gold(result):
            raise CannotBeGoldError
        said = {"tags": list(tags), "why": why, "set_by": lead, "set_at": timezone.now(), "retired_at": None}
        answer, _ = GoldAnswer.objects.update_or_create(result=result, defaults=said)
        _record(lead, "set a gold answer" if was is None else "changed a gold answer", result)
    return answer


def retire_gold(lead: User, result_pk: int) -> bool:
    """Give this result to no reviewer as gold any more; it waits in the queue as others do. Whether it was gold."""
    with transaction.atomic():
        result = lock(result_pk)
        in_force = GoldAnswer.objects.filter(result=result, retired_at=None)
        is_retired = bool(in_force.update(retired_at=timezone.now()))
        if is_retired:
            _record(lead, "retired a gold answer", result)
    return is_retired


def may_become_gold(result: Result) -> bool:
    """It waits in the queue, as it will go on to do, and nobody has a review of it, filed or begun.

    Answers to an earlier gold of it don't count.
    """
    waits = result.queued_for is not None and result.queued_for < QueuedFor.PICK and result.reviewed_at is None
    return waits and not result.reviews.filter(is_of_gold=False).exists()


def gold_shown_to(user: User) -> ResultQuerySet:
    """The results that have, or had, a known answer, for those who may know: none at all for anybody but leads."""
    if not user.has_role(Role.EVAL_LEAD):
        return Result.objects.none()
    return Result.objects.visible_to(user).filter(gold__isnull=False)


def name_in_the_trail(result: Result) -> str:
    """What the audit trail calls the answer of this result. Leads read both; from the name alone nobody finds it."""
    return f"gold {salted_hmac('results.review.gold', str(result.pk), algorithm='sha256').hexdigest()[:10]}"


def _record(lead: User, action: str, result: Result) -> None:
    audit.record(lead, action, name_in_the_trail(result), is_safety=result.is_covered)


def gold_for(reviewer: User, now: datetime) -> Result | None:
    """The gold result that this reviewer should work on next, if it is time for one; None mostly.

    One that they have not begun, did not file and may see, and that nobody has in hand at `now`. It comes no earlier
    than its reason lets it: given before something more pressing, or out of an empty queue, it would be known by that.
    The same person with the same reviews behind them gets the same answer each time.
    Leads know the gold, so they get none.
    """
    if reviewer.has_role(Role.EVAL_LEAD) or not _is_time(reviewer):
        return None
    free = _free_for(reviewer, now)
    next_reason = free.filter(~IS_GOLD).order_by("queued_for").values_list("queued_for", flat=True).first()
    if next_reason is None:
        return None
    gold = free.filter(IS_GOLD, queued_for__lte=next_reason).order_by("pk")
    keys = list(gold.values_list("pk", flat=True)[:MOST_LOOKED_AT])
    chosen = min(keys, key=lambda pk: _drawn(reviewer, f"result {pk}"), default=None)
    return None if chosen is None else Result.objects.get(pk=chosen)


def _free_for(reviewer: User, now: datetime) -> ResultQuerySet:
    """What this reviewer could be given at `now`, gold or not, in no order."""
    mine = Review.objects.filter(result=OuterRef("pk"), reviewer=reviewer)
    held = Hold.objects.in_force(now).filter(result=OuterRef("pk"))
    waiting = Result.objects.visible_to(reviewer).filter(queued_for__lt=QueuedFor.PICK)
    return waiting.exclude(tester=reviewer).filter(~Exists(mine), ~Exists(held)).order_by()


def _is_time(reviewer: User) -> bool:
    """Reviews come in blocks of one over the share; in each but the first, one place of its own is for gold.

    So there is never more gold than the share. Where the place is, is drawn from the reviewer and the block.
    """
    if not settings.GOLD_SHARE:
        return False
    block_size = math.ceil(100 / settings.GOLD_SHARE)
    begun = Review.objects.filter(reviewer=reviewer).count()
    block, place = divmod(begun, block_size)
    if not block or place < int(_drawn(reviewer, f"block {block}") * block_size):
        return False
    return not _had_gold(reviewer, place)


def _had_gold(reviewer: User, of_the_last: int) -> bool:
    """Whether any of this many reviews that the person began last is of gold, filed or not."""
    if not of_the_last:
        return False
    last = Review.objects.filter(reviewer=reviewer).order_by("-begun_at", "-pk").values("pk")[:of_the_last]
    is_gold = Q(is_of_gold=True) | Q(filed_at=None, result__gold__isnull=False)
    return Review.objects.filter(is_gold, pk__in=list(last.values_list("pk", flat=True))).exists()


def _drawn(reviewer: User, what: str) -> float:
    """A number from 0 up to 1 that is the same each time, and that nobody without the site's secret can work out."""
    digest = salted_hmac("results.review.gold_for", f"{reviewer.pk} {what}", algorithm="sha256").digest()
    return int.from_bytes(digest[:7]) / 2**56
