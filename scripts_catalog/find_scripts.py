"""Find scripts for the Scripts tab, by area, with how often each was run on the current build.

The catalogue is written by hand and holds hundreds of scripts at most, so it is read whole and searched
here: that way "É" finds "é" on every database, and the steps are searched as people read them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from emma_eval.accounts.models import User

from . import taxonomy
from .forms import Wanted
from .models import Build, RunCount, Script, ScriptVersion


@dataclass(frozen=True)
class Found:
    """One script on the tab."""

    slug: str
    is_retired: bool
    version: ScriptVersion
    runs: int

    @property
    def main_dimension(self) -> str:
        return taxonomy.DIMENSION_BY_KEY[self.version.main_dimension].name


@dataclass(frozen=True)
class Shelf:
    """The scripts of one area."""

    key: str
    name: str
    scripts: tuple[Found, ...]


def find_scripts(user: User, wanted: Wanted, build: Build | None) -> list[Shelf]:
    """The areas that have a script to show, in the order of the areas; two queries, whatever their number."""
    known = Script.objects.visible_to(user).select_related("latest").exclude(latest=None).order_by("latest__title")
    runs = RunCount.objects.visible_to(user).by_script(build)
    scripts = known.retired() if wanted.retired else known.in_use()
    found = [
        Found(script.slug, wanted.retired, script.latest, runs.get(script.pk, 0)) for script in scripts if script.latest
    ]
    fitting = [one for one in found if _fits(one, wanted)]
    return [shelf for shelf in _shelves(fitting) if shelf.scripts]


def _shelves(found: Iterable[Found]) -> list[Shelf]:
    found = list(found)
    return [Shelf(key, name, tuple(one for one in found if one.version.area == key)) for key, name in taxonomy.AREAS]


def _fits(one: Found, wanted: Wanted) -> bool:
    version = one.version
    return (
        wanted.area in {"", version.area}
        and wanted.dimension in {"", version.main_dimension}
        and wanted.camera in {"", "yes" if version.uses_camera else "no"}
        and not (wanted.unrun and one.runs)
        and _says(version, wanted.q)
    )


def _says(version: ScriptVersion, words: str) -> bool:
    """Whether title, summary and steps hold every word, in whatever case."""
    text = "\n".join([version.title, version.summary, *version.steps]).casefold()
    return all(word in text for word in words.casefold().split())
