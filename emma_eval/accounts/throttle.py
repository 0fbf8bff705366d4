"""How often something may be tried. Counted in the database, so that it holds over processes and restarts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from .addresses import address_of
from .models import Attempt, digest_of


@dataclass(frozen=True)
class Limit:
    name: str
    most: int
    within: timedelta


SIGN_IN = Limit("sign-in", 10, timedelta(minutes=10))
SIGN_IN_FROM = Limit("sign-in from one address", 30, timedelta(minutes=1))
CODE = Limit("second step", 10, timedelta(minutes=10))
SIGN_ON = Limit("sign-on from one address", 30, timedelta(minutes=1))


class TooManyError(Exception):
    """The limit is reached; `retry_at` is when the next try is free."""

    def __init__(self, retry_at: datetime) -> None:
        super().__init__(f"too many tries until {retry_at:%H:%M:%S}")
        self.retry_at = retry_at


def spend(limit: Limit, who: str) -> Attempt:
    """Use up one try, before the trial itself, so that tries at the same moment count too.

    Give it back with `attempt.delete()` when the try was a good one. Raises TooManyError; a refused try is not
    counted, so going on trying doesn't lengthen the wait.
    """
    made = Attempt.objects.create(key=_key(limit, who))
    in_force = Attempt.objects.filter(key=made.key, at__gt=made.at - limit.within, pk__lt=made.pk)
    newest = list(in_force.order_by("-at").values_list("at", flat=True)[: limit.most])
    if len(newest) < limit.most:
        return made
    made.delete()
    raise TooManyError(newest[-1] + limit.within)


def spend_both(first: tuple[Limit, str], second: tuple[Limit, str]) -> tuple[Attempt, Attempt]:
    """Use up a try of each of two limits, or of neither. Raises TooManyError of the one that is reached."""
    spent = spend(*first)
    try:
        return spent, spend(*second)
    except TooManyError:
        spent.delete()
        raise


def forget(limit: Limit, who: str) -> None:
    """Start anew, since the person proved who they are in another way."""
    Attempt.objects.filter(key=_key(limit, who)).delete()


def clear_away(now: datetime | None = None) -> None:
    """Remove the tries that no limit looks at any more."""
    Attempt.objects.filter(at__lt=(now or timezone.now()) - timedelta(days=1)).delete()


def _key(limit: Limit, who: str) -> str:
    return digest_of(f"{limit.name}:{address_of(who)}")
