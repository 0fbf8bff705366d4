"""Mail a digest to the owner of its view: plain text, and beside it simple HTML that loads nothing from anywhere."""

from __future__ import annotations

from email.utils import parseaddr

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string

from ..models import Digest
from .due import week_told_of
from .read_digest import read_digest
from .write_letter import Letter, write_letter


def mail_digest(pk: int) -> bool:
    """False where nothing is sent: it is not wanted any more, or its owner may not have it any more.

    A worker that is killed between the mail server's answer and its own note sends it again; both are the same
    message by its id, which mail programs show once.
    """
    digest = Digest.objects.filter(pk=pk, view__is_mailed=True).select_related("view__owner").first()
    said = read_digest(digest.view, week_told_of(digest.week)) if digest else None
    if digest is None or said is None:
        return False
    _message(digest, write_letter(said)).send()
    return True


def _message(digest: Digest, letter: Letter) -> EmailMultiAlternatives:
    sender = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    message = EmailMultiAlternatives(
        subject=settings.ACCOUNT_EMAIL_SUBJECT_PREFIX + letter.subject,
        body=letter.as_text(),
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[digest.view.owner.email],
        headers={
            "Message-ID": f"<digest-{digest.pk}@{sender.partition('@')[2]}>",
            "List-Unsubscribe": f"<{letter.views}>",
        },
    )
    message.attach_alternative(render_to_string("results/mail/digest.html", {"letter": letter}), "text/html")
    return message
