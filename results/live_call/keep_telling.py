"""Keep what a live-call page tells of its call. The same batch again, late, or in another order, changes nothing."""

from __future__ import annotations

import uuid
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from django.db import transaction

from scripts_catalog.models import Build

from ..models import MOST_CALL_MS, MOST_MOMENTS, MOST_ROUND_TRIPS, Call, Moment, Result, Run
from .describe_machine import describe_machine
from .telling import Telling, ToldBeginning, ToldMachine, ToldMoment

CLOCKS_MAY_DIFFER_BY_MS = 5_000
MOST_USER_AGENT_CHARACTERS = 500
MOST_ROUND_TRIP_MS = 600_000

NOT_BEGUN = "The call has not begun yet, so its clock says nothing."
BEFORE_IT_BEGAN = "This lies before the call began."
NOT_YET = "This lies in the future: the call has not lasted that long."
OVER_A_DAY = "This lies more than 24 hours after the call began, which is as long as a call may last."
TOO_MANY = f"A call keeps {MOST_MOMENTS} moments, and this one has them. Write what is left into the comment."
NO_SUCH_STEP = "There is no such step on this call."
NO_SUCH_RUN = "There is no such script on this call."
NO_SUCH_BUILD = "There is no such build."
BUILD_IS_FILED = "Results of this call are filed with its build: correct it there."


@dataclass(frozen=True)
class Refused:
    """Something that was not kept, and why. `uuid` names the moment, if it was one."""

    why: str
    uuid: uuid.UUID | None = None


@dataclass
class Kept:
    """What became of a batch: the call as it is now, the moments that are safe here, and what was refused."""

    call: Call
    moments: list[uuid.UUID] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)

    def refuse(self, why: str, moment: uuid.UUID | None = None) -> None:
        self.refused.append(Refused(why, moment))


def keep_telling(call: Call, telling: Telling, now: datetime, user_agent: str = "") -> Kept:
    """Keep a batch that was received at `now`; one page at a time has the call."""
    with transaction.atomic():
        kept = Kept(Call.objects.select_for_update(no_key=True).get(pk=call.pk))
        _begin(kept.call, telling.begun, now)
        _keep_moments(kept, telling.moments, now)
        _keep_runs(kept, telling, now)
        _keep_end(kept, telling, now)
        _keep_build(kept, telling.build)
        _describe(kept.call, telling.machine, user_agent[:MOST_USER_AGENT_CHARACTERS])
        kept.call.revision += 1
        kept.call.save()
        return kept


def _begin(call: Call, begun: ToldBeginning | None, now: datetime) -> None:
    """The earliest press that is told of wins: a telling that was long on its way makes it look later than it was.

    A page that could say so only after more than a day gives the call a day. A guess that is earlier than a press
    that is known by no more than clocks may differ leaves that press as it is.
    """
    if begun is None:
        return
    age = timedelta(milliseconds=min(max(begun.age_ms, 0), MOST_CALL_MS))
    earlier_by = call.started_at - (now - age) if call.started_at else None
    is_known = call.started_at is not None and not call.start_is_uncertain
    least_ms = CLOCKS_MAY_DIFFER_BY_MS if begun.is_uncertain and is_known else 0
    if earlier_by is None or earlier_by > timedelta(milliseconds=least_ms):
        call.started_at, call.start_is_uncertain = now - age, begun.is_uncertain


def fault_of_time(call: Call, at_ms: int, now: datetime) -> str:
    """Why nothing can have happened at this time of the call clock; empty if it can."""
    elapsed = call.elapsed_ms(now)
    if elapsed is None:
        return NOT_BEGUN
    if at_ms < 0:
        return BEFORE_IT_BEGAN
    if at_ms > MOST_CALL_MS:
        return OVER_A_DAY
    return NOT_YET if at_ms > elapsed + CLOCKS_MAY_DIFFER_BY_MS else ""


def _keep_moments(kept: Kept, told: tuple[ToldMoment, ...], now: datetime) -> None:
    if not told:
        return
    known = {moment.uuid: moment for moment in kept.call.moments.all()}
    for each in told:
        there = known.get(each.uuid)
        why = "" if there else fault_of_time(kept.call, each.at_ms, now) or (TOO_MANY if _is_full(known) else "")
        if why:
            kept.refuse(why, each.uuid)
            continue
        if there is None:
            known[each.uuid] = _add(kept.call, each, number=len(known) + 1)
        else:
            _mend(there, each)
        kept.moments.append(each.uuid)


