"""How many requests a program may make in a minute: counted as by_the_minute.py says, refused as programs read it."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from .. import by_the_minute
from ..models import ApiToken
from .problems import TooManyRequestsError

TOKENS_AT_ONCE = 2  # of one owner that may be used as much as a token may: one may take over from another
USED_AT_LEAST_EVERY = timedelta(minutes=1)


def count_use(token: ApiToken) -> None:
    """Count a request of a token, and note about when it was. Raises TooManyRequestsError.

    It counts for the owner, too: who makes more tokens may not ask more often.
    """
    with by_the_minute.in_a_hurry() as may_write:
        if may_write:
            with transaction.atomic():  # one commit for both
                spend(f"owner {token.owner_id}", TOKENS_AT_ONCE * settings.API_REQUESTS_A_MINUTE)
                spend(f"token {token.pk}", settings.API_REQUESTS_A_MINUTE)
            _note_use(token)


def count_stranger(address: str) -> None:
    """Count a request that no token opened, by the address that it came from. Raises TooManyRequestsError."""
    with by_the_minute.in_a_hurry() as may_write:
        if may_write:
            spend(f"address {address}", settings.API_REFUSALS_A_MINUTE)


def spend(who: str, most: int) -> None:
    try:
        by_the_minute.spend(who, most)
    except by_the_minute.TooManyInAMinuteError as refused:
        raise TooManyRequestsError(refused.wait_s) from refused


def _note_use(token: ApiToken) -> None:
    """At most once a minute."""
    now = timezone.now()
    if token.used_at is None or now - token.used_at > USED_AT_LEAST_EVERY:
        before = Q(used_at=None) | Q(used_at__lt=now - USED_AT_LEAST_EVERY)
        ApiToken.objects.filter(before, pk=token.pk).update(used_at=now)
