"""Change what somebody may do. Each change holds from that person's next request and stands in the audit trail."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import Group
from django.db import transaction
from django.utils import timezone

from . import audit
from .models import Training, User, group_of
from .role import Role
from .session_store import Session


class LastAdministratorError(Exception):
    """Nobody would be left who can look after people."""


class ErasedError(Exception):
    """Nobody is behind this account any more, so there is nobody to give anything to."""


class OwnTrainingError(Exception):
    """Nobody says of themselves that they are trained: what is hidden would be hidden from no administrator."""


@transaction.atomic
def change_roles(user: User, roles: Iterable[Role], by: User | None) -> None:
    """Give and take roles. Raises LastAdministratorError or ErasedError, and then changes nothing."""
    _somebody_is_there(user)
    before, after = User.objects.get(pk=user.pk).roles, frozenset(roles)
    if before == after:
        return
    if Role.ADMINISTRATOR in before - after:
        another_administrator_stays(user)
    user.groups.set(group_of(role) for role in after)
    audit.record(by, "changed roles", about=user, before=sorted(before), after=sorted(after))


@transaction.atomic
def take_over_roles(user: User, roles: Iterable[Role]) -> None:
    """Make roles what the organisation's sign-on says; it alone decides, so the last administrator may go too."""
    before, after = User.objects.get(pk=user.pk).roles, frozenset(roles)
    if before != after:
        user.groups.set(group_of(role) for role in after)
        audit.record(None, "changed roles", about=user, before=sorted(before), after=sorted(after), by="sign-on")


@transaction.atomic
def deactivate(user: User, by: User | None) -> None:
    """The person can't sign in any more and is signed out; what they filed stays. Raises LastAdministratorError."""
    found = lock_people(user.pk)[user.pk]
    if not found.is_active:
        return
    if found.has_role(Role.ADMINISTRATOR):
        another_administrator_stays(found)
    User.objects.filter(pk=user.pk).update(is_active=False)
    audit.record(by, "deactivated an account", about=user)
    Session.objects.of(user).delete()


@transaction.atomic
def reactivate(user: User, by: User | None) -> None:
    """Give an account back; one that was erased is nobody's any more."""
    found = lock_people(user.pk)[user.pk]
    if found.is_active or found.erased_at is not None:
        return
    User.objects.filter(pk=user.pk).update(is_active=True)
    audit.record(by, "reactivated an account", about=user)


@transaction.atomic
def grant_training(training: Training, by: User | None) -> None:
    """Put a grant into force from its first day. Raises OwnTrainingError for one's own, or ErasedError."""
    _somebody_is_there(training.user)
    if by is not None and by.pk == training.user_id:
        raise OwnTrainingError
    training.granted_by = by
    training.save()
    _record(by, "granted a training", training)


@transaction.atomic
def revoke_training(training: Training, by: User | None) -> None:
    """End a grant at once, whatever its last day is."""
    revoked = {"revoked_at": timezone.now(), "revoked_by": by}
    if Training.objects.filter(pk=training.pk, revoked_at=None).update(**revoked):
        _record(by, "revoked a training", training)


def _record(by: User | None, action: str, training: Training) -> None:
    ends_on = f"{training.ends_on:%-d %b %Y}" if training.ends_on else None
    starts_on = f"{training.starts_on:%-d %b %Y}"
    source = "sign-on" if training.from_claim else "by hand"
    audit.record(by, action, about=training.user, starts_on=starts_on, ends_on=ends_on, source=source)


def lock_people(*people: int) -> dict[int, User]:
    """These accounts as they are now, by key: nobody else changes them until the transaction ends.

    People come before the group of administrators, and among themselves in the order of their keys, whatever is done
    to them: so that no two acts wait for each other in a ring.
    """
    found = User.objects.select_for_update(no_key=True).filter(pk__in=people).order_by("pk")
    return {each.pk: each for each in found}


def _somebody_is_there(user: User) -> None:
    """Looked at under a lock, so that nobody is erased meanwhile."""
    if lock_people(user.pk)[user.pk].erased_at is not None:
        raise ErasedError


def another_administrator_stays(leaving: User) -> None:
    """Looked at under a lock, so that two administrators can't remove each other at the same moment.

    Whoever is leaving must be locked before (`lock_people`).
    """
    group = Group.objects.select_for_update(no_key=True).get(name=Role.ADMINISTRATOR.value)
    others = User.objects.filter(groups=group, is_active=True).exclude(pk=leaving.pk)
    if not any(other.has_joined for other in others):
        raise LastAdministratorError
