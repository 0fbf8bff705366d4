"""Accounts come into being here: by an invitation, or because a sheet names a person."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import IntegrityError, transaction
from django.utils import timezone

from emma_eval.outbox.enqueue import enqueue

from . import audit, change_access
from .addresses import address_of
from .models import Invitation, Training, User, group_of
from .roles import Role


class AddressTakenError(Exception):
    """There is an account with this address; somebody else may have made it this very moment."""


@transaction.atomic
def invited_account(email: str) -> User:
    """The account of this address, made if there is none: a tester who can't sign in until invited.

    No mail is sent; somebody invites the person from the People page.
    """
    user, is_new = User.objects.get_or_create(email=address_of(email), defaults={"password": ""})
    if is_new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
        user.groups.add(group_of(Role.TESTER))
    return user


@transaction.atomic
def invite(
    email: str, name: str, roles: Iterable[Role], by: User | None, *, training: Training | None = None
) -> Invitation:
    """Make an account for a new address and invite its person; the mail leaves after the commit.

    AddressTakenError, and nothing is changed, when there is an account with that address.
    """
    try:
        with transaction.atomic():
            user = User.objects.create_user(email, name=name)
    except IntegrityError as cause:
        raise AddressTakenError from cause
    given = frozenset(roles)
    user.groups.set(group_of(role) for role in given)
    if training is not None:
        training.user = user
        change_access.grant_training(training, by)
    return _send(user, by, given, is_first=True)


@transaction.atomic
def invite_again(user: User, by: User | None) -> Invitation:
    """Send a new link; the ones that were sent before stop working."""
    close(user)
    return _send(user, by, user.roles, is_first=False)


@transaction.atomic
def revoke_invitation(user: User, by: User | None) -> None:
    """The links that this person was sent stop working."""
    if close(user):
        audit.record(by, "revoked an invitation", about=user)


@transaction.atomic
def accept(invitation: Invitation, name: str, password: str) -> bool:
    """Set name and password. False when the link was used, revoked or too late at this very moment."""
    user = change_access.lock_people(invitation.user_id)[invitation.user_id]  # one answer at a time
    if not Invitation.objects.open().filter(pk=invitation.pk).exists():
        return False
    Invitation.objects.filter(pk=invitation.pk).update(accepted_at=timezone.now())
    invitation.user = user
    user.name = name
    user.set_password(password)
    user.save(update_fields=["name", "password"])
    close(user)
    audit.record(user, "accepted an invitation", about=user)
    return True


def _send(user: User, by: User | None, roles: Iterable[Role], *, is_first: bool) -> Invitation:
    made, _ = Invitation.make(user, by)
    enqueue("accounts.mail_invitation", invitation_id=made.pk)
    audit.record(by, "invited a person" if is_first else "invited a person again", about=user, roles=sorted(roles))
    return made


def close(user: User) -> int:
    """The links that wait for this person work no longer; how many there were."""
    waiting = Invitation.objects.filter(user=user, accepted_at=None, revoked_at=None)
    return waiting.update(revoked_at=timezone.now())
