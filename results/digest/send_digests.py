"""Put the digests of a week on their way: each once, whoever asks, however often and at the same moment."""

from __future__ import annotations

from datetime import date, datetime

from django.db import IntegrityError, transaction

from emma_eval.outbox.enqueue import enqueue
from emma_eval.webhooks.announce import announce

from ..models import Digest, SavedView
from .due import week_due
from .tell_digest import WEEKLY

MAIL = "results.mail_digest"


def send_digests(now: datetime) -> int:
    """How many were put on their way by this call; none twice."""
    week = week_due(now)
    waiting = SavedView.objects.filter(is_mailed=True, owner__is_active=True).exclude(digests__week=week)
    return sum(_send(view, week) for view in waiting.select_related("owner").order_by("pk"))


def _send(view: SavedView, week: date) -> bool:
    """The row of the digest, the mail and the webhooks stand in one transaction: all of them or none."""
    try:
        with transaction.atomic():
            digest = Digest.objects.create(view=view, week=week)
            enqueue(MAIL, digest=digest.pk)
            announce(WEEKLY, digest.pk, owner=view.owner)
    except IntegrityError:
        return False
    return True
