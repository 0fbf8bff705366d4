"""Gold results: their answer is known, and they wait in the queue among others, to see how far reviewers agree.

Which results are gold is known to leads alone. So only what waits for a review becomes gold, it waits on at its own
place, and nothing of it changes for anybody else (docs/decisions/0107-*). After it was answered it waits for others,
for as long as enough waits beside it to hide it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone
from django.utils.crypto import salted_hmac

from emma_eval.accounts import audit
from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role

from ..models import GoldAnswer, QueuedFor, Result, ResultQuerySet, Review
from .hold_result import lock
from .take_next import DRAWN_FROM


class CannotBeGoldError(Exception):
    """The result does not wait for a review. Nothing was changed."""


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
    """It waits for a review, as it will go on to do. Whether somebody has begun one, or filed the first of several,
    makes no difference: a lead who is still to review it would be told so.
    """
    return result.queued_for is not None and result.queued_for < QueuedFor.PICK


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


def keep_within_share(reason: int | None, *, is_safety: bool, now: datetime) -> int:
    """Retire gold of this reason that was answered and waits on, where it is more than the share of what waits beside
    it; what was answered first goes first. How many were retired.

    So whatever waits is gold that somebody has answered with no greater likelihood than the share says, also when the
    queue runs out. Gold that nobody has answered looks like anything else, and stays.
    """
    if reason is None:
        return 0
    answers = Review.objects.filed().filter(is_of_gold=True, result=OuterRef("result"))
    in_force = GoldAnswer.objects.filter(retired_at=None, result__queued_for=reason, result__filed_as_safety=is_safety)
    answered = in_force.alias(first=Subquery(answers.order_by("filed_at").values("filed_at")[:1]))
    keys = list(answered.exclude(first=None).order_by("first", "pk").values_list("pk", flat=True))
    if not keys:
        return 0
    waiting = Result.objects.filter(queued_for=reason, filed_as_safety=is_safety).order_by()[:DRAWN_FROM].count()
    surplus = keys[: max(0, len(keys) - waiting * settings.GOLD_SHARE // 100)]
    with transaction.atomic():
        rows = GoldAnswer.objects.select_for_update(no_key=True, skip_locked=True).filter(pk__in=surplus).order_by("pk")
        free = list(rows.values_list("pk", flat=True))
        return GoldAnswer.objects.filter(pk__in=free, retired_at=None).update(retired_at=now)


def keep_all_within_share(now: datetime) -> int:
    """The same of whatever gold there is: the queue grows shorter by corrections, too."""
    in_force = GoldAnswer.objects.filter(retired_at=None, result__queued_for__lt=QueuedFor.PICK)
    places = in_force.order_by().values_list("result__queued_for", "result__filed_as_safety").distinct()
    return sum(keep_within_share(reason, is_safety=is_safety, now=now) for reason, is_safety in list(places))
