"""Who is told of what happens here, by signed webhook, and how each telling went."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlsplit

from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Replace
from django.urls import reverse

from emma_eval.accounts import hidden
from emma_eval.accounts.keys import new_key
from emma_eval.accounts.models import User

from .kinds import hidden_subjects


class Endpoint(models.Model):
    """An address that is told of events of these kinds: of what its owner may know at the time, and of nothing else."""

    id = models.BigAutoField(primary_key=True, default=new_key)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="webhook_endpoints")
    name = models.CharField(max_length=80)
    url = models.CharField(max_length=2000)
    kinds = models.JSONField(default=list, help_text="Kinds of events, such as result.filed.")
    secret = models.CharField(max_length=100, help_text="Signs what is sent.")
    old_secret = models.CharField(max_length=100, blank=True, help_text="Signs too, until it is dropped.")
    old_secret_until = models.DateTimeField(null=True, blank=True, help_text="When the old secret is dropped.")
    made_at = models.DateTimeField(auto_now_add=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    why_paused = models.CharField(max_length=200, blank=True)
    held_until = models.DateTimeField(
        null=True, blank=True, help_text="Nothing is tried before: it asked for that, or let us wait in vain."
    )

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(url__startswith="https://") | Q(url__startswith="http://"), name="endpoint_is_an_address"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("webhook", args=[self.pk])

    @property
    def host(self) -> str:
        """What may be said of its address: the rest of it may hold a key."""
        return urlsplit(self.url).hostname or ""

    def secrets_at(self, now: datetime) -> list[str]:
        """What signs at this time: the secret, and the one before it while it is being rotated."""
        is_rotating = self.old_secret and self.old_secret_until is not None and now < self.old_secret_until
        return [self.secret, self.old_secret] if is_rotating else [self.secret]


class State(models.TextChoices):
    WAITING = "waiting", "On its way"
    DELIVERED = "delivered", "Delivered"
    FAILED = "failed", "Given up"
    WITHHELD = "withheld", "Not sent: its owner may not know of it"


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def visible_to(self, user: User) -> DeliveryQuerySet:
        """What tells of Safety is for the trained alone, and so is what tells of a script, or of a subject of several
        scripts, that is Safety by now."""
        if user.is_trained:
            return self
        found = self.filter(is_safety=False)
        for slugs in hidden.hidden_scripts(user):
            found = found.exclude(script__in=slugs)
        found = found.alias(bare_subject=Replace("subject", Value("-"), Value("")))
        for kind, subjects in hidden_subjects(user):
            found = found.exclude(Q(kind=kind, bare_subject__in=subjects))
        return found

    def settled(self) -> DeliveryQuerySet:
        return self.exclude(state=State.WAITING)


class Delivery(models.Model):
    """One event on its way to one endpoint. It names the thing; what is said of it is read at each try."""

    id = models.BigAutoField(primary_key=True, default=new_key)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    event = models.CharField(max_length=40, help_text="The id of the event: the same at each try and each replay.")
    kind = models.CharField(max_length=40)
    subject = models.CharField(max_length=40, help_text="The key of what it is about.")
    occurred_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    settled_at = models.DateTimeField(null=True, blank=True)
    is_safety = models.BooleanField(default=False, help_text="Shown to trained people only.")
    script = models.SlugField(
        max_length=60, blank=True, help_text="The script that it is about: shown to those who may know of it."
    )

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "event"], name="event_once_an_endpoint"),
        ]
        indexes = [models.Index(fields=["endpoint", "id"], name="delivery_endpoint")]

    def __str__(self) -> str:
        return f"{self.kind} to {self.endpoint}"


class Try(models.Model):
    """One try of a delivery, and what came of it."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="tries")
    at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True, help_text="The HTTP status; empty if there was no answer.")
    took_ms = models.PositiveIntegerField(null=True)
    why = models.CharField(max_length=500, blank=True, help_text="What went wrong, in words; empty if nothing did.")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"try of {self.delivery}"
