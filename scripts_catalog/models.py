"""Scripts and their versions, builds of Emma, and how often a script was run on a build."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.validators import RegexValidator
from django.db import connection, models
from django.db.models import F, Q, Sum
from django.urls import reverse

from emma_eval.accounts.keys import new_key
from emma_eval.accounts.models import User

from . import taxonomy
from .wording import Anchor, ShownAnchor, Wording

LONGEST_LINK = 500
DIMENSION_CHOICES = [(dimension.key, dimension.name) for dimension in taxonomy.DIMENSIONS]
SLUG_IS = RegexValidator(r"^[a-z0-9]+(-[a-z0-9]+)*$", "Use small letters, digits and single hyphens.")


class ScriptQuerySet(models.QuerySet["Script"]):
    def visible_to(self, user: User | AnonymousUser) -> ScriptQuerySet:
        """Safety scripts are for the trained alone; every page, count and task goes through here."""
        return self.known(is_trained=user.is_trained) if user.is_authenticated else self.none()

    def known(self, *, is_trained: bool) -> ScriptQuerySet:
        """What anybody may know of who is signed in, and trained or not: the same for all of them."""
        return self if is_trained else self.exclude(area=taxonomy.SAFETY)

    def in_use(self) -> ScriptQuerySet:
        return self.filter(retired_at=None)

    def retired(self) -> ScriptQuerySet:
        return self.exclude(retired_at=None)


class Script(models.Model):
    """A script, known for ever by its slug. What it says stands in its versions."""

    slug = models.CharField(max_length=60, unique=True, validators=[SLUG_IS])
    area = models.CharField(max_length=20, choices=taxonomy.AREAS, help_text="The area of the latest version.")
    latest = models.OneToOneField("ScriptVersion", null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    objects = ScriptQuerySet.as_manager()

    def __str__(self) -> str:
        return self.slug

    def get_absolute_url(self) -> str:
        return reverse("script", args=[self.slug])

    @property
    def is_safety(self) -> bool:
        return self.area == taxonomy.SAFETY


class ScriptVersionQuerySet(models.QuerySet["ScriptVersion"]):
    def known_as(self, number: int, user: User | AnonymousUser) -> ScriptVersionQuerySet:
        """The version that this person knows by this number (see `ScriptVersion.number_for`)."""
        is_trained = user.is_authenticated and user.is_trained
        return self.visible_to(user).filter(**{"number" if is_trained else "open_number": number})

    def visible_to(self, user: User | AnonymousUser) -> ScriptVersionQuerySet:
        """Neither versions of a Safety script nor versions that were Safety, except to the trained."""
        if not user.is_authenticated:
            return self.none()
        if user.is_trained:
            return self
        return self.exclude(Q(area=taxonomy.SAFETY) | Q(script__area=taxonomy.SAFETY))


class ScriptVersion(models.Model):
    """What a script said from one edit to the next. Written once: a result keeps the version that was run."""

    id = models.BigAutoField(primary_key=True, default=new_key)
    script = models.ForeignKey(Script, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    open_number = models.PositiveIntegerField(
        null=True, editable=False, help_text="Its number among the versions that are not Safety; empty for those."
    )
    title = models.CharField(max_length=120)
    area = models.CharField(max_length=20, choices=taxonomy.AREAS)
    main_dimension = models.CharField(max_length=20, choices=DIMENSION_CHOICES)
    uses_camera = models.BooleanField(default=False)
    summary = models.CharField(max_length=300)
    what_to_do = models.TextField(help_text="What to do and set up before calling Emma.")
    steps = models.JSONField(default=list, help_text="A list of sentences.")
    anchors = models.JSONField(
        default=dict, blank=True, help_text='{dimension key: {"five": text, "one": text}}; left out = General quality.'
    )
    change_note = models.CharField(max_length=200, blank=True)
    is_shipped = models.BooleanField(default=False, help_text="Came from the catalogue file, not from an edit here.")
    edited_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ScriptVersionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["script", "number"], name="script_version_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="script_version_from_one"),
            models.UniqueConstraint(fields=["script", "open_number"], name="script_open_number_once"),
            models.CheckConstraint(
                condition=Q(area=taxonomy.SAFETY, open_number__isnull=True)
                | (~Q(area=taxonomy.SAFETY) & Q(open_number__isnull=False)),
                name="script_open_number_unless_safety",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title} (version {self.number})"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.open_number is None and not self.is_safety:
            before = ScriptVersion.objects.filter(script=self.script_id, number__lt=self.number)
            self.open_number = before.exclude(area=taxonomy.SAFETY).count() + 1
        super().save(*args, **kwargs)

    @property
    def is_safety(self) -> bool:
        return self.area == taxonomy.SAFETY

    @property
    def wording(self) -> Wording:
        return Wording(
            title=self.title,
            area=self.area,
            main_dimension=self.main_dimension,
            uses_camera=self.uses_camera,
            summary=self.summary,
            what_to_do=self.what_to_do,
            steps=tuple(self.steps),
            anchors={key: Anchor(**words) for key, words in self.anchors.items()},
        )

    def number_for(self, user: User | AnonymousUser) -> int:
        """The number this person knows the version by: a gap would tell that something is kept from them."""
        if user.is_authenticated and user.is_trained:
            return self.number
        return self.open_number or self.number

    def anchors_by_dimension(self) -> list[tuple[taxonomy.Dimension, ShownAnchor]]:
        """For each dimension what 5 and 1 look like here; the guide's words where the script has none."""
        found = []
        for dimension in taxonomy.DIMENSIONS:
            own = self.anchors.get(dimension.key)
            words = own or {"five": dimension.five, "one": dimension.one}
            is_main = dimension.key == self.main_dimension
            found.append((dimension, ShownAnchor(**words, is_general=own is None, is_main=is_main)))
        return found


