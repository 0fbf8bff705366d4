"""Sheets that somebody uploaded, to be imported."""

from __future__ import annotations

import uuid
from enum import StrEnum
from pathlib import Path

from django.conf import settings
from django.db import models
from django.urls import reverse

from emma_eval.accounts.models import User
from emma_eval.outbox.models import Row


class SheetUploadQuerySet(models.QuerySet["SheetUpload"]):
    def visible_to(self, user: User) -> SheetUploadQuerySet:
        """One's own; reports that tell of Safety rows only while one is trained: a count is a leak."""
        own = self.filter(owner=user)
        return own if user.is_trained else own.filter(tells_of_safety=False)


class SheetState(StrEnum):
    """What a worker does with a sheet that is too large to be gone through while somebody waits."""

    LOOKING = "looking"
    LOOKED = "looked"
    IMPORTING = "importing"
    FAILED = "failed"


class SheetUpload(models.Model):
    """A sheet that somebody uploaded: kept as a file until it is imported, thrown away, or a day old.

    What the import did stays as `report`. A large sheet is `work` for a worker, which first leaves what it found in
    `looked`, and imports when its owner `agreed` to that number of new results.
    """

    uuid = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sheet_uploads")
    name = models.CharField(max_length=200, help_text="The name of the file on the owner's machine.")
    uploaded_at = models.DateTimeField(auto_now_add=True)
    imported_at = models.DateTimeField(null=True, blank=True)
    report = models.JSONField(default=dict, blank=True)
    tells_of_safety = models.BooleanField(default=False)

    work = models.ForeignKey(Row, null=True, on_delete=models.SET_NULL, related_name="+")
    is_large = models.BooleanField(default=False, db_default=False)
    rows_read = models.PositiveIntegerField(default=0, db_default=0, help_text="How far the worker is.")
    looked = models.JSONField(null=True, blank=True, help_text="The report of what an import would do.")
    agreed = models.PositiveIntegerField(null=True, blank=True)
    has_changed = models.BooleanField(
        default=False, db_default=False, help_text="By the time of the import it was another number."
    )
    failed_because = models.CharField(max_length=300, blank=True, default="", db_default="")

    objects = SheetUploadQuerySet.as_manager()

    class Meta:
        ordering = ["-uploaded_at"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("import_preview", args=[self.uuid])

    @property
    def state(self) -> SheetState | None:
        """How far the worker is with a large sheet that is not imported yet; None for any other."""
        if not self.is_large or self.imported_at is not None:
            return None
        if self.failed_because:
            return SheetState.FAILED
        if self.agreed is None and self.looked is not None:
            return SheetState.LOOKED
        if self.work is None or self.work.set_aside_at is not None:
            return SheetState.FAILED
        return SheetState.LOOKING if self.agreed is None else SheetState.IMPORTING

    @property
    def path(self) -> Path:
        """Where the file is kept; its name says nothing and can't be guessed."""
        return Path(settings.IMPORTS_DIR) / self.uuid.hex
