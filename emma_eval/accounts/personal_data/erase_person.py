"""Take the identity of a person away for good. What they found out about Emma stays, under "Former member"."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.db import transaction
from django.utils import timezone

from .. import audit
from ..change_access import another_administrator_stays, lock_people
from ..erased_addresses import ERASED, digest_of_address
from ..models import ApiToken, Invitation, Training, User
from ..roles import Role
from ..session_store import Session
from .rooms import forgetters

NOBODYS = "erased.invalid"  # a domain that can't be: RFC 2606


class OwnAccountError(Exception):
    """Nobody erases themselves: another administrator looks at what stays."""


@transaction.atomic
def erase_person(user: User, by: User) -> bool:
    """False where they are erased already. Raises OwnAccountError, LastAdministratorError: then nothing is changed.

    Both are locked: an address is a key of its table, so whoever takes it away waits for all that names the account,
    such as the line of the trail in which that person erases somebody at the same moment.
    """
    if user.pk == by.pk:
        raise OwnAccountError
    found = lock_people(user.pk, by.pk)[user.pk]
    if found.erased_at is not None:
        return False
    if found.has_role(Role.ADMINISTRATOR) and found.is_active:
        another_administrator_stays(found)
    digest = digest_of_address(found.email)
    for forget in forgetters:
        forget(found)
    _forget_sign_in(found)
    _take_identity(found)
    audit.record(by, ERASED, about=found, address_digest=digest)
    return True


def _forget_sign_in(user: User) -> None:
    for rows in (
        Session.objects.filter(user=user),
        ApiToken.objects.filter(owner=user),
        Invitation.objects.filter(user=user),
        SocialAccount.objects.filter(user=user),
        EmailAddress.objects.filter(user=user),
        Authenticator.objects.filter(user=user),
    ):
        rows.delete()
    Training.objects.filter(user=user).update(note="")


def _take_identity(user: User) -> None:
    user.groups.clear()
    user.email, user.name = f"former-member-{user.pk}@{NOBODYS}", f"Former member {user.pk}"
    user.is_active, user.signed_on_at, user.last_login, user.erased_at = False, None, None, timezone.now()
    user.set_unusable_password()
    user.save()
