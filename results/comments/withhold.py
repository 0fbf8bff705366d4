"""What a reviewer who must not know yet what others found is not shown of a thread."""

from __future__ import annotations

from django.db.models import Q

from emma_eval.accounts.models import User

from ..models import Comment, Result, Review


def is_blind(user: User, result: Result) -> bool:
    """Whether somebody has a review of this result under way, while others began theirs."""
    return Review.objects.under_way().filter(result=result, reviewer=user).exists()


def withheld_from(user: User, result: Result) -> Q | None:
    """The comments that are kept from this person for now; None where nothing is.

    While somebody reviews a result blind, the words of the other reviewers are withheld, and so is whatever anybody
    said since the first of them began: it may well be an answer to them.
    """
    if not is_blind(user, result):
        return None
    others = Review.objects.filter(result=result).exclude(reviewer=user)
    first = others.order_by("begun_at").values_list("begun_at", flat=True).first()
    of_theirs = Q(by__in=others.values("reviewer"))
    return (of_theirs | Q(at__gte=first) if first else of_theirs) & ~Q(by=user)


def shown_to(user: User, result: Result) -> tuple[list[Comment], bool]:
    """The comments on a result that this person may read, oldest first, and whether some may be withheld."""
    said = Comment.objects.filter(result=result).select_related("by")
    withheld = withheld_from(user, result)
    return list(said.exclude(withheld) if withheld is not None else said), withheld is not None