def sort_key_of(name: str) -> str:
    """Builds sort by their numbers: 2026.9 before 2026.10, so each number is padded to eight digits."""
    return re.sub(r"\d+", lambda digits: digits.group().zfill(8), name.strip().lower())


def _opens_a_page(column: str) -> Q:
    """A link that is put on a page is empty or a web address, whoever wrote it there."""
    return Q(**{column: ""}) | Q(**{f"{column}__startswith": "https://"}) | Q(**{f"{column}__startswith": "http://"})


class BuildQuerySet(models.QuerySet["Build"]):
    def named(self, name: str) -> Build | None:
        """The build of this name, however its numbers are written; None for no name."""
        return self.filter(sort_key=sort_key_of(name)).first() if name else None

    def current_build(self) -> Build | None:
        """The build that forms offer first; none until one was made current."""
        return self.filter(is_current=True).first()


class Build(models.Model):
    """A version of Emma. Results refer to it by its sort key, so lists sort by build on an index."""

    name = models.CharField(max_length=60, unique=True)
    sort_key = models.CharField(max_length=160, unique=True, editable=False)
    released_on = models.DateField(null=True, blank=True)
    note = models.TextField(blank=True)
    call_link = models.URLField(max_length=LONGEST_LINK, blank=True, help_text="Opens Emma; empty = the site's.")
    is_current = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BuildQuerySet.as_manager()

    class Meta:
        ordering = ["-sort_key"]
        constraints = [
            models.UniqueConstraint(fields=["is_current"], condition=Q(is_current=True), name="one_current_build"),
            models.CheckConstraint(condition=_opens_a_page("call_link"), name="build_link_opens_a_page"),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        # The key is set once: results hold it, so a build is never renamed.
        self.sort_key = self.sort_key or sort_key_of(self.name)
        super().save(*args, **kwargs)


class SiteQuerySet(models.QuerySet["Site"]):
    def call_link_for(self, build: Build | None) -> str:
        """The link that opens Emma: the build's own, else the site's; empty when neither has one."""
        if build and build.call_link:
            return build.call_link
        site = self.first()
        return site.call_link if site else ""


class Site(models.Model):
    """What holds for the whole site; one row."""

    call_link = models.URLField(max_length=LONGEST_LINK, blank=True, help_text="Opens Emma, where the build has none.")

    objects = SiteQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="one_site"),
            models.CheckConstraint(condition=_opens_a_page("call_link"), name="site_link_opens_a_page"),
        ]

    def __str__(self) -> str:
        return "the site"


