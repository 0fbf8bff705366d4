"""What this room keeps about a person, and what it forgets of somebody who is erased."""

from __future__ import annotations

from collections.abc import Iterator

from emma_eval.accounts.models import User
from emma_eval.accounts.personal_data.rooms import Row, columns, forgets, in_slices, tells

from .models import Endpoint


@tells("webhooks")
def _webhooks(user: User) -> Iterator[Row]:
    """The path of an address may hold a key, as the secrets do: its owner has both."""
    for row in in_slices(Endpoint.objects.filter(owner=user)):
        yield columns(row, "owner", "url", "secret", "old_secret") | {"host": row.host}


@forgets
def forget_person(user: User) -> None:
    """With their deliveries."""
    Endpoint.objects.filter(owner=user).delete()
