"""What the two sides of a recorded call say of how it went: replies, silences, overlaps, talk.

In go the stretches in which each of the two was heard, out come figures and the events that they were made from.
Times are whole milliseconds of the recording. Nothing is judged: a long silence may be what a script asks for.

The words follow the study of conversation: speakers take turns (Sacks, Schegloff and Jefferson, "A simplest
systematics for the organization of turn-taking for conversation", Language 50, 1974), and what lies between two turns
is a gap or an overlap between speakers, as opposed to pauses and overlaps within one speaker's turn (Heldner and
Edlund, "Pauses, gaps and overlaps in conversations", Journal of Phonetics 38, 2010).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from statistics import median

EDITION = 2
"""Raised with every change that can change a figure; figures of two editions are not compared."""

EARS = 2
"""Of what hears the voices (`adapters/speech.py`), kept with what it heard. Raised, with `EDITION`, with every change
there that can move an edge: figures are made from what these ears heard, and what others heard is listened to again."""

BRIDGED_MS = 300
"""Shorter breaks are part of speech. Brady ("A statistical analysis of on-off patterns in 16 conversations", Bell
System Technical Journal 47, 1968) closed 200 ms, for stop consonants; in noise each end of a break is 50 ms off."""

LEAST_SPEECH_MS = 60
"""What is shorter is a click or a breath. Brady threw away 15 ms; a voice detector needs two frames of 32 ms."""

LEAST_SILENCE_MS = 3_000
"""Silences from here on are events. Gaps in conversation are around 0.2 s, so that this is never one."""

LEAST_OVERLAP_MS = 200
"""Shorter overlaps are not told apart from none: people notice them from 120 ms on (Heldner, "Detection thresholds for
gaps, overlaps, and no-gap-no-overlaps", Journal of the Acoustical Society of America 130, 2011), and each of the two
ends is found to some tens of milliseconds."""

BACK_CHANNEL_MS = 1_000
"""At most as long as this, what begins and ends while the other one speaks ("mhm", "right") takes no turn: it is no
overlap, ends no monologue and is answered by nobody. It does count as talk. The same words said in a silence are a
turn: "yes" may be all that there is to say."""

EARLIEST_REPLY_MS = -1_000
"""Whoever begins earlier than this before the other's end has not waited for it: it is an interruption, which stands
among the overlaps, and no reply."""

GOES_ON_MS = 200
"""In an overlap one yields where the other is heard at least so much longer; otherwise both ended together."""

MONOLOGUE_PAUSE_MS = 2_000
"""Shorter pauses belong to a monologue that nobody broke into."""

FEWEST_FOR_MEDIAN = 5
FEWEST_FOR_P95 = 20
"""With fewer, the nearest rank of 95 % is the largest value itself."""


class Who(StrEnum):
    TESTER = "tester"
    EMMA = "emma"

    @property
    def other(self) -> Who:
        return Who.EMMA if self == Who.TESTER else Who.TESTER

    @property
    def possessive(self) -> str:
        return "Emma’s" if self == Who.EMMA else "the tester’s"


class Kind(StrEnum):
    """What an event is. `EARLY` and `JOINED` are replies whose timing is left out: they are counted and seen."""

    REPLY = "reply"
    SILENCE = "silence"
    OVERLAP = "overlap"
    MONOLOGUE = "monologue"
    BACK_CHANNEL = "back_channel"
    EARLY = "early"
    JOINED = "joined"


@dataclass(frozen=True, order=True)
class Segment:
    """Where somebody is heard: `from_ms` up to, not including, `to_ms`."""

    from_ms: int
    to_ms: int

    @property
    def lasts_ms(self) -> int:
        return self.to_ms - self.from_ms


@dataclass(frozen=True)
class Event:
    """Something that happened between two named points, the earlier one first.

    `who`: who replied, who was expected to speak in a silence, who came in on the other in an overlap, who held
    a monologue or gave a back-channel. `value_ms`: what was measured; a reply that began before the other had ended
    has a negative one. `yielded`: who stopped in an overlap while the other went on; empty where both stopped together.
    """

    kind: Kind
    who: Who
    from_ms: int
    to_ms: int
    from_point: str
    to_point: str
    value_ms: int
    yielded: Who | None = None


@dataclass(frozen=True)
class TurnFigures:
    """Figures of a call, with the events that they count, in order of time. All lengths are milliseconds.

    A median or p95 of too few is None: "n too small" (`FEWEST_FOR_MEDIAN`, `FEWEST_FOR_P95`), and so is a share of no
    talk. `turn_count` is the n of the latencies; `early_count` and `joined_count` are the replies left out of them.
    `measured_ms`: how much was listened to.
    """

    edition: int
    measured_ms: int
    events: tuple[Event, ...]
    turn_count: int
    latency_median_ms: int | None
    latency_p95_ms: int | None
    early_count: int
    joined_count: int
    silence_count: int
    silence_ms: int
    overlap_count: int
    yield_count: int
    yield_median_ms: int | None
    emma_share: float | None
    longest_monologue_ms: int
    tester_talk_ms: int
    emma_talk_ms: int


@dataclass(frozen=True)
class Unmeasured:
    """Why nothing is said of a call: nothing is measured, which is not the same as nothing having happened."""

    because: str


NOBODY_SPEAKS = "Nobody is heard in the recording."
ONE_IS_NOT_HEARD = "{} not heard in the recording, so that there are no turns to measure."


def figures_of(
    tester: Sequence[Segment], emma: Sequence[Segment], *, cuts_ms: Sequence[int] = (), duration_ms: int
) -> TurnFigures | Unmeasured:
    """All figures of a call in which the two are heard apart, or why there are none.

    `tester` and `emma`: where each is heard, in any order. `cuts_ms`: where stretches of the call were joined to one
    recording: nothing is measured across one. `duration_ms`: of the recording; what lies outside of it is cut off.
    ValueError for a segment or a duration that ends before it begins.
    """
    if duration_ms < 0 or any(each.lasts_ms < 0 for each in (*tester, *emma)):
        raise ValueError("An end lies before its beginning.")
    bounds = sorted({0, duration_ms, *(cut for cut in cuts_ms if 0 < cut < duration_ms)})
    parts = [_Part.of(tester, emma, Segment(*each)) for each in pairwise(bounds)]
    talk = {who: sum(each.lasts_ms for part in parts for each in part.of_side(who)) for who in Who}
    if not all(talk.values()):
        return Unmeasured(_who_is_missing(talk))
    events = sorted(
        [event for part in parts for event in part.events()] + list(_joined(parts)),
        key=lambda event: (event.from_ms, event.to_ms, event.kind),
    )
    return _summed_up(tuple(events), talk, duration_ms)


def nearest_rank(values: Sequence[int], percent: int) -> int:
    """The smallest value that at least `percent` % of the values do not exceed. ValueError of no values.

    The nearest-rank percentile: the value of rank ceil(percent / 100 * n), without interpolation.
    """
    if not values or not 0 < percent <= 100:
        raise ValueError("A percentile of nothing.")
    return sorted(values)[math.ceil(percent * len(values) / 100) - 1]


def bridged(segments: Iterable[Segment], break_ms: int) -> list[Segment]:
    """In order, with every break shorter than `break_ms` closed; segments may touch or overlap."""
    found: list[Segment] = []
    for each in sorted(segments):
        if found and each.from_ms - found[-1].to_ms < break_ms:
            found[-1] = Segment(found[-1].from_ms, max(found[-1].to_ms, each.to_ms))
        else:
            found.append(each)
    return found


@dataclass(frozen=True)
class _Spoken:
    """A stretch of speech of one of the two."""

    who: Who
    at: Segment
    is_back_channel: bool = False


@dataclass(frozen=True)
class _Part:
    """A stretch of the recording without a join. `spoken`: who is heard when, in order."""

    spoken: tuple[_Spoken, ...]

    @classmethod
    def of(cls, tester: Sequence[Segment], emma: Sequence[Segment], bounds: Segment) -> _Part:
        sides = {Who.TESTER: _within(tester, bounds), Who.EMMA: _within(emma, bounds)}
        spoken = [_Spoken(who, each, _is_back_channel(each, sides[who.other])) for who in Who for each in sides[who]]
        return cls(tuple(sorted(spoken, key=lambda each: (each.at, each.who))))

    def of_side(self, who: Who) -> list[Segment]:
        return [each.at for each in self.spoken if each.who == who]

    @property
    def turns(self) -> list[_Spoken]:
        return [each for each in self.spoken if not each.is_back_channel]

    def events(self) -> Iterator[Event]:
        yield from self._changes()
        yield from self._silences()
        yield from self._overlaps()
        yield from self._monologues()
        yield from self._back_channels()

    def _changes(self) -> Iterator[Event]:
        """Where the turn goes from the tester to Emma: by the floor transfer offset, the time from the end of one
        speaker to the beginning of the next, negative in an overlap (de Ruiter, Mitterer and Enfield, Language 82,
        2006; Stivers et al., PNAS 106, 2009). What lies wholly within the other's speech takes no turn."""
        holder: _Spoken | None = None
        for each in self.turns:
            if holder is None or each.who == holder.who:
                holder = each if holder is None or each.at.to_ms >= holder.at.to_ms else holder
                continue
            if each.at.to_ms <= holder.at.to_ms:
                continue
            if each.who == Who.EMMA:
                yield _reply(holder.at.to_ms, each.at.from_ms)
            holder = each

    def _silences(self) -> Iterator[Event]:
        """Nobody speaks, between two who do or one who goes on: whoever did not speak last was expected to."""
        last: _Spoken | None = None
        for each in self.spoken:
            if last is not None and each.at.from_ms - last.at.to_ms >= LEAST_SILENCE_MS:
                yield _silence(last, each)
            if last is None or each.at.to_ms > last.at.to_ms:
                last = each

    def _overlaps(self) -> Iterator[Event]:
        """Both speak, but for back-channels; the one who began later came in on the other."""
        tester, emma = ([each for each in self.turns if each.who == who] for who in (Who.TESTER, Who.EMMA))
        for one, other in _meeting(tester, emma):
            both = Segment(max(one.at.from_ms, other.at.from_ms), min(one.at.to_ms, other.at.to_ms))
            if both.lasts_ms >= LEAST_OVERLAP_MS:
                yield _overlap(one, other, both)

    def _monologues(self) -> Iterator[Event]:
        """Emma's speech with her pauses, as long as no turn of the tester comes in between or goes on beside."""
        held: Segment | None = None
        for each in [*self.turns, None]:
            goes_on = each is not None and each.who == Who.EMMA
            if held and goes_on and each and each.at.from_ms - held.to_ms < MONOLOGUE_PAUSE_MS:
                held = Segment(held.from_ms, each.at.to_ms)
                continue
            if held:
                yield _monologue(held)
            held = each.at if each is not None and goes_on else None

    def _back_channels(self) -> Iterator[Event]:
        for each in self.spoken:
            if each.is_back_channel:
                of = f"of {each.who.possessive} back-channel"
                points = (f"beginning {of}", f"end {of}")
                yield Event(Kind.BACK_CHANNEL, each.who, each.at.from_ms, each.at.to_ms, *points, each.at.lasts_ms)


def _within(segments: Sequence[Segment], bounds: Segment) -> list[Segment]:
    cut = (Segment(max(each.from_ms, bounds.from_ms), min(each.to_ms, bounds.to_ms)) for each in segments)
    whole = bridged((each for each in cut if each.lasts_ms > 0), BRIDGED_MS)
    return [each for each in whole if each.lasts_ms >= LEAST_SPEECH_MS]


def _is_back_channel(spoken: Segment, others: Sequence[Segment]) -> bool:
    if spoken.lasts_ms > BACK_CHANNEL_MS:
        return False
    begins = any(each.from_ms < spoken.from_ms < each.to_ms for each in others)
    return begins and any(each.from_ms < spoken.to_ms < each.to_ms for each in others)


def _meeting(tester: Sequence[_Spoken], emma: Sequence[_Spoken]) -> Iterator[tuple[_Spoken, _Spoken]]:
    """Every pair that is heard at once; both are in order and don't overlap within a side."""
    one, other = 0, 0
    while one < len(tester) and other < len(emma):
        a, b = tester[one].at, emma[other].at
        if max(a.from_ms, b.from_ms) < min(a.to_ms, b.to_ms):
            yield tester[one], emma[other]
        one, other = (one + 1, other) if a.to_ms <= b.to_ms else (one, other + 1)


def _end_of(who: Who) -> str:
    return f"end of {who.possessive} speech"


def _beginning_of(who: Who) -> str:
    return f"beginning of {who.possessive} speech"


def _reply(ended_ms: int, began_ms: int) -> Event:
    value = began_ms - ended_ms
    points = (_end_of(Who.TESTER), _beginning_of(Who.EMMA))
    kind = Kind.EARLY if value < EARLIEST_REPLY_MS else Kind.REPLY
    if value < 0:
        return Event(kind, Who.EMMA, began_ms, ended_ms, points[1], points[0], value)
    return Event(kind, Who.EMMA, ended_ms, began_ms, *points, value)


def _silence(last: _Spoken, after: _Spoken) -> Event:
    at = Segment(last.at.to_ms, after.at.from_ms)
    points = (_end_of(last.who), _beginning_of(after.who))
    return Event(Kind.SILENCE, last.who.other, at.from_ms, at.to_ms, *points, at.lasts_ms)


def _overlap(one: _Spoken, other: _Spoken, both: Segment) -> Event:
    second = other if one.at.from_ms <= other.at.from_ms else one
    stopped, went_on = (one, other) if one.at.to_ms <= other.at.to_ms else (other, one)
    yielded = stopped.who if went_on.at.to_ms - stopped.at.to_ms >= GOES_ON_MS else None
    points = (_beginning_of(second.who), _end_of(stopped.who))
    return Event(Kind.OVERLAP, second.who, both.from_ms, both.to_ms, *points, both.lasts_ms, yielded)


def _monologue(held: Segment) -> Event:
    points = (_beginning_of(Who.EMMA), _end_of(Who.EMMA))
    return Event(Kind.MONOLOGUE, Who.EMMA, held.from_ms, held.to_ms, *points, held.lasts_ms)


def _joined(parts: Sequence[_Part]) -> Iterator[Event]:
    """Replies across a join: that there was one can be told, but not after how long."""
    for before, after in pairwise(part.turns for part in parts):
        if before and after and before[-1].who == Who.TESTER and after[0].who == Who.EMMA:
            event = _reply(before[-1].at.to_ms, after[0].at.from_ms)
            yield replace(event, kind=Kind.JOINED)


def _who_is_missing(talk: dict[Who, int]) -> str:
    if not any(talk.values()):
        return NOBODY_SPEAKS
    return ONE_IS_NOT_HEARD.format("Emma is" if not talk[Who.EMMA] else "The tester is")


def _summed_up(events: tuple[Event, ...], talk: dict[Who, int], duration_ms: int) -> TurnFigures:
    of_kind = {kind: [event for event in events if event.kind == kind] for kind in Kind}
    monologues = of_kind[Kind.MONOLOGUE]
    longest = max(monologues, key=lambda event: event.value_ms, default=None)
    kept = tuple(event for event in events if event.kind != Kind.MONOLOGUE or event is longest)
    latencies = [event.value_ms for event in of_kind[Kind.REPLY]]
    yields = [event.value_ms for event in of_kind[Kind.OVERLAP] if event.yielded == Who.EMMA]
    return TurnFigures(
        edition=EDITION,
        measured_ms=duration_ms,
        events=kept,
        turn_count=len(latencies),
        latency_median_ms=_median(latencies),
        latency_p95_ms=nearest_rank(latencies, 95) if len(latencies) >= FEWEST_FOR_P95 else None,
        early_count=len(of_kind[Kind.EARLY]),
        joined_count=len(of_kind[Kind.JOINED]),
        silence_count=len(of_kind[Kind.SILENCE]),
        silence_ms=sum(event.value_ms for event in of_kind[Kind.SILENCE]),
        overlap_count=len(of_kind[Kind.OVERLAP]),
        yield_count=len(yields),
        yield_median_ms=_median(yields),
        emma_share=talk[Who.EMMA] / sum(talk.values()),
        longest_monologue_ms=longest.value_ms if longest else 0,
        tester_talk_ms=talk[Who.TESTER],
        emma_talk_ms=talk[Who.EMMA],
    )


def _median(values: Sequence[int]) -> int | None:
    """Of an even number of values, halfway between the two in the middle, rounded."""
    return round(median(values)) if len(values) >= FEWEST_FOR_MEDIAN else None
