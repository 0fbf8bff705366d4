"""Who is told when somebody says something about a result."""

from __future__ import annotations

from django.db import models

from emma_eval.accounts.models import User

from .result import Result


class Follower(models.Model):
    """Somebody who is told of the comments on a result: its tester, and whoever said something there.

    `read_up_to` is the key of the last comment they have read or written; 0 = none yet.
    """

    result = models.ForeignKey(Result, on_delete=models.CASCADE, related_name="followers", db_index=False)
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    read_up_to = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["result", "person"], name="follows_once")]

    def __str__(self) -> str:
        return f"{self.person} on result {self.result_id}"
