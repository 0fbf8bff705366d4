"""Counts that would be slow to count each time. All of them can be thrown away and counted anew from the results."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q

from emma_eval.accounts.models import User
from emma_eval.scoring.intervals import FEWEST
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script

RATINGS = tuple(value for value, _ in taxonomy.SCALE)
RATING_COUNTS = tuple(f"{dimension.key}_{value}" for dimension in taxonomy.DIMENSIONS for value in RATINGS)


class CountQuerySet(models.QuerySet[Any]):
    def visible_to(self, user: User | AnonymousUser) -> CountQuerySet:
        """A count is a leak: what was filed as Safety, or is of a script that is Safety now, is for the trained."""
        if not user.is_authenticated:
            return self.none()
        if user.is_trained:
            return self
        return self.filter(filed_as_safety=False).exclude(script__area=taxonomy.SAFETY)


class _Counted(models.Model):
    """What a count is of. A month is named by its first day, in the site's time zone."""

    script = models.ForeignKey(Script, to_field="slug", on_delete=models.CASCADE, related_name="+", db_index=False)
    build = models.ForeignKey(Build, to_field="sort_key", on_delete=models.CASCADE, related_name="+", db_index=False)
    month = models.DateField()
    filed_as_safety = models.BooleanField(default=False)
    met_emma_before = models.BooleanField(default=False)

    objects = CountQuerySet.as_manager()

    class Meta:
        abstract = True


class MonthCount(_Counted):
    """How often a script was run on a build in a month, and how often each rating was given."""

    runs = models.PositiveIntegerField(default=0, help_text="Calls that took place.")
    never_started = models.PositiveIntegerField(default=0)
    without_camera = models.PositiveIntegerField(default=0, help_text="Of the runs: Vision is N/A.")
    reviewed = models.PositiveIntegerField(default=0, help_text="Results of which a review stands.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["script", "build", "month", "filed_as_safety", "met_emma_before"], name="one_month_count"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.script_id} on {self.build_id} in {self.month:%Y-%m}: {self.runs}"


for _name in RATING_COUNTS:
    MonthCount.add_to_class(_name, models.PositiveIntegerField(default=0))


class Source(models.TextChoices):
    """Whose tags are counted. Never both in one figure."""

    FILED = "filed", "As filed"
    REVIEWED = "reviewed", "As reviewed"


class MonthTag(_Counted):
    """How often a problem was tagged on results of a script on a build in a month, and how often as the biggest."""

    source = models.CharField(max_length=8, choices=Source.choices, default=Source.FILED)
    tag = models.CharField(max_length=40)
    tagged = models.PositiveIntegerField(default=0)
    biggest = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["script", "build", "month", "filed_as_safety", "met_emma_before", "source", "tag"],
                name="one_month_tag",
            ),
            models.CheckConstraint(condition=Q(biggest__lte=models.F("tagged")), name="biggest_is_tagged"),
        ]

    def __str__(self) -> str:
        return f"{self.tag} on {self.script_id} in {self.month:%Y-%m}: {self.tagged}"


class Agreement(models.Model):
    """How far testers who ran the same script on the same build agree: ordinal alpha, worked out beside the pages.

    Empty `script` or `build`: of all of them. `with_safety`: counts what only the trained may know of.
    """

    dimension = models.CharField(max_length=20)
    script = models.CharField(max_length=60, blank=True)
    build = models.CharField(max_length=160, blank=True)
    with_safety = models.BooleanField(default=False)
    alpha = models.FloatField(null=True, help_text="None where it can't be told; `why` says why.")
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    why = models.CharField(max_length=200, blank=True)
    units = models.PositiveIntegerField(default=0, help_text="Script and build pairs that several testers rated.")
    ratings = models.PositiveIntegerField(default=0)
    testers = models.PositiveIntegerField(default=0)
    worked_out_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dimension", "script", "build", "with_safety"], name="one_agreement"),
        ]

    def __str__(self) -> str:
        return f"agreement on {self.dimension}"

    @property
    def is_too_small(self) -> bool:
        """Whether it could be worked out, of too few units to say anything by it."""
        return self.alpha is not None and self.units < FEWEST
