"""What is done outside the web process: deliveries, a mail about an endpoint that was paused, clearing away."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string

from emma_eval.outbox.registry import handles

from . import deliver as act
from . import forget_deliveries as over
from .announce import DELIVER
from .models import Endpoint
from .owners import owner_who_may
from .pause import MAIL_PAUSED


@handles(DELIVER, waits_for_others=True)
def deliver(delivery: int) -> None:
    """Try a delivery. Run twice, it may be sent twice, with the same id."""
    act.deliver(delivery)


@handles(MAIL_PAUSED)
def mail_paused(endpoint: int) -> None:
    """Tell the owner that the site paused an endpoint, if it is still so. Run twice, it says the same twice."""
    found = Endpoint.objects.filter(pk=endpoint).exclude(paused_at=None).first()
    owner = None if found is None else owner_who_may(found.owner_id)
    if found is None or owner is None:
        return
    said = {"endpoint": found, "user": owner, "link": settings.ORIGIN + found.get_absolute_url()}
    text = render_to_string("webhooks/mail/paused.txt", said)
    subject = f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}A webhook was paused"
    send_mail(subject, text, settings.DEFAULT_FROM_EMAIL, [owner.email])


@shared_task(name="webhooks.forget_deliveries")
def forget_deliveries() -> None:
    """Remove old deliveries and secrets that sign no more, and find what was missed. May run at any time and twice."""
    over.forget_deliveries()
    over.find_missed()
