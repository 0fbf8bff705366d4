"""Make a token, revoke one, tell the audit trail of those that expired."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from .. import audit
from ..models import ApiToken, User, digest_of
from ..throttle import Limit
from .scopes import Scope

PREFIX = "emma_"
SHOWN_CHARACTERS = len(PREFIX) + 6
LONGEST_DAYS, USUAL_DAYS = 365, 90
MOST_TOKENS = 20
MADE_BY_ONE = Limit("making of API tokens", 20, timedelta(hours=1))
LOOKS_LIKE_ONE = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")


def make_token(owner: User, name: str, scopes: Iterable[Scope], *, days: int) -> tuple[ApiToken, str]:
    """A new token of this person's, and what the program is to send: it is kept nowhere, so it is shown once."""
    sent = PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        made = ApiToken.objects.create(
            owner=owner,
            name=name,
            digest=digest_of(sent),
            begins_with=sent[:SHOWN_CHARACTERS],
            scopes=sorted(scopes),
            expires_at=timezone.now() + timedelta(days=days),
        )
        audit.record(
            *(owner, "made an API token", made.name),
            begins_with=made.begins_with,
            scopes=made.scopes,
            expires=_day(made.expires_at),
        )
    return made, sent


def revoke_token(token: ApiToken, by: User) -> bool:
    """Whether it worked until now. From the next request on it opens nothing."""
    with transaction.atomic():
        ended = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
        if ended:
            audit.record(by, "revoked an API token", token.name, begins_with=token.begins_with, about=token.owner)
    return bool(ended)


def tell_expired(now: datetime) -> int:
    """Write down which tokens have expired since they were last looked at; each once, whoever asks at the same time."""
    told = 0
    over = ApiToken.objects.filter(expires_at__lte=now, revoked_at=None, expiry_told_at=None).select_related("owner")
    for token in over:
        with transaction.atomic():
            if ApiToken.objects.filter(pk=token.pk, expiry_told_at=None).update(expiry_told_at=now):
                _tell_that_it_expired(token)
                told += 1
    return told


def _tell_that_it_expired(token: ApiToken) -> None:
    audit.record(
        *(None, "saw an API token expire", token.name),
        begins_with=token.begins_with,
        about=token.owner,
        expired=_day(token.expires_at),
    )


def _day(at: datetime) -> str:
    return f"{timezone.localtime(at):%Y-%m-%d}"
