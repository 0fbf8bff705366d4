"""What a list of results can be filtered by: the scripts, builds and testers that this viewer may know."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Case, CharField, Exists, OuterRef, Value, When
from django.db.models.functions import Cast

from emma_eval.accounts.models import User
from results.models import Result
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script

Option = tuple[str, str]


@dataclass(frozen=True)
class Choices:
    """By the value that stands in an address, the name that people read. Builds go by their names."""

    scripts: dict[str, str]
    area_of: dict[str, str]
    builds: list[str]
    testers: dict[str, str]

    def scripts_by_area(self) -> list[tuple[str, list[Option]]]:
        """The scripts under their areas, both in the order in which people look for them."""
        groups = [
            (name, [(slug, title) for slug, title in self.scripts.items() if self.area_of[slug] == area])
            for area, name in taxonomy.AREAS
        ]
        return [(name, scripts) for name, scripts in groups if scripts]

    def areas(self) -> list[Option]:
        used = set(self.area_of.values())
        return [(area, name) for area, name in taxonomy.AREAS if area in used]


def choices_for(user: User) -> Choices:
    """Everything there is to choose, in one query. Who filed nothing that the viewer may see is not in it."""
    found: dict[str, dict[str, str]] = {"script": {}, "build": {}, "tester": {}}
    area_of = {}
    for kind, value, name, area in sorted(_everything(user), key=lambda row: row[2].lower()):
        found[kind][value] = name
        if kind == "script":
            area_of[value] = area
    newest_first = [name for _, name in sorted(found["build"].items(), reverse=True)]
    return Choices(found["script"], area_of, newest_first, found["tester"])


def _everything(user: User) -> list[tuple[str, str, str, str]]:
    theirs = Result.objects.visible_to(user).filter(tester=OuterRef("pk"))
    written = Script.objects.visible_to(user).filter(latest__isnull=False)
    scripts = written.values_list(_text("script"), "slug", "latest__title", "area")
    builds = Build.objects.order_by().values_list(_text("build"), "sort_key", "name", _text(""))
    called = Case(When(name="", then="email"), default="name", output_field=CharField())
    filers = User.objects.filter(Exists(theirs))
    testers = filers.values_list(_text("tester"), Cast("pk", CharField()), called, _text(""))
    return list(scripts.union(builds, testers, all=True))


def _text(value: str) -> Value:
    return Value(value, output_field=CharField())
