"""What of reviews is kept from whom, for how long. Whoever shows anything of a review asks here.

Three rules (docs/decisions/0102-*). Until all reviews of a result are in, nobody sees more than their own. Of a gold
result, a reviewer who has not answered it sees what there is of one that nobody reviewed. And who is neither of the
eval team nor a manager sees the one that stands, of the results that they filed themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, F, OuterRef, Q

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role

from ..models import QueuedFor, Result, ResultQuerySet, Review, ReviewQuerySet
from .open_to import IS_GOLD, all_are_in, is_gold

REVIEWERS = (Role.EVAL_TEAM, Role.EVAL_LEAD)
SEE_REVIEWS = (*REVIEWERS, Role.MANAGER)


def reviews_shown_to(user: User, result: Result) -> list[Review]:
    """The reviews of this result that this person may read, the one that stands first."""
    filed = result.reviews.filed().select_related("reviewer", "stood_by").prefetch_related("problems")
    in_order = filed.order_by(F("stands").desc(), "filed_at")
    mine = Q(reviewer=user)
    if not all_are_in(result) or is_kept_as_gold(user, result):
        return list(in_order.filter(mine))
    if user.has_role(*REVIEWERS):
        return list(in_order.filter(mine | Q(is_of_gold=False)))
    if user.has_role(Role.MANAGER) or result.tester_id == user.pk:
        return list(in_order.filter(stands=True))
    return []


def readable_by(user: User) -> ReviewQuerySet:
    """The same of all results at once, for a list: what those of the eval team, its leads and managers may read."""
    seen = Result.objects.visible_to(user).filter(pk=OuterRef("result"))
    are_in = Exists(shown_as_reviewed(seen).exclude(_may_still_be_met_by(user)))
    known = Review.objects.filed().filter(Exists(seen))
    if user.has_role(*REVIEWERS):
        return known.filter(Q(reviewer=user) | Q(are_in, is_of_gold=False))
    if user.has_role(Role.MANAGER):
        return known.filter((Q(reviewer=user) & ~Q(are_in)) | Q(are_in, stands=True))
    return known.none()


def standing_shown_to(user: User, results: Iterable[int]) -> ReviewQuerySet:
    """The review that stands of each of these results, which this person may see, as far as its page shows it."""
    these = Result.objects.filter(pk=OuterRef("result"))
    are_in = Exists(shown_as_reviewed(these).exclude(_may_still_be_met_by(user)))
    standing = Review.objects.filter(are_in, stands=True, result__in=results)
    return standing if user.has_role(*SEE_REVIEWS) else standing.filter(result__tester=user)


def _may_still_be_met_by(user: User) -> Q:
    """The results of which `is_kept_as_gold` is true."""
    if not user.has_role(Role.EVAL_TEAM) or user.has_role(Role.EVAL_LEAD):
        return Q(pk__in=[])
    answered = Review.objects.filed().filter(result=OuterRef("pk"), reviewer=user)
    return Q(IS_GOLD) & ~Q(Exists(answered))


def is_shown_as_reviewed(user: User, result: Result) -> bool:
    """Whether the page of a result says that it was reviewed. Its tester, who can't correct it any more, is told."""
    if result.tester_id == user.pk:
        return result.reviewed_at is not None
    return all_are_in(result) and not is_kept_as_gold(user, result)


def is_kept_as_gold(user: User, result: Result) -> bool:
    """Whether it is gold that this person may still meet in the queue. Leads know the gold: they set it."""
    if not user.has_role(Role.EVAL_TEAM) or user.has_role(Role.EVAL_LEAD) or not is_gold(result):
        return False
    return not result.reviews.filed().filter(reviewer=user).exists()


def authors_kept_from(user: User, result: Result) -> frozenset[int]:
    """Whose words about a result this person is not to read yet: those who review it, until all reviews are in."""
    is_over = all_are_in(result) and not is_kept_as_gold(user, result)
    if is_over or not user.has_role(*REVIEWERS):
        return frozenset()
    others = result.reviews.exclude(reviewer=user).values_list("reviewer_id", flat=True)
    return frozenset(others)


_NONE_WANTED = Q(queued_for__isnull=True) | Q(queued_for=QueuedFor.PICK)


def shown_as_reviewed(rows: ResultQuerySet) -> ResultQuerySet:
    """Of these results those that a list may call reviewed, whoever reads it. Gold is not among them: it has answers
    and no review."""
    return rows.filter(_NONE_WANTED, reviewed_at__isnull=False)


def shown_as_unreviewed(rows: ResultQuerySet) -> ResultQuerySet:
    """The others."""
    return rows.filter(Q(reviewed_at__isnull=True) | ~_NONE_WANTED)
