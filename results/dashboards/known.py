"""The scripts and builds that this person may know of: what a dashboard can be narrowed to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from emma_eval.accounts.models import User
from scripts_catalog.models import Build, Script

from ..listing.choices import Choices


@dataclass(frozen=True)
class KnownScript:
    slug: str
    title: str
    area: str
    retired_at: datetime | None


@dataclass(frozen=True)
class KnownBuild:
    name: str
    sort_key: str
    is_current: bool


@dataclass(frozen=True)
class Known:
    """The scripts by title, and the builds, the newest first. Of one script's page there are builds alone."""

    scripts: tuple[KnownScript, ...]
    builds: tuple[KnownBuild, ...]

    @property
    def current(self) -> KnownBuild | None:
        return next((build for build in self.builds if build.is_current), None)

    @property
    def names(self) -> dict[str, str]:
        """The builds' names by their sort keys."""
        return {build.sort_key: build.name for build in self.builds}

    def choices(self) -> Choices:
        """What the filters offer."""
        return Choices(
            scripts={script.slug: script.title for script in self.scripts},
            area_of={script.slug: script.area for script in self.scripts},
            builds=[build.name for build in self.builds],
            testers={},
        )


def read_known(user: User, *, with_scripts: bool = True) -> Known:
    """Two queries, or one."""
    scripts = Script.objects.visible_to(user).exclude(latest=None) if with_scripts else Script.objects.none()
    rows = scripts.values_list("slug", "latest__title", "area", "retired_at")
    found = sorted((KnownScript(*row) for row in rows), key=lambda script: script.title.lower())
    builds = Build.objects.order_by("-sort_key").values_list("name", "sort_key", "is_current")
    return Known(tuple(found), tuple(KnownBuild(*row) for row in builds))
