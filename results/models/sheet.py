"""Sheets that somebody uploaded, to be imported."""

from __future__ import annotations

import uuid
from pathlib import Path

from django.conf import settings
from django.db import models
from django.urls import reverse

from emma_eval.accounts.models import User


class SheetUploadQuerySet(models.QuerySet["SheetUpload"]):
    def visible_to(self, user: User) -> SheetUploadQuerySet:
        """One's own; reports that tell of Safety rows only while one is trained: a count is a leak."""
        own = self.filter(owner=user)
        return own if user.is_trained else own.filter(tells_of_safety=False)


class SheetUpload(models.Model):
    """A sheet that somebody uploaded: kept as a file until it is imported, thrown away, or a day old.

    What the import did stays as `report`.
    """

    uuid = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sheet_uploads")
    name = models.CharField(max_length=200, help_text="The name of the file on the owner's machine.")
    uploaded_at = models.DateTimeField(auto_now_add=True)
    imported_at = models.DateTimeField(null=True, blank=True)
    report = models.JSONField(default=dict, blank=True)
    tells_of_safety = models.BooleanField(default=False)

    objects = SheetUploadQuerySet.as_manager()

    class Meta:
        ordering = ["-uploaded_at"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("import_preview", args=[self.uuid])

    @property
    def path(self) -> Path:
        """Where the file is kept; its name says nothing and can't be guessed."""
        return Path(settings.IMPORTS_DIR) / self.uuid.hex