def _is_full(known: dict[uuid.UUID, Moment]) -> bool:
    return len(known) >= MOST_MOMENTS


def _add(call: Call, told: ToldMoment, number: int) -> Moment:
    return call.moments.create(
        uuid=told.uuid,
        number=number,
        at_ms=told.at_ms,
        words=told.words or "",
        edition=told.edition or 0,
        is_withdrawn=bool(told.is_withdrawn),
    )


def _mend(moment: Moment, told: ToldMoment) -> None:
    """A later edition takes the place of an earlier one, in what it says.

    A page that does not count its changes can't empty the words. What it changes is an edition too, so that a page
    that counts sees that there is something newer.
    """
    before = (moment.words, moment.is_withdrawn)
    if told.edition is None:
        words = told.words or moment.words
    elif told.edition > moment.edition:
        words = moment.words if told.words is None else told.words
    else:
        return
    is_withdrawn = moment.is_withdrawn if told.is_withdrawn is None else told.is_withdrawn
    if told.edition is None and (words, is_withdrawn) == before:
        return
    moment.words, moment.is_withdrawn = words, is_withdrawn
    moment.edition = moment.edition + 1 if told.edition is None else told.edition
    moment.save(update_fields=["words", "edition", "is_withdrawn"])


def _keep_runs(kept: Kept, telling: Telling, now: datetime) -> None:
    if not telling.ticks and not telling.off_script:
        return
    runs = {run.pk: run for run in kept.call.runs.select_related("script_version")}
    for tick in telling.ticks:
        run = runs.get(tick.run)
        if run is None or not 1 <= tick.step <= len(run.script_version.steps):
            kept.refuse(NO_SUCH_STEP)
        elif _may_be(kept, tick.at_ms, now):
            _tick(run, str(tick.step), tick.at_ms)
    for stretch in telling.off_script:
        run = runs.get(stretch.run)
        if run is None:
            kept.refuse(NO_SUCH_RUN)
        elif _may_be(kept, stretch.at_ms, now):
            run.off_script_from_ms = stretch.at_ms
    Run.objects.bulk_update(runs.values(), ["ticks", "off_script_from_ms"])


def _may_be(kept: Kept, at_ms: int | None, now: datetime) -> bool:
    """Whether this can have happened then; if not, it is refused. What is taken back needs no time."""
    why = "" if at_ms is None else fault_of_time(kept.call, at_ms, now)
    if why:
        kept.refuse(why)
    return not why


def _tick(run: Run, step: str, at_ms: int | None) -> None:
    """Two tabs may tick one step: it was done when the first of them says."""
    if at_ms is None:
        run.ticks.pop(step, None)
    else:
        run.ticks[step] = min(at_ms, run.ticks.get(step, at_ms))


def _keep_end(kept: Kept, telling: Telling, now: datetime) -> None:
    """The first end that is told stays until it is taken back. A call that nobody ended for a day lasted a day."""
    if telling.ended is None:
        return
    at_ms = telling.ended.at_ms
    if at_ms is None:
        kept.call.ended_at_ms = None
    elif kept.call.ended_at_ms is None and _may_be(kept, min(at_ms, MOST_CALL_MS), now):
        kept.call.ended_at_ms = min(at_ms, MOST_CALL_MS)


def _keep_build(kept: Kept, key: int | None) -> None:
    build = Build.objects.filter(pk=key).first() if key is not None else None
    if key is None or (build and build.sort_key == kept.call.build_id):
        return
    is_filed = Result.objects.filter(tester=kept.call.tester_id, call_uuid=kept.call.uuid).exists()
    if build is None or is_filed:
        kept.refuse(BUILD_IS_FILED if build else NO_SUCH_BUILD)
    else:
        kept.call.build = build


def _describe(call: Call, told: ToldMachine, user_agent: str) -> None:
    """As the latest page told it. A page that says nothing of its device takes nothing back."""
    if told.round_trip_ms is not None:
        measured = min(told.round_trip_ms, MOST_ROUND_TRIP_MS)
        call.round_trips_ms = [*call.round_trips_ms, measured][-MOST_ROUND_TRIPS:]
    if told.describes or user_agent != call.user_agent:
        call.user_agent = user_agent
        for name, said in asdict(describe_machine(user_agent, told)).items():
            setattr(call, name, said)
