"""Make an endpoint, change what it is told and where, rotate its secret, remove it; each stands in the audit trail.

Of its address only the host is written down there: the rest may hold a key. No secret is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from emma_eval.accounts import audit
from emma_eval.accounts.models import User

from .models import Endpoint
from .sign import new_secret

MOST_ENDPOINTS = 20  # of one person
OLD_SECRET_SIGNS_FOR = timedelta(days=7)


@dataclass(frozen=True)
class Particulars:
    """What its owner says of an endpoint."""

    name: str
    url: str
    kinds: Sequence[str]


@transaction.atomic
def make_endpoint(owner: User, said: Particulars) -> Endpoint:
    made = Endpoint.objects.create(
        owner=owner, name=said.name, url=said.url, kinds=list(said.kinds), secret=new_secret()
    )
    audit.record(owner, "made a webhook", made.name, host=made.host, events=made.kinds)
    return made


@transaction.atomic
def change_endpoint(endpoint: Endpoint, said: Particulars, by: User) -> bool:
    """False if it says so already. What waits is sent to the new address."""
    new = {"name": said.name, "url": said.url, "kinds": list(said.kinds)}
    changed = [name for name, value in new.items() if getattr(endpoint, name) != value]
    if not changed:
        return False
    for name in changed:
        setattr(endpoint, name, new[name])
    endpoint.save(update_fields=changed)
    audit.record(by, "changed a webhook", endpoint.name, host=endpoint.host, events=endpoint.kinds)
    return True


@transaction.atomic
def rotate_secret(endpoint: Endpoint, by: User) -> None:
    """A new secret; the one of until now signs beside it for a week, so that receivers can change over in peace."""
    endpoint.old_secret, endpoint.secret = endpoint.secret, new_secret()
    endpoint.old_secret_until = timezone.now() + OLD_SECRET_SIGNS_FOR
    endpoint.save(update_fields=["secret", "old_secret", "old_secret_until"])
    audit.record(by, "rotated the secret of a webhook", endpoint.name)


@transaction.atomic
def drop_old_secret(endpoint: Endpoint, by: User) -> bool:
    """Sign with the new secret alone from now on. False if there is no other."""
    rotating = Endpoint.objects.filter(pk=endpoint.pk).exclude(old_secret="")
    if not rotating.update(old_secret="", old_secret_until=None):
        return False
    audit.record(by, "dropped the old secret of a webhook", endpoint.name)
    return True


@transaction.atomic
def remove_endpoint(endpoint: Endpoint, by: User) -> None:
    """With its log; what is on its way is dropped."""
    audit.record(by, "removed a webhook", endpoint.name, host=endpoint.host)
    endpoint.delete()
