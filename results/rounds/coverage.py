"""What was run on a build, by whom, and what was not: beside what a round of that build wants, if there is one.

Runs are calls that took place. One query counts them by script and tester; everything on the page is added up from
it, so no two figures of it can disagree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max

from emma_eval.accounts.models import User
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script

from ..listing.filters import Filters
from ..models import Result, Round
from .progress import Line, progress_of


@dataclass(frozen=True)
class Runs:
    """A number of runs, the rows that it counts, and when the last of them was called."""

    count: int
    query: str
    last: datetime | None = None


@dataclass(frozen=True)
class ScriptLine:
    """One script: its runs, by how many people, and what the round wants of it (None: it is not in the round)."""

    slug: str
    title: str
    area_name: str
    is_retired: bool
    runs: Runs
    people: int
    wanted: int | None

    @property
    def missing(self) -> int:
        return max(0, (self.wanted or 0) - self.runs.count)


@dataclass(frozen=True)
class Ran:
    """A script that somebody ran."""

    title: str
    runs: Runs


@dataclass(frozen=True)
class TesterLine:
    """One tester: all runs, and those of each script, most runs first."""

    name: str
    runs: Runs
    ran: tuple[Ran, ...]


@dataclass(frozen=True)
class Coverage:
    """`run` and `not_run`: the scripts by area and title; of those that were not run only what is in use."""

    run: tuple[ScriptLine, ...]
    not_run: tuple[ScriptLine, ...]
    testers: tuple[TesterLine, ...]
    total: Runs
    round: Round | None

    @property
    def in_use(self) -> int:
        return sum(not line.is_retired for line in self.run) + len(self.not_run)

    @property
    def run_in_use(self) -> int:
        return sum(not line.is_retired for line in self.run)

    @property
    def wanted(self) -> int:
        return sum(line.wanted or 0 for line in (*self.run, *self.not_run))

    @property
    def missing(self) -> int:
        return sum(line.missing for line in (*self.run, *self.not_run))


@dataclass(frozen=True)
class _Group:
    """The runs of one script by one tester."""

    script: str
    tester: int
    runs: int
    last: datetime


def read_coverage(user: User, build: Build, area: str, round_: Round | None) -> Coverage:
    """The coverage of a build, of one area or (empty) of all. `round_` must be visible to the user."""
    filters = Filters(build=build.name, area=area, started=True)
    found = _read_groups(user, filters)
    scripts = _scripts(user, area, {group.script for group in found})
    known = {script.slug for script in scripts}
    groups = [group for group in found if group.script in known]  # one may have been hidden between the two queries
    wanted = {line.slug: line for line in progress_of(user, [round_])[0].lines} if round_ else {}
    by_script = _by(groups, "script")
    lines = [_script_line(script, by_script[script.slug], filters, wanted) for script in scripts]
    titles = {line.slug: line.title for line in lines}
    return Coverage(
        run=tuple(line for line in lines if line.runs.count),
        not_run=tuple(line for line in lines if not line.runs.count),
        testers=_testers(groups, titles, filters),
        total=_runs(groups, filters),
        round=round_,
    )


def rounds_on(user: User, build: Build) -> list[Round]:
    """The rounds of a build that this person may know of, open ones first."""
    found = Round.objects.visible_to(user).filter(build=build).most_pressing_first()
    return sorted(found, key=lambda round_: round_.closed_at is not None)


def _read_groups(user: User, filters: Filters) -> list[_Group]:
    rows = filters.narrow(Result.objects.visible_to(user)).order_by().values_list("script_id", "tester_id")
    return [_Group(*row) for row in rows.annotate(Count("id"), Max("called_at"))]


def _scripts(user: User, area: str, also: set[str]) -> list[Script]:
    """Those in use, and others that were run; in the order of the areas, then by title."""
    known = Script.objects.visible_to(user).exclude(latest=None).select_related("latest").order_by("latest__title")
    found = known.filter(area=area) if area else known
    places = {key: place for place, (key, _) in enumerate(taxonomy.AREAS)}
    kept = (script for script in found if script.retired_at is None or script.slug in also)
    return sorted(kept, key=lambda script: (places[script.area], _title(script).lower()))


def _script_line(script: Script, groups: list[_Group], filters: Filters, wanted: Mapping[str, Line]) -> ScriptLine:
    asked = wanted.get(script.slug)
    return ScriptLine(
        slug=script.slug,
        title=_title(script),
        area_name=taxonomy.AREA_NAMES[script.area],
        is_retired=script.retired_at is not None,
        runs=_runs(groups, filters.but(script=script.slug)),
        people=len(groups),
        wanted=asked.wanted if asked else None,
    )


def _testers(groups: list[_Group], titles: Mapping[str, str], filters: Filters) -> tuple[TesterLine, ...]:
    by_tester = _by(groups, "tester")
    names = {user.pk: str(user) for user in User.objects.filter(pk__in=by_tester)}
    lines = [_tester_line(names[pk], found, titles, filters.but(tester=pk)) for pk, found in by_tester.items()]
    return tuple(sorted(lines, key=lambda line: (-line.runs.count, line.name.lower())))


def _tester_line(name: str, groups: list[_Group], titles: Mapping[str, str], filters: Filters) -> TesterLine:
    ran = [Ran(titles[group.script], _runs([group], filters.but(script=group.script))) for group in groups]
    return TesterLine(
        name=name,
        runs=_runs(groups, filters),
        ran=tuple(sorted(ran, key=lambda each: (-each.runs.count, each.title.lower()))),
    )


def _by(groups: list[_Group], name: str) -> dict[Any, list[_Group]]:
    found: dict[Any, list[_Group]] = defaultdict(list)
    for group in groups:
        found[getattr(group, name)].append(group)
    return found


def _runs(groups: list[_Group], filters: Filters) -> Runs:
    last = max((group.last for group in groups), default=None)
    return Runs(sum(group.runs for group in groups), filters.query(), last)


def _title(script: Script) -> str:
    return script.latest.title if script.latest else script.slug
