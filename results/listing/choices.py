"""What a list of results can be filtered by: the scripts, builds and testers that this viewer may know."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db.models import CharField, Exists, OuterRef, QuerySet, Value
from django.db.models.functions import Cast

from emma_eval.accounts.models import User
from results.models import Result
from results.review.blind import SEE_REVIEWS
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
    sees_reviews: bool = False
    sees_safety: bool = False

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
    found: dict[str, list[tuple[str, str, str]]] = {"script": [], "build": [], "tester": []}
    for kind, value, name, more in _everything(is_trained=user.is_trained).all():
        found[kind].append((value, name, more))
    scripts = sorted(found["script"], key=_in_letters)
    testers = sorted(((value, name or email, "") for value, name, email in found["tester"]), key=_in_letters)
    return Choices(
        scripts={slug: title for slug, title, _ in scripts},
        area_of={slug: area for slug, _, area in scripts},
        builds=[name for _, name, _ in sorted(found["build"], reverse=True)],
        testers={key: name for key, name, _ in testers},
        sees_reviews=user.has_role(*SEE_REVIEWS),
        sees_safety=user.is_trained,
    )


def _in_letters(row: tuple[str, str, str]) -> str:
    return row[1].lower()


@cache
def _everything(*, is_trained: bool) -> QuerySet[Any]:
    """Rows of a kind, the value in an address, a name, and what else is known: a script's area, a tester's address.

    A query that is put together once, and asked anew for each page.
    """
    theirs = Result.objects.known(is_trained=is_trained).filter(tester=OuterRef("pk"))
    written = Script.objects.known(is_trained=is_trained).filter(latest__isnull=False)
    scripts = written.values_list(_text("script"), "slug", "latest__title", "area")
    builds = Build.objects.order_by().values_list(_text("build"), "sort_key", "name", _text(""))
    filers = User.objects.filter(Exists(theirs))
    testers = filers.values_list(_text("tester"), Cast("pk", CharField()), "name", "email")
    return scripts.union(builds, testers, all=True)


def _text(value: str) -> Value:
    return Value(value, output_field=CharField())
