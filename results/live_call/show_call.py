"""Everything that the live-call page shows, as it stands on the site."""

from __future__ import annotations

import uuid as uuids
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from emma_eval.accounts.models import User
from scripts_catalog.models import Build, Script, Site

from ..models import MOST_MOMENT_CHARACTERS, MOST_MOMENTS, Call, Moment, Result, Run, as_clock
from .begin_call import may_be_taken_off
from .wait_for_results import filed_of, waiting_runs


@dataclass(frozen=True)
class Step:
    """One step of a script; `at_ms` is when it was ticked off, None before that."""

    number: int
    words: str
    at_ms: int | None

    @property
    def at(self) -> str:
        return "" if self.at_ms is None else as_clock(self.at_ms)


@dataclass(frozen=True)
class ShownRun:
    """A script on the call, with what became of it: a result, a draft, set aside, or nothing yet."""

    run: Run
    steps: tuple[Step, ...]
    result: Result | None
    draft: str
    may_be_taken_off: bool

    @property
    def off_script_from(self) -> str:
        """When the stretch without a script began, as people read it; empty before that."""
        at_ms = self.run.off_script_from_ms
        return "" if at_ms is None else as_clock(at_ms)

    @property
    def current(self) -> Step | None:
        """The first step that is not ticked off; None once all are."""
        return next((step for step in self.steps if step.at_ms is None), None)


@dataclass(frozen=True)
class ShownCall:
    """The page of one call. `new_moment` is the UUID of the moment that the form without scripts would make.

    `moments` are those that stand; what was withdrawn can be put back, and has its place among the most there may be.
    """

    call: Call
    runs: tuple[ShownRun, ...]
    moments: tuple[Moment, ...]
    withdrawn: tuple[Moment, ...]
    elapsed_ms: int | None
    call_link: str
    builds: tuple[Build, ...]
    other_scripts: tuple[Script, ...]
    new_moment: str
    most_moments: int = MOST_MOMENTS
    recordings_kept_days: int = 0
    most_characters: int = MOST_MOMENT_CHARACTERS

    @property
    def has_begun(self) -> bool:
        return self.call.started_at is not None

    @property
    def has_ended(self) -> bool:
        return self.call.ended_at_ms is not None

    @property
    def is_running(self) -> bool:
        return self.has_begun and not self.has_ended

    @property
    def first_to_file(self) -> ShownRun | None:
        """The first script whose result is waited for; None once none is."""
        return next((each for each in self.runs if each.result is None and each.run.set_aside_at is None), None)

    @property
    def elapsed(self) -> str:
        """What the clock shows: where it stands now, or where it stopped."""
        at_ms = self.call.ended_at_ms if self.has_ended else self.elapsed_ms
        return as_clock(at_ms or 0)

    @property
    def is_full(self) -> bool:
        return len(self.moments) + len(self.withdrawn) >= MOST_MOMENTS

    @property
    def is_covered(self) -> bool:
        """Whether what is recorded of it is for the trained alone."""
        return any(each.run.is_safety or each.run.script.is_safety for each in self.runs)

    @property
    def has_results(self) -> bool:
        """Then the build is theirs: it is corrected there and not here."""
        return any(run.result for run in self.runs)


def show_call(user: User, call: Call, now: datetime) -> ShownCall:
    """Gather the page; `call` must be one of this tester's that they may see."""
    runs = list(call.runs.select_related("script", "script_version"))
    filed, drafts = filed_of(call), {each.run.pk: each.draft for each in waiting_runs(user, call)}
    others = Script.objects.visible_to(user).in_use().exclude(latest=None).exclude(pk__in=[r.script.pk for r in runs])
    moments = tuple(call.moments.all())
    return ShownCall(
        call=call,
        runs=tuple(
            ShownRun(
                run=run,
                steps=steps_of(run),
                result=filed.get(run.script_id),
                draft=drafts.get(run.pk, ""),
                may_be_taken_off=run.script_id not in filed and may_be_taken_off(run, len(runs)),
            )
            for run in runs
        ),
        moments=tuple(moment for moment in moments if not moment.is_withdrawn),
        withdrawn=tuple(moment for moment in moments if moment.is_withdrawn),
        elapsed_ms=call.elapsed_ms(now),
        call_link=Site.objects.call_link_for(call.build),
        builds=tuple(Build.objects.all()),
        other_scripts=tuple(others.select_related("latest").order_by("latest__title")),
        new_moment=str(uuids.uuid4()),
        recordings_kept_days=settings.RECORDINGS_KEPT_DAYS,
    )


def steps_of(run: Run) -> tuple[Step, ...]:
    """The steps of the version that was run, each with when it was ticked off."""
    steps = enumerate(run.script_version.steps, 1)
    return tuple(Step(number, words, run.ticks.get(str(number))) for number, words in steps)
