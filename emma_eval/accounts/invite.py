"""Accounts come into being here: by an invitation, or because a sheet names a person."""

from __future__ import annotations

from django.db import transaction

from .models import User, group_of
from .roles import Role


@transaction.atomic
def invited_account(email: str) -> User:
    """The account of this address, made if there is none: a tester who can't sign in until invited.

    No mail is sent; somebody invites the person from the People page. Raises nothing for an address that is known.
    """
    address = email.strip().lower()
    user, is_new = User.objects.get_or_create(email=address, defaults={"password": ""})
    if is_new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
        user.groups.add(group_of(Role.TESTER))
    return user
