"""What should be run: rounds of scripts on a build, and tickets elsewhere that a problem is followed by."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.urls import reverse

from emma_eval.accounts.keys import new_key
from emma_eval.accounts.models import User
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script

from .result import Result


class RoundQuerySet(models.QuerySet["Round"]):
    def visible_to(self, user: User | AnonymousUser) -> RoundQuerySet:
        """A round that wants nothing but Safety scripts is for the trained alone; of others they see the rest."""
        if not user.is_authenticated:
            return self.none()
        if user.is_trained:
            return self
        others = Wanted.objects.visible_to(user).filter(round=OuterRef("pk"))
        return self.filter(Exists(others))

    def covered(self) -> RoundQuerySet:
        """What is for the trained alone: nothing else is wanted."""
        others = Wanted.objects.exclude(script__area=taxonomy.SAFETY).filter(round=OuterRef("pk"))
        return self.filter(~Exists(others))

    def open(self) -> RoundQuerySet:
        return self.filter(closed_at=None)

    def most_pressing_first(self) -> RoundQuerySet:
        """By due date, those without one last."""
        return self.order_by(F("due_on").asc(nulls_last=True), "begun_at", "id")


class Round(models.Model):
    """A wish: these scripts, so many runs each, on this build, until this day."""

    id = models.BigAutoField(primary_key=True, default=new_key)
    name = models.CharField(max_length=80)
    build = models.ForeignKey(Build, to_field="sort_key", on_delete=models.PROTECT, related_name="rounds")
    due_on = models.DateField(null=True, blank=True)
    note = models.CharField(max_length=500, blank=True)
    begun_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    begun_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    uuid = models.UUIDField(null=True, blank=True, help_text="Under which a program planned it; of others none.")

    objects = RoundQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["begun_by", "uuid"], name="round_planned_once")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("round", args=[self.pk])


class WantedQuerySet(models.QuerySet["Wanted"]):
    def visible_to(self, user: User | AnonymousUser) -> WantedQuerySet:
        """A wish for runs of a Safety script is for the trained alone."""
        if not user.is_authenticated:
            return self.none()
        return self if user.is_trained else self.exclude(script__area=taxonomy.SAFETY)


class Wanted(models.Model):
    """How many runs of one script a round wants."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="wanted", db_index=False)
    script = models.ForeignKey(Script, to_field="slug", on_delete=models.PROTECT, related_name="+")
    runs = models.PositiveSmallIntegerField(default=1)

    objects = WantedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["round", "script"], name="script_once_a_round"),
            models.CheckConstraint(condition=Q(runs__gte=1, runs__lte=1000), name="wanted_runs_in_bounds"),
        ]

    def __str__(self) -> str:
        return f"{self.runs} × {self.script_id}"


class TicketQuerySet(models.QuerySet["Ticket"]):
    def visible_to(self, user: User | AnonymousUser) -> TicketQuerySet:
        """A ticket of a Safety result or script is for the trained alone, title and all."""
        if not user.is_authenticated:
            return self.none()
        if user.is_trained:
            return self
        covered = Q(script__area=taxonomy.SAFETY) | Q(result__filed_as_safety=True)
        return self.exclude(covered).exclude(result__script__area=taxonomy.SAFETY)

    def on_script(self, slug: str) -> TicketQuerySet:
        """What is about this script, and what is about a problem wherever it shows."""
        return self.filter(Q(script_id=slug) | Q(script_id=None))


class Ticket(models.Model):
    """A ticket in somebody's tracker, of one result or of a problem; builds after `build` show whether it came back.

    `tag` is the problem it is about; empty means whatever the result's tags are. `script` narrows it; empty: any.
    """

    id = models.BigAutoField(primary_key=True, default=new_key)
    link = models.CharField(max_length=2000)
    title = models.CharField(max_length=200)
    result = models.ForeignKey(Result, null=True, blank=True, on_delete=models.CASCADE, related_name="tickets")
    tag = models.CharField(max_length=40, blank=True)
    script = models.ForeignKey(
        Script, to_field="slug", null=True, blank=True, on_delete=models.PROTECT, related_name="tickets"
    )
    build = models.ForeignKey(Build, to_field="sort_key", on_delete=models.PROTECT, related_name="+")
    added_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    added_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    objects = TicketQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(result__isnull=False) | ~Q(tag=""), name="ticket_is_of_something"),
            models.CheckConstraint(
                condition=Q(link__startswith="https://") | Q(link__startswith="http://"), name="ticket_opens_a_page"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("ticket", args=[self.pk])
