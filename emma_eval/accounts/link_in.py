"""A link that signs one person in, once, within a quarter of an hour: printed at the machine, for the locked out."""

from __future__ import annotations

from django.core import signing
from django.db import transaction
from django.utils import timezone

from .models import User

SALT = "emma_eval.accounts.link_in"
LASTS_S = 15 * 60


def token_for(user: User) -> str:
    """It holds when the person last signed in, so that signing in uses it up."""
    return signing.dumps({"pk": user.pk, "last_login": _last_login(user)}, salt=SALT)


def person_of(token: str) -> User | None:
    """Whom the link signs in; None for one that was used, ran out or was never made."""
    try:
        said = signing.loads(token, salt=SALT, max_age=LASTS_S)
    except signing.BadSignature:
        return None
    user = User.objects.filter(pk=said["pk"], is_active=True).first()
    return user if user is not None and _last_login(user) == said["last_login"] else None


@transaction.atomic
def use(token: str) -> User | None:
    """The person of the link, which works no longer after this; None if it was used at this very moment."""
    user = person_of(token)
    if user is None:
        return None
    unchanged = User.objects.filter(pk=user.pk, last_login=user.last_login)
    return user if unchanged.update(last_login=timezone.now()) else None


def _last_login(user: User) -> str:
    return user.last_login.isoformat() if user.last_login else ""
