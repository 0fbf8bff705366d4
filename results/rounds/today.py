"""What a tester should run today: of each open round what is still missing, first what few people have run.

What somebody ran already comes last for them, so that the runs of a script are spread among people. A call that is
begun and waits for its result is theirs as well.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet

from emma_eval.accounts.models import User

from ..models import Call, Result, Round, Run
from .progress import Line, Progress, progress_of


@dataclass(frozen=True)
class Suggestion:
    """One script to run. `mine`: how often this tester ran it on the build; `waiting`: and filed nothing of yet."""

    line: Line
    mine: int
    waiting: int
    call: uuid.UUID = field(default_factory=uuid.uuid4)  # so that a button that is pressed twice begins one call

    @property
    def place(self) -> tuple[bool, int, int, str]:
        """Not by me before by me; then by the fewest people; then what lacks most."""
        return self.mine + self.waiting > 0, self.line.done.people, -self.line.missing, self.line.title.lower()


@dataclass(frozen=True)
class Today:
    """An open round that still lacks runs, and what of it to run, in this order."""

    progress: Progress
    suggestions: tuple[Suggestion, ...]

    @property
    def round(self) -> Round:
        return self.progress.round


Mine = dict[tuple[str, str], int]


def to_run(user: User) -> list[Today]:
    """The open rounds that lack something this tester can run, the most pressing first; five queries at most."""
    rounds = Round.objects.visible_to(user).open().select_related("build").most_pressing_first()
    open_rounds = progress_of(user, rounds)
    if not open_rounds:
        return []
    builds = {each.round.build_id for each in open_rounds}
    mine, waiting = _mine(user, builds), _waiting(user, builds)
    found = [Today(each, _suggestions(each, mine, waiting)) for each in open_rounds]
    return [today for today in found if today.suggestions]


def _suggestions(progress: Progress, mine: Mine, waiting: Mine) -> tuple[Suggestion, ...]:
    build = progress.round.build_id
    lacking = [line for line in progress.lines if line.missing and not line.is_retired]
    found = [Suggestion(line, mine.get((build, line.slug), 0), waiting.get((build, line.slug), 0)) for line in lacking]
    return tuple(sorted(found, key=lambda suggestion: suggestion.place))


def _mine(user: User, builds: set[str]) -> Mine:
    rows = Result.objects.visible_to(user).rated().filter(tester=user, build__in=builds)
    return _counted(rows.order_by().values_list("build_id", "script_id"))


def _waiting(user: User, builds: set[str]) -> Mine:
    """Runs of this tester's calls, begun and not set aside, of which nothing is filed."""
    calls = Call.objects.visible_to(user).filter(tester=user, build__in=builds, started_at__isnull=False)
    begun = Run.objects.filter(call__in=calls, set_aside_at=None)
    filed = Result.objects.filter(tester=user, call_uuid=OuterRef("call__uuid"), script=OuterRef("script"))
    return _counted(begun.exclude(Exists(filed)).order_by().values_list("call__build_id", "script_id"))


def _counted(rows: QuerySet[Any, Any]) -> Mine:
    return {(build, script): count for build, script, count in rows.annotate(Count("id"))}
