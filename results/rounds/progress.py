"""How far rounds are: what they want, and what was run on their builds.

Every run on a round's build counts, whenever it took place: a round asks what is known of a build, and what was run
before the round was planned is known as well. A call that never started is no run. All of it is what the viewer may
know of, totals too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import Count, Max
from django.utils import timezone

from emma_eval.accounts.models import User
from scripts_catalog import taxonomy

from ..charts.bars import share_bar
from ..listing.filters import Filters
from ..models import Result, ResultQuerySet, Round, Wanted


@dataclass(frozen=True)
class Done:
    """Runs of one script on one build: how many, by how many people, and when the last of them was called."""

    runs: int = 0
    people: int = 0
    last: datetime | None = None


@dataclass(frozen=True)
class Line:
    """One script of a round. `query` finds the rows of its runs."""

    slug: str
    title: str
    area: str
    is_retired: bool
    wanted: int
    done: Done
    query: str

    @property
    def missing(self) -> int:
        return max(0, self.wanted - self.done.runs)

    @property
    def counted(self) -> int:
        """Of the runs, those that were wanted: more of one script makes up for none of another."""
        return min(self.wanted, self.done.runs)

    @property
    def area_name(self) -> str:
        return taxonomy.AREA_NAMES[self.area]

    @property
    def bar(self) -> str:
        return share_bar(self.counted, self.wanted)


@dataclass(frozen=True)
class Progress:
    """A round as one person may know it: the scripts in the order of the areas, then by title."""

    round: Round
    lines: tuple[Line, ...]
    today: date

    @property
    def wanted(self) -> int:
        return sum(line.wanted for line in self.lines)

    @property
    def counted(self) -> int:
        return sum(line.counted for line in self.lines)

    @property
    def missing(self) -> int:
        return self.wanted - self.counted

    @property
    def complete(self) -> int:
        """How many of the scripts have all the runs that were wanted."""
        return sum(not line.missing for line in self.lines)

    @property
    def percent(self) -> int:
        return 100 * self.counted // self.wanted if self.wanted else 0

    @property
    def bar(self) -> str:
        return share_bar(self.counted, self.wanted)

    @property
    def is_overdue(self) -> bool:
        due_on = self.round.due_on
        return bool(due_on and due_on < self.today and self.missing and self.round.closed_at is None)

    @property
    def query(self) -> str:
        """The rows of every run on the build, also of scripts that were not asked for."""
        return Filters(build=self.round.build.name, started=True).query()


def progress_of(user: User, rounds: Iterable[Round]) -> list[Progress]:
    """The rounds, in the order given, in two queries. `rounds` must be visible to the user, with their builds read."""
    rounds = list(rounds)
    wanted = _wanted(user, rounds)
    builds = {round_.build_id for round_ in rounds}
    done = done_on(Result.objects.visible_to(user), builds) if wanted else {}
    today = timezone.localdate()
    return [Progress(round_, _lines(round_, wanted[round_.pk], done), today) for round_ in rounds]


def done_on(rows: ResultQuerySet, builds: Collection[str]) -> dict[tuple[str, str], Done]:
    """By build and script, both by their sort keys, what was run."""
    counted = (
        rows.rated()
        .filter(build__in=builds)
        .order_by()
        .values_list("build_id", "script_id")
        .annotate(Count("id"), Count("tester", distinct=True), Max("called_at"))
    )
    return {(build, script): Done(*found) for build, script, *found in counted}


def _wanted(user: User, rounds: list[Round]) -> dict[int, list[Wanted]]:
    found: dict[int, list[Wanted]] = defaultdict(list)
    rows = Wanted.objects.visible_to(user).filter(round__in=rounds).select_related("script__latest")
    for wanted in rows.order_by("script__latest__title"):
        found[wanted.round_id].append(wanted)
    return found


_PLACE = {area: place for place, (area, _) in enumerate(taxonomy.AREAS)}


def _lines(round_: Round, wanted: list[Wanted], done: dict[tuple[str, str], Done]) -> tuple[Line, ...]:
    lines = [_line(round_, each, done.get((round_.build_id, each.script_id), Done())) for each in wanted]
    return tuple(sorted(lines, key=lambda line: (_PLACE[line.area], line.title.lower())))


def _line(round_: Round, wanted: Wanted, done: Done) -> Line:
    script = wanted.script
    return Line(
        slug=script.slug,
        title=script.latest.title if script.latest else script.slug,
        area=script.area,
        is_retired=script.retired_at is not None,
        wanted=wanted.runs,
        done=done,
        query=Filters(script=script.slug, build=round_.build.name, started=True).query(),
    )
