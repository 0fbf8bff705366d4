"""How well calls are heard: figures of what was heard beside those of what was said.

`python -m tests.heard_calls [MINUTES]` prints the table of docs/call-figures.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from emma_eval.adapters.speech import RATE_HZ, Listener, Voices
from emma_eval.scoring.turns import (
    LEAST_OVERLAP_MS,
    LEAST_SILENCE_MS,
    Event,
    Kind,
    TurnFigures,
    figures_of,
    nearest_rank,
)
from tests.calls import CUT_DB, KINDS_OF_NOISE, Spoken, talk

PAIRS = (("rms", "heart"), ("awb", "slt"), ("slt", "rms"), ("heart", "awb"))
SURE_MS = 100  # an event must be this much longer than the least length before it must be found, or may be called false
SAME_REPLY_MS = 400
LEAST = {Kind.SILENCE: LEAST_SILENCE_MS, Kind.OVERLAP: LEAST_OVERLAP_MS}


@dataclass
class Found:
    """Of many calls: errors of latencies in ms, and of events how many there were, were missed and were false."""

    errors_ms: list[int] = field(default_factory=list)
    replies: int = 0
    there: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(LEAST, 0))
    missed: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(LEAST, 0))
    false: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(LEAST, 0))

    @property
    def p95_ms(self) -> int:
        return nearest_rank([abs(error) for error in self.errors_ms], 95)

    def found(self, kind: Kind) -> float:
        return 1 - self.missed[kind] / self.there[kind]

    def add(self, call: Spoken, heard: Voices) -> None:
        said = figures_of(call.tester, call.emma, duration_ms=call.lasts_ms)
        measured = figures_of(*heard.sides, duration_ms=call.lasts_ms)
        assert isinstance(said, TurnFigures)
        assert isinstance(measured, TurnFigures)
        self._add_replies(list(_of(said, Kind.REPLY)), list(_of(measured, Kind.REPLY)))
        for kind, least_ms in LEAST.items():
            true, told = list(_of(said, kind)), list(_of(measured, kind))
            sure = [event for event in true if event.value_ms >= least_ms + SURE_MS]
            self.there[kind] += len(sure)
            self.missed[kind] += sum(not _meets(event, told) for event in sure)
            self.false[kind] += sum(event.value_ms >= least_ms + SURE_MS and not _meets(event, true) for event in told)

    def _add_replies(self, said: list[Event], measured: list[Event]) -> None:
        self.replies += len(said)
        for reply in said:
            near = [each for each in measured if abs(_began(each) - _began(reply)) < SAME_REPLY_MS]
            self.errors_ms += [min((each.value_ms - reply.value_ms for each in near), key=abs)] if near else []


def _of(figures: TurnFigures, kind: Kind) -> Iterator[Event]:
    return (event for event in figures.events if event.kind == kind)


def _began(reply: Event) -> int:
    return reply.to_ms if reply.value_ms >= 0 else reply.from_ms


def _meets(event: Event, others: Iterable[Event]) -> bool:
    return any(each.from_ms < event.to_ms and event.from_ms < each.to_ms for each in others)


def listen(call: Spoken) -> Voices:
    """As a decoder hands it on, half a second at a time."""
    listener = Listener(len(call.samples))
    for at in range(0, call.samples.shape[1], RATE_HZ // 2):
        listener.hear(call.samples[:, at : at + RATE_HZ // 2])
    return listener.voices()


def hear_calls(kind: str, minutes: float, *, snr_db: float = 15, cut_db: float = CUT_DB, first_seed: int = 0) -> Found:
    """Of one call of each pair of voices, so long in all; `kind`: of noise, empty for none."""
    found = Found()
    for seed, pair in enumerate(PAIRS, first_seed):
        call = talk(pair, minutes / len(PAIRS), seed, cut_db=cut_db)
        found.add(call, listen(call.with_noise(kind, snr_db, seed) if kind else call))
    return found


def main(minutes: float) -> None:
    for cut_db in (CUT_DB, -20, -30):
        for kind, snr_db in (("", 15), *((kind, snr) for kind in KINDS_OF_NOISE for snr in (20, 15, 10))):
            found = hear_calls(kind, minutes, snr_db=snr_db, cut_db=cut_db, first_seed=100)
            events = " ".join(
                f"{each}: {found.there[each] - found.missed[each]} of {found.there[each]}, {found.false[each]} false;"
                for each in LEAST
            )
            print(  # noqa: T201
                f"{cut_db} dB, {f'{kind} noise {snr_db} dB' if kind else 'clean'}: {len(found.errors_ms)} of "
                f"{found.replies} replies, p95 {found.p95_ms} ms; {events}"
            )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 120)
