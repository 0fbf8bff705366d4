"""What is typed and not filed yet."""

from __future__ import annotations

from django.db import models

from emma_eval.accounts.models import User
from scripts_catalog import taxonomy
from scripts_catalog.models import Script


class DraftQuerySet(models.QuerySet["Draft"]):
    def visible_to(self, user: User) -> DraftQuerySet:
        """A tester's own drafts; those of a script that is Safety now only while the tester is trained."""
        mine = self.filter(tester=user)
        return mine if user.is_trained else mine.exclude(script__area=taxonomy.SAFETY)

    def hidden_from(self, user: User) -> DraftQuerySet:
        """A tester's own drafts that the tester may not know of at present."""
        return self.filter(tester=user).exclude(pk__in=Draft.objects.visible_to(user).values("pk"))


class Draft(models.Model):
    """A result that is not filed yet, exactly as typed. The browser makes its UUID; only its tester sees it."""

    tester = models.ForeignKey(User, on_delete=models.CASCADE, related_name="drafts", db_index=False)
    uuid = models.UUIDField()
    script = models.ForeignKey(Script, null=True, to_field="slug", on_delete=models.PROTECT, related_name="+")
    fields = models.JSONField(default=dict)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    saved_at = models.DateTimeField(auto_now=True)

    objects = DraftQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tester", "uuid"], name="one_draft_a_uuid")]

    def is_visible_to(self, user: User) -> bool:
        """The rule of `visible_to`, of a draft that is read already."""
        is_safety = self.script is not None and self.script.is_safety
        return self.tester_id == user.pk and (user.is_trained or not is_safety)

    def __str__(self) -> str:
        return f"draft {self.uuid}"
