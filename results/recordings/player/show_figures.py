"""What a recording says by itself of how its call went: each figure with its n, and the events it was made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from emma_eval.scoring.turns import Event, Kind, Who

from ...figures import say_share
from ...models import CallFigures, as_clock
from ..kept_events import read_event
from .clocks import as_fine_clock, as_seconds, say_duration

MOST_LISTED = 600  # of a kind: all the replies of an hour
# Each kind of event as it is called and explained beside the waveform, the first told first.
KINDS = {
    Kind.REPLY: ("Replies", "from the end of the tester’s speech to the beginning of Emma’s"),
    Kind.SILENCE: ("Silences over 3 s", "nobody is heard"),
    Kind.OVERLAP: ("Overlaps", "both are heard, one came in on the other"),
    Kind.MONOLOGUE: ("Longest monologue", "Emma’s longest turn"),
    Kind.EARLY: (
        "Interruptions by Emma",
        "long before the tester’s end: no reply, so its timing is left out",
    ),
    Kind.JOINED: ("Replies across a cut", "something was not recorded in between, so the timing is left out"),
    Kind.BACK_CHANNEL: ("Back-channels", "a short sound while the other goes on; it takes no turn"),
}
_NAMES = {Who.TESTER: "the tester", Who.EMMA: "Emma"}


@dataclass(frozen=True)
class ShownEvent:
    """Something that was measured, between two end points that are named."""

    event: Event

    @property
    def kind(self) -> Kind:
        return self.event.kind

    @property
    def label(self) -> str:
        return KINDS[self.kind][0]

    @property
    def from_ms(self) -> int:
        return self.event.from_ms

    @property
    def to_ms(self) -> int:
        return self.event.to_ms

    @property
    def at(self) -> str:
        return as_clock(self.from_ms)

    @property
    def fine(self) -> str:
        return as_fine_clock(self.from_ms)

    @property
    def seconds(self) -> str:
        return as_seconds(self.from_ms)

    @property
    def lasts(self) -> str:
        """What was measured; a reply that began before the other had ended is so much early."""
        value_ms = self.event.value_ms
        return say_duration(value_ms) if value_ms >= 0 else f"{say_duration(-value_ms)} early"

    @property
    def by_whom(self) -> str:
        """Who came in on whom, and who yielded, where the kind alone does not say it."""
        if self.kind == Kind.OVERLAP:
            yielded = self.event.yielded
            ended = f"{_NAMES[yielded]} yielded" if yielded else "both ended together"
            return f"{_NAMES[self.event.who]} came in, {ended}"
        return _NAMES[self.event.who] if self.kind == Kind.BACK_CHANNEL else ""


@dataclass(frozen=True)
class EventsOfAKind:
    """The events of one kind: the longest of them, in the order of the recording; `total` says how many there are."""

    key: Kind
    label: str
    meaning: str
    events: list[ShownEvent]
    total: int


@dataclass(frozen=True)
class Figure:
    """One figure in words, beside it from how much it was made; `kind` names the events that it leads to."""

    label: str
    words: str
    beside: str
    kind: str


@dataclass(frozen=True)
class Measured:
    """All figures of a recording, or why there are none."""

    unmeasured_because: str
    figures: list[Figure]
    kinds: list[EventsOfAKind]
    edition: int
    in_short: str = ""


def show_figures(figures: CallFigures) -> Measured:
    """The figures of a recording in words."""
    if not figures.is_measured:
        return Measured(figures.unmeasured_because, [], [], figures.edition)
    kinds = _kinds_in(map(read_event, figures.events))
    found = _figures_in_words(figures, {each.key for each in kinds})
    return Measured("", found, kinds, figures.edition, in_short=_in_short(figures))


def _figures_in_words(figures: CallFigures, listed: set[Kind]) -> list[Figure]:
    """Each figure leads to its events, where there are any."""
    n = figures.turn_count or 0
    replies = f"n = {n} repl{'y' if n == 1 else 'ies'}"
    yields = _yields(figures)
    found = [
        Figure("Reply latency, median", _length(figures.latency_median_ms), replies, "reply"),
        Figure("Reply latency, 95th percentile", _length(figures.latency_p95_ms), replies, "reply"),
        Figure("Silences over 3 s", _count(figures.silence_count), _in_all(figures.silence_ms), "silence"),
        Figure("Overlaps", _count(figures.overlap_count), yields, "overlap"),
        Figure("Emma’s share of talk", _share(figures.emma_share), "of all that is said", ""),
        Figure(
            "Emma’s longest monologue", _length(figures.longest_monologue_ms), "without a turn between", "monologue"
        ),
    ]
    return [each if each.kind in listed else replace(each, kind="") for each in found]


def _in_short(figures: CallFigures) -> str:
    latency = f"reply latency {_length(figures.latency_median_ms)} (median, n = {figures.turn_count or 0})"
    silences, overlaps = figures.silence_count or 0, figures.overlap_count or 0
    return (
        f"{latency}, {silences} silence{'' if silences == 1 else 's'}, {overlaps} overlap{'' if overlaps == 1 else 's'}"
    )


def _length(lasts_ms: int | None) -> str:
    return "n too small" if lasts_ms is None else say_duration(lasts_ms)


def _count(count: int | None) -> str:
    return "unmeasured" if count is None else str(count)


def _share(share: float | None) -> str:
    return "unmeasured" if share is None else say_share(share)


def _in_all(lasts_ms: int | None) -> str:
    return f"{say_duration(lasts_ms)} in all" if lasts_ms else ""


def _yields(figures: CallFigures) -> str:
    if not figures.overlap_count:
        return ""
    after = "" if figures.yield_median_ms is None else f", after {say_duration(figures.yield_median_ms)} (median)"
    return f"Emma yielded in {figures.yield_count or 0}{after}"


def _kinds_in(events: Iterable[Event]) -> list[EventsOfAKind]:
    of_kind: dict[Kind, list[Event]] = {kind: [] for kind in KINDS}
    for event in events:
        of_kind[event.kind].append(event)
    return [_shown(kind, found) for kind, found in of_kind.items() if found]


def _shown(kind: Kind, events: list[Event]) -> EventsOfAKind:
    longest = sorted(events, key=lambda each: each.from_ms - each.to_ms)[:MOST_LISTED]
    in_order = sorted(longest, key=lambda each: each.from_ms)
    return EventsOfAKind(kind, *KINDS[kind], [ShownEvent(each) for each in in_order], len(events))
