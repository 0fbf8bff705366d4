"""Files of results that somebody asked for and fetches later."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from enum import StrEnum
from urllib.parse import urlencode

from django.db import models
from django.urls import reverse
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.outbox.models import Row
from scripts_catalog import taxonomy
from scripts_catalog.models import Script

from .call import Call

FILES_ARE_KEPT_FOR = timedelta(days=7)


class ExportQuerySet(models.QuerySet["Export"]):
    def visible_to(self, user: User) -> ExportQuerySet:
        """One's own; what may hold anything that is Safety, or is Safety by now, only while trained.

        That are rows of scripts, and moments of calls: the same call may have been opened to all when they were read.
        """
        own = self.filter(owner=user)
        if user.is_trained:
            return own
        covered = Script.objects.filter(area=taxonomy.SAFETY).values("pk")
        rows = Export.scripts.through.objects.filter(script__in=covered).values("export")
        moments = Export.calls.through.objects.filter(export__owner=user, call__in=Call.objects.covered())
        return own.filter(tells_of_safety=False).exclude(pk__in=rows).exclude(pk__in=moments.values("export"))

    def waiting(self) -> ExportQuerySet:
        return self.filter(made_at=None, failed_because="")


class State(StrEnum):
    """How far a file is. It is removed a week after it was made."""

    WAITING = "waiting"
    MAKING = "making"
    READY = "ready"
    FAILED = "failed"
    REMOVED = "removed"


class Export(models.Model):
    """A workbook that is too large to be made while somebody waits for the page.

    A worker writes it, over and over again from the start if need be, each time into a file of its own; the first
    to be whole becomes `file`, a name in the storage of exports.
    """

    uuid = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="exports")
    asked_at = models.DateTimeField(auto_now_add=True)
    query = models.TextField(blank=True, help_text="Filters and sort, as in the address of the list.")
    columns = models.JSONField(default=list, help_text="The keys of the columns, in their order.")
    total = models.PositiveIntegerField(help_text="Rows that fitted when it was asked for.")
    rows = models.PositiveIntegerField(default=0, help_text="Rows written so far.")
    work = models.ForeignKey(Row, null=True, on_delete=models.SET_NULL, related_name="+")
    file = models.CharField(max_length=100, blank=True)
    made_at = models.DateTimeField(null=True, blank=True)
    failed_because = models.CharField(max_length=200, blank=True)
    tells_of_safety = models.BooleanField(default=False)
    scripts = models.ManyToManyField(Script, related_name="+", help_text="The scripts whose rows are in the file.")
    calls = models.ManyToManyField(
        Call, related_name="+", help_text="The calls whose moments are in the file; of one for the trained, none."
    )

    objects = ExportQuerySet.as_manager()

    class Meta:
        ordering = ["-asked_at"]

    def __str__(self) -> str:
        return f"export {self.uuid}"

    def get_absolute_url(self) -> str:
        return reverse("export", args=[self.uuid])

    @property
    def file_name(self) -> str:
        """What the file is called on the owner's machine."""
        return f"results-{timezone.localtime(self.asked_at):%Y-%m-%d-%H%M}.xlsx"

    @property
    def state(self) -> State:
        if self.made_at is not None:
            return State.READY if self.file else State.REMOVED
        if self.failed_because or self.work is None or self.work.set_aside_at is not None:
            return State.FAILED
        held = self.work.lease_until
        return State.MAKING if held is not None and held > timezone.now() else State.WAITING

    @property
    def kept_until(self) -> datetime | None:
        return self.made_at and self.made_at + FILES_ARE_KEPT_FOR

    @property
    def address_to_ask_again(self) -> str:
        """The page of this very export, to be asked for once more."""
        columns = [("column", key) for key in self.columns]
        return f"{reverse('export_new')}?{self.query}&{urlencode([('format', 'xlsx'), *columns])}"

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens to it by itself."""
        return self.state not in {State.WAITING, State.MAKING}

    @property
    def failed_once(self) -> bool:
        """Whether a try failed and the next one is still to come."""
        return self.state == State.WAITING and self.work is not None and bool(self.work.last_error)
