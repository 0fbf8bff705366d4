"""Everything that the page of one result shows, as it was filed."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from scripts_catalog import taxonomy
from scripts_catalog.wording import ShownAnchor

from .filing.tell_history import Correction, tell_history
from .live_call.fold_moments import Folded, fold_moments
from .live_call.show_call import Step, steps_of
from .live_call.wait_for_results import WaitingRun, waiting_runs
from .models import Browser, Call, Connection, Device, Result, Run, as_clock


@dataclass(frozen=True)
class Rated:
    """One dimension: what was rated, what that means, and what the script said about 5 and 1."""

    dimension: taxonomy.Dimension
    rating: int | None
    meaning: str
    anchor: ShownAnchor


@dataclass(frozen=True)
class Tagged:
    """One problem with its group. `place`: its place in the overall order, None where that is not known."""

    label: str
    group: taxonomy.TagGroup
    place: int | None


@dataclass(frozen=True)
class Held:
    """What was kept beside the call: how long it lasted, its moments, and the steps of this script.

    Only for those who may know all of the call. For others it is as if it had no end, no moments and no steps.
    """

    call: Call
    moments: Folded
    run: Run | None

    @property
    def steps(self) -> list[Step]:
        """The steps that were ticked off; none where nobody ticked any."""
        return [step for step in steps_of(self.run) if step.at] if self.run else []

    @property
    def off_script_from(self) -> str:
        at_ms = self.run.off_script_from_ms if self.run else None
        return "" if at_ms is None else as_clock(at_ms)


@dataclass(frozen=True)
class Shown:
    """The page of one result. `others` are the results of the same call that the viewer may see.

    `waiting`: what else its tester ran on the call and has not filed.
    """

    result: Result
    version_number: int
    ratings: list[Rated]
    problems: list[Tagged]
    others: list[Result]
    history: list[Correction]
    link_host: str
    may_add: bool
    can_correct: bool
    held: Held | None
    waiting: list[WaitingRun]

    @property
    def machine(self) -> list[tuple[str, str]]:
        """What was noted of the device, labelled; nothing for what was not."""
        result = self.result
        said = [
            ("Browser", dict(Browser.choices).get(result.browser, result.browser)),
            ("Device", dict(Device.choices).get(result.device, result.device)),
            ("System", result.system),
            ("Connection", dict(Connection.choices).get(result.connection, result.connection)),
        ]
        return [(label, words) for label, words in said if words]

    @property
    def may_have_begun_earlier(self) -> bool:
        """The page beside the call could not tell when it began, and nobody has corrected the time since."""
        call = self.held.call if self.held else None
        if call is None or call.started_at is None or not call.start_is_uncertain:
            return False
        return self.result.called_at.replace(microsecond=0) == call.started_at.replace(microsecond=0)

    @property
    def version_known(self) -> bool:
        """Whether this version was there at the time of the call; one that a sheet tells of may be older than all."""
        is_older = self.result.called_at < self.result.script_version.created_at
        return not (self.result.sheet_digest and is_older)

    @property
    def order_known(self) -> bool:
        return all(problem.place for problem in self.problems)

    @property
    def biggest_known(self) -> bool:
        return any(problem.place == 1 for problem in self.problems)


def show_result(user: User, result: Result) -> Shown:
    """Gather the page; `result` must be one that `user` may see."""
    of_the_call = Result.objects.visible_to(user).filter(tester=result.tester_id, call_uuid=result.call_uuid)
    same_call = of_the_call.exclude(pk=result.pk)
    held = _held(user, result)
    may_add = result.tester_id == user.pk and user.has_role(Role.TESTER)
    return Shown(
        result=result,
        version_number=result.script_version.number_for(user),
        ratings=_ratings_of(result),
        problems=_problems_of(result),
        others=list(same_call.select_related("script_version").order_by("id")),
        history=tell_history(result.changes.select_related("by")),
        link_host=_host_of(result.recording_link),
        may_add=may_add,
        can_correct=may_add and result.reviewed_at is None,
        held=held,
        waiting=waiting_runs(user, held.call) if held and may_add else [],
    )


def _held(user: User, result: Result) -> Held | None:
    """The call, if it was held beside the live-call page and the viewer may know all of it."""
    calls = Call.objects.visible_to(user).filter(tester=result.tester_id, uuid=result.call_uuid)
    call = calls.first()
    if call is None:
        return None
    run = call.runs.filter(script=result.script).select_related("script_version").first()
    return Held(call, fold_moments(call.moments.standing()), run)


def _ratings_of(result: Result) -> list[Rated]:
    meaning = dict(taxonomy.SCALE)
    found = []
    for dimension, anchor in result.script_version.anchors_by_dimension():
        rating: int | None = getattr(result, dimension.key)
        found.append(Rated(dimension, rating, meaning.get(rating or 0, ""), anchor))
    return found


def _problems_of(result: Result) -> list[Tagged]:
    tags = result.problems.order_by("position")
    return [Tagged(tag.label, taxonomy.GROUP_OF_TAG[tag.tag], tag.rank) for tag in tags]


def _host_of(link: str) -> str:
    try:
        return urlsplit(link).hostname or ""
    except ValueError:
        return ""
