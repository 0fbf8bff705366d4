"""What a reviewer who must not know yet what others found is not shown of a thread."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from emma_eval.accounts.models import User

from ..models import Comment, Result
from ..review.blind import REVIEWERS, authors_kept_from


def withheld_from(user: User, result: Result) -> Q | None:
    """The comments that are kept from this person for now; None where nothing is.

    Those whose words must not be read yet (`authors_kept_from`) are left out, and so is whatever anybody else said
    since the first of them began: it may well be an answer to them.
    """
    authors = authors_kept_from(user, result) if user.has_role(*REVIEWERS) else None
    if not authors:
        return None
    first = result.reviews.filter(reviewer__in=authors).order_by("begun_at").values_list("begun_at", flat=True).first()
    return (Q(by__in=authors) | Q(at__gte=first)) & ~Q(by=user)


def shown_to(user: User, result: Result) -> QuerySet[Comment]:
    """The comments on a result that this person may read."""
    said = Comment.objects.filter(result=result).select_related("by")
    withheld = withheld_from(user, result)
    return said if withheld is None else said.exclude(withheld)


def is_told_so(user: User, result: Result) -> bool:
    """Whether the page says that comments may be withheld: to whoever has a review of this result under way.

    Whether there are any must not show. On a result that nobody else reviews, a gold one in particular, it would tell
    that somebody did.
    """
    return user.has_role(*REVIEWERS) and result.reviews.under_way().filter(reviewer=user).exists()
