"""One row for each piece of work to be done outside the process that decided on it."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import Q


class RowQuerySet(models.QuerySet["Row"]):
    def due(self, now: datetime) -> RowQuerySet:
        """Rows that may be worked on now: waiting, not set aside, not leased to a worker that may live."""
        free = Q(lease_until=None) | Q(lease_until__lte=now)
        return self.filter(free, done_at=None, set_aside_at=None, next_try_at__lte=now)


class Row(models.Model):
    """Written in the transaction of the change it belongs to, so the work is lost only if the change is."""

    handler = models.CharField(max_length=100)
    payload = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    next_try_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    last_error = models.TextField(blank=True)
    done_at = models.DateTimeField(null=True, blank=True)
    set_aside_at = models.DateTimeField(null=True, blank=True)

    objects = RowQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["next_try_at"], name="outbox_waiting", condition=Q(done_at=None, set_aside_at=None)),
        ]

    def __str__(self) -> str:
        return f"{self.handler} #{self.pk}"
