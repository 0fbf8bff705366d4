"""What is done outside the web process: mail, and clearing away what is over."""

from __future__ import annotations

import logging

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from celery import shared_task
from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from emma_eval.outbox.registry import GiveUpError, handles

from . import by_the_minute, throttle
from .audit_chain.link_entries import link_entries
from .audit_chain.verify_chain import verify_chain
from .models import Invitation, User, digest_of
from .programs.tokens import tell_expired
from .session_store import SessionStore

log = logging.getLogger(__name__)


@handles("accounts.mail_invitation")
def mail_invitation(invitation_id: int) -> None:
    """Mail the link of an invitation. Run twice, it says the same twice."""
    invitation = Invitation.objects.open().select_related("user", "invited_by").filter(pk=invitation_id).first()
    if invitation is None:
        raise GiveUpError("the invitation is no longer open")
    if digest_of(invitation.token) != invitation.token_digest:
        raise GiveUpError("the secret key changed since; invite again")
    link = settings.ORIGIN + reverse("accept_invitation", args=[invitation.token])
    only = settings.SIGN_ON is not None and settings.SIGN_ON.only
    said = {"link": link, "invitation": invitation, "by_sign_on": only}
    _mail(invitation.user, "You are invited to Emma Eval", "invitation", **said)


@handles("accounts.mail_password_reset")
def mail_password_reset(user_id: int | None) -> None:
    """Mail a link that lets the person set a new password. The token is made here, so it is never stored.

    Nobody is mailed for None: somebody asked for an address without an account, and was told nothing else.
    """
    if user_id is None:
        return
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None or not user.has_joined:
        raise GiveUpError("the account is not in use")
    token = default_token_generator.make_token(user)
    path = reverse("account_reset_password_from_key", kwargs={"uidb36": user_pk_to_url_str(user), "key": token})
    _mail(user, "Set a new password for Emma Eval", "password_reset", link=settings.ORIGIN + path)


@shared_task(name="accounts.clear_away")
def clear_away() -> None:
    """Remove sessions that ended, with what was typed in them, and tries and counts that no limit looks at.

    Tokens that expired are told of in the audit trail.
    """
    SessionStore.clear_expired()
    throttle.clear_away()
    by_the_minute.clear_away()
    tell_expired(timezone.now())


@shared_task(name="accounts.link_audit")
def link_audit(is_everything: bool = False) -> None:
    """Link the entries of the audit trail that are not linked yet. May run at any time and twice."""
    link_entries(timezone.now(), is_everything=is_everything)


@shared_task(name="accounts.verify_audit")
def verify_audit() -> None:
    """Walk the chain of the audit trail and note its head in the log, which is kept elsewhere. May run twice."""
    found = verify_chain()
    log.log(logging.INFO if found.fault is None else logging.ERROR, "audit trail: %s", found.in_words())


def _mail(user: User, subject: str, template: str, **context: object) -> None:
    text = render_to_string(f"accounts/mail/{template}.txt", {"user": user, "site": settings.ORIGIN, **context})
    send_mail(settings.ACCOUNT_EMAIL_SUBJECT_PREFIX + subject, text, settings.DEFAULT_FROM_EMAIL, [user.email])
