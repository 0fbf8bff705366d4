"""Let somebody in whom the provider sent: find or make the account, and give it what the claims say, no more."""

from __future__ import annotations

from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.db import IntegrityError, transaction
from django.utils import timezone

from emma_eval.accounts import audit, change_access, invite
from emma_eval.accounts.models import User

from .claims import Claims
from .configured import SignOn
from .train import train


class RefusedError(Exception):
    """This person does not come in; the reason is for the audit trail and for nobody else."""


def let_in(claims: Claims, sign_on: SignOn) -> User:
    """The account of this person, brought up to date. Raises RefusedError, and then writes that down alone."""
    try:
        return _let_in(claims, sign_on)
    except RefusedError as refused:
        audit.record(None, "refused a sign-on", claims.email, reason=str(refused), subject=claims.subject)
        raise


def _let_in(claims: Claims, sign_on: SignOn) -> User:
    if not claims.email:
        raise RefusedError("no verified e-mail address")
    try:
        return _account_brought_up_to_date(claims, sign_on)
    except IntegrityError:
        # The same person came twice at the same moment; the other request made the account.
        return _account_brought_up_to_date(claims, sign_on)


@transaction.atomic
def _account_brought_up_to_date(claims: Claims, sign_on: SignOn) -> User:
    user = _known(claims, sign_on) or _of_address(claims, sign_on) or _new(claims, sign_on)
    if not user.is_active:
        return user  # who deactivated it decided that nothing changes; signing in is refused where all sign-ins are
    if not user.name and claims.name:
        user.name = claims.name
    user.signed_on_at = timezone.now()
    user.save(update_fields=["name", "signed_on_at"])
    invite.close(user)
    if sign_on.roles:
        change_access.take_over_roles(user, sign_on.roles_of(claims.groups))
    train(user, claims.trained)
    return User.objects.get(pk=user.pk)


def _known(claims: Claims, sign_on: SignOn) -> User | None:
    return User.objects.select_for_update(no_key=True).filter(pk__in=_accounts(sign_on, uid=claims.subject)).first()


def _of_address(claims: Claims, sign_on: SignOn) -> User | None:
    """The account of a verified address becomes that subject's, unless it is somebody's already.

    An address that is given on to a newcomer does not hand over the account of the one who had it before.
    """
    user = User.objects.select_for_update(no_key=True).filter(email=claims.email).first()
    if user is None or not user.is_active:
        return user
    linked = _accounts(sign_on, user=user)
    if linked.exclude(uid=claims.subject).exists():
        raise RefusedError("the account of this address belongs to another subject")
    if not linked.exists():  # as it may be by now, though it was not known: the same person comes twice
        _link(user, claims, sign_on)
    return user


def _new(claims: Claims, sign_on: SignOn) -> User:
    if not sign_on.roles_of(claims.groups):
        raise RefusedError("no account, and no group that gives a role")
    user = User.objects.create_user(claims.email, name=claims.name)
    audit.record(None, "made an account by sign-on", about=user)
    _link(user, claims, sign_on)
    return user


def _link(user: User, claims: Claims, sign_on: SignOn) -> None:
    SocialAccount.objects.create(user=user, provider=sign_on.issuer, uid=claims.subject)
    audit.record(None, "linked an account to sign-on", about=user, subject=claims.subject)


def _accounts(sign_on: SignOn, **which: object) -> Any:
    return SocialAccount.objects.filter(provider=sign_on.issuer, **which).values("user")
