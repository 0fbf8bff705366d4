"""What the worker does with a recording of one hour in which two people talk almost all the time, in quiet and with
steady noise: the waveform of both sides and the figures of the call, in one pass over the sound, as a share of the
recording's length, on one core. The re-mux, which makes a file that plays and seeks of what was sent, stands beside it.
Memory is the most that the worker held, Django included, and the most that one of its children held, together."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ..figures import Figure, at_most
from ..server import WrongAnswerError
from ..stage import Stage

PLACE, TITLE = 16, "Waveform and figures of a recording"
MOST_SHARE, MOST_MB, MB = 2, 300, 1_000_000
LASTS_S, FEWEST_TURNS = 3600, 300


@dataclass(frozen=True)
class Spent:
    """`turns`: that what was worked out is what was asked for."""

    cpu_s: float
    wall_s: float
    memory_mb: float
    turns: int = 0


def measure(stage: Stage) -> Iterator[Figure]:
    """On one database, since none is asked."""
    if stage.house.database_pid is not None:
        return
    from ..long_call import write_long_call

    for words, noise in (("in quiet", ""), ("in noise", "white")):
        with TemporaryDirectory(dir=stage.house.folder) as folder:
            sent = Path(folder) / "sent.webm"
            write_long_call(sent, noise=noise)
            took_in = Spent(**stage.house.ask("measures.derived", "take_it_in", path=str(sent), to=folder))
            played = str(Path(folder) / "media.webm")
            spent = Spent(**stage.house.ask("measures.derived", "derive", path=played))
            size_mb = sent.stat().st_size / MB
        if spent.turns < FEWEST_TURNS:
            raise WrongAnswerError(f"only {spent.turns} turns were found in an hour of talk")
        re_mux = f"re-mux of {size_mb:.0f} MB: {took_in.cpu_s:.1f} s CPU"
        aside = f"{spent.cpu_s:.0f} s CPU, {spent.wall_s:.0f} s by the clock; {re_mux}"
        yield at_most(f"waveform and figures of 1 h {words}", 100 * spent.cpu_s / LASTS_S, MOST_SHARE, "% of it", aside)
        yield at_most(f"memory for 1 h {words}", max(spent.memory_mb, took_in.memory_mb), MOST_MB, "MB")


# --- in a process of its own, as the worker is ------------------------------------------------------------


def take_it_in(path: str, to: str) -> dict[str, float]:
    from emma_eval.adapters.media import take_in

    return asdict(_spent(lambda: take_in(Path(path), Path(to)) and 0))


def derive(path: str) -> dict[str, float]:
    """As results/recordings/making/make_ready.py does it."""
    from emma_eval.adapters.media import look_into, sound_of
    from emma_eval.adapters.speech import Listener
    from emma_eval.scoring.turns import figures_of
    from results.recordings.making.derive import listen

    def act() -> int:
        media, ear = look_into(Path(path)), Listener(2)
        heard = listen(sound_of(Path(path)), media.duration_ms, [ear])
        if heard is None or len(heard.levels) != 2:
            raise ValueError("the waveform does not have both sides")
        tester, emma = ear.voices().sides
        return figures_of(tester, emma, cuts_ms=[], duration_ms=media.duration_ms).turn_count

    return asdict(_spent(act))


def _spent(act: Callable[[], int]) -> Spent:
    """What an act costs on one core, with all of its children."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    began, before = time.perf_counter(), _cpu_s()
    turns = act()
    return Spent(_cpu_s() - before, time.perf_counter() - began, _most_held_mb(), turns)


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _most_held_mb() -> float:
    status = Path("/proc/self/status").read_text()
    ours = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))
    return (ours + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) * 1024 / MB
