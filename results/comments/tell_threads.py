"""The threads that somebody follows, for the To do page and the page of all their threads."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, F, Max, Q

from emma_eval.accounts.models import User

from ..models import Comment, Result
from .withhold import withheld_from

MOST_SHOWN = 100


@dataclass(frozen=True)
class Followed:
    """One thread that somebody follows: its last comment, and how many are new to them."""

    result: Result
    last: Comment
    new: int


def tell_threads(user: User, *, only_new: bool = False) -> list[Followed]:
    """Threads of results that this person may see, the one with the latest comment first."""
    seen = Result.objects.visible_to(user).filter(followers__person=user)
    counted = seen.annotate(last=Max("comments__id"), new=Count("comments", filter=_is_new(user)))
    if only_new:
        counted = counted.filter(new__gt=0)
    keys = list(counted.order_by("-last").values_list("pk", "new")[:MOST_SHOWN])
    results = Result.objects.select_related("script_version", "script", "tester").in_bulk([pk for pk, _ in keys])
    told = [_told(user, results[pk], new) for pk, new in keys]
    return [each for each in told if each is not None and (each.new or not only_new)]


def _is_new(user: User) -> Q:
    is_later = Q(comments__id__gt=F("followers__read_up_to"), comments__withdrawn_at=None)
    return is_later & ~Q(comments__by=user)


def _told(user: User, result: Result, new: int) -> Followed | None:
    """The thread as this person may read it; None where nothing of it is for them yet."""
    comments = Comment.objects.filter(result=result).select_related("by")
    withheld = withheld_from(user, result)
    if withheld is not None:
        comments = comments.exclude(withheld)
        new = _count_new(user, result, withheld)
    last = comments.order_by("-id").first()
    return Followed(result, last, new) if last is not None else None


def _count_new(user: User, result: Result, withheld: Q) -> int:
    read_up_to = result.followers.filter(person=user).values("read_up_to")[:1]
    later = Comment.objects.filter(result=result, withdrawn_at=None, id__gt=read_up_to).exclude(by=user)
    return later.exclude(withheld).count()
