"""Calls of the demo team as they would have been held beside the live-call page: moments, steps, device."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import accumulate
from random import Random

from emma_eval.accounts.models import User
from scripts_catalog.models import Script

from .live_call.begin_call import add_script, begin_call
from .live_call.keep_telling import keep_telling
from .live_call.telling import Telling, ToldBeginning, ToldEnd, ToldMachine, ToldMoment, ToldStretch, ToldTick
from .models import Run

OFF_SCRIPT_FOR_MS = 80_000
MACHINES = {
    "phone": (
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile "
        "Safari/537.36",
        ToldMachine("Android", mobile=True, touch_points=5, connection_type="wifi", round_trip_ms=61),
    ),
    "iphone": (
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
        "Version/17.5 Mobile/15E148 Safari/604.1",
        ToldMachine("iPhone", touch_points=5, round_trip_ms=48),
    ),
    "tablet": (
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 "
        "Safari/605.1.15",
        ToldMachine("MacIntel", touch_points=5, round_trip_ms=35),
    ),
    "computer": (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0",
        ToldMachine("Win32", round_trip_ms=22),
    ),
    "laptop": (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 "
        "Safari/537.36 Edg/126.0.0.0",
        ToldMachine("Windows", effective_type="4g", round_trip_ms=29),
    ),
}


@dataclass(frozen=True)
class Beside:
    """What was kept beside a call: on which of the machines, how long ("6:40"), and moments ("0:42 She laughed.")."""

    machine: str
    lasted: str
    moments: list[str] = field(default_factory=list)


def hold_call(tester: User, call: uuid.UUID, script: Script, called_at: datetime, beside: Beside) -> None:
    """Hold a call from its beginning to its end, as the page would have told it."""
    user_agent, machine = MACHINES[beside.machine]
    held = begin_call(tester, call, script)
    keep_telling(held, Telling(begun=ToldBeginning(0), machine=machine), called_at, user_agent)
    run, end_ms = held.runs.get(script=script), _ms(beside.lasted)
    off_ms = max(end_ms - OFF_SCRIPT_FOR_MS, end_ms // 2)
    telling = Telling(
        moments=tuple(_moment(call, line) for line in beside.moments),
        ticks=_ticks(run, off_ms),
        off_script=(ToldStretch(run.pk, off_ms),),
        ended=ToldEnd(end_ms),
    )
    keep_telling(held, telling, called_at + timedelta(milliseconds=end_ms), user_agent)


def run_too(tester: User, call: uuid.UUID, script: Script) -> None:
    """Run another script on a call that was held, if it was."""
    held = tester.calls.filter(uuid=call).first()
    if held is not None:
        add_script(held, script)


def _ticks(run: Run, off_ms: int) -> tuple[ToldTick, ...]:
    """Every step up to the stretch without a script, some quicker than others and each time the same."""
    count, chance = len(run.script_version.steps), Random(f"{run.call.uuid} {run.script_id}")  # noqa: S311  (no secret)
    ends = list(accumulate(chance.uniform(0.4, 1.6) for _ in range(count)))
    return tuple(ToldTick(run.pk, step, round(off_ms * end / ends[-1])) for step, end in enumerate(ends, 1))


def _moment(call: uuid.UUID, line: str) -> ToldMoment:
    clock, _, words = line.partition(" ")
    return ToldMoment(uuid.uuid5(call, line), _ms(clock), words)


def _ms(clock: str) -> int:
    minutes, seconds = clock.split(":")
    return (int(minutes) * 60 + int(seconds)) * 1000
