"""Ask for a link that sets a new password."""

from __future__ import annotations

from emma_eval.outbox.enqueue import enqueue

from .addresses import address_of
from .models import User


def ask_for_reset(address: str) -> None:
    """The worker mails the link. A row is written for an unknown address too, so that both take the same time.

    Only people who have a password get a mail: all others come in by an invitation.
    """
    user = User.objects.filter(email=address_of(address)).first()
    user_id = user.pk if user is not None and user.is_active and user.has_joined else None
    enqueue("accounts.mail_password_reset", user_id=user_id)