@dataclass(frozen=True)
class BuildRuns:
    """How often something was run on one build."""

    name: str
    sort_key: str
    is_current: bool
    runs: int


class RunCountQuerySet(models.QuerySet["RunCount"]):
    def visible_to(self, user: User | AnonymousUser) -> RunCountQuerySet:
        """A count is a leak: runs filed while a script was Safety are counted for the trained alone."""
        if not user.is_authenticated:
            return self.none()
        if user.is_trained:
            return self
        return self.filter(filed_as_safety=False).exclude(script__area=taxonomy.SAFETY)

    def by_build(self) -> list[BuildRuns]:
        """The runs of each build that has any, the newest build first."""
        rows = self.values_list("build__name", "build__sort_key", "build__is_current").annotate(total=Sum("runs"))
        return [BuildRuns(*row) for row in rows.filter(total__gt=0).order_by("-build__sort_key")]

    def by_script(self, build: Build | None) -> dict[int, int]:
        """The runs of each script on this build, by the script's key; scripts that were not run are left out."""
        rows = self.filter(build=build).values_list("script").annotate(total=Sum("runs"))
        return {script: total for script, total in rows if total}

    def add(self, script: Script, build: Build, *, filed_as_safety: bool, runs: int = 1) -> None:
        """Count runs of a script on a build; called by the transaction that files, moves or removes a result."""
        counted = self.filter(script=script, build=build, filed_as_safety=filed_as_safety)
        if not counted.update(runs=F("runs") + runs):
            self.get_or_create(script=script, build=build, filed_as_safety=filed_as_safety)
            counted.update(runs=F("runs") + runs)

    def add_many(self, runs: Mapping[tuple[int, int, bool], int]) -> None:
        """The same for many at once, by the keys of script and build and whether they were filed as Safety.

        Always in the same order: two imports at the same time must not wait for each other in a ring.
        """
        with connection.cursor() as cursor:
            for counted, number in sorted(runs.items()):
                if number > 0:
                    cursor.execute(ADD_RUNS, (*counted, number))
                elif number < 0:
                    cursor.execute(TAKE_RUNS, (-number, -number, *counted))


# Django's own upsert (bulk_create with update_conflicts) can only overwrite, not add.
ADD_RUNS = """
INSERT INTO scripts_catalog_runcount (script_id, build_id, filed_as_safety, runs) VALUES (%s, %s, %s, %s)
ON CONFLICT (script_id, build_id, filed_as_safety)
DO UPDATE SET runs = scripts_catalog_runcount.runs + excluded.runs
"""
# Never below nothing: a count that is out of step is put right at night, and must keep nobody from correcting.
TAKE_RUNS = """
UPDATE scripts_catalog_runcount SET runs = CASE WHEN runs > %s THEN runs - %s ELSE 0 END
WHERE script_id = %s AND build_id = %s AND filed_as_safety = %s
"""


class RunCount(models.Model):
    """How often a script was run on a build. Calls that never started are not runs."""

    script = models.ForeignKey(Script, on_delete=models.CASCADE, related_name="run_counts")
    build = models.ForeignKey(Build, on_delete=models.CASCADE, related_name="run_counts")
    filed_as_safety = models.BooleanField(default=False)
    runs = models.PositiveIntegerField(default=0)

    objects = RunCountQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["script", "build", "filed_as_safety"], name="one_run_count"),
        ]

    def __str__(self) -> str:
        return f"{self.script} on {self.build}: {self.runs}"
