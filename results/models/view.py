"""Views that somebody named, to come back to or to be mailed."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from emma_eval.accounts.keys import new_key
from emma_eval.accounts.models import User


class SavedView(models.Model):
    """A page with its filters, under a name: for its owner, and for others of the team if it is shared."""

    id = models.BigAutoField(primary_key=True, default=new_key)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=80)
    path = models.CharField(max_length=200, help_text="The page's own address, such as /dashboard/.")
    query = models.TextField(blank=True, max_length=2_000)
    is_shared = models.BooleanField(default=False)
    is_mailed = models.BooleanField(default=False, help_text="Comes to its owner as a digest each week.")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="one_view_a_name"),
            models.CheckConstraint(condition=Q(path__startswith="/"), name="view_is_of_this_site"),
        ]

    def __str__(self) -> str:
        return self.name


class Digest(models.Model):
    """That a view's digest of one week was put on its way: once, whoever asks again."""

    view = models.ForeignKey(SavedView, on_delete=models.CASCADE, related_name="digests")
    week = models.DateField(help_text="Its Monday.")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["view", "week"], name="one_digest_a_week")]

    def __str__(self) -> str:
        return f"digest of {self.view} for the week of {self.week}"
