"""What a recording says by itself of how its call went: each figure with its n, and the events it was made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...figures import say_share
from ...models import CallFigures, Recording, as_clock
from .clocks import as_fine_clock, as_seconds, say_duration

MOST_LISTED = 200
# Each kind of event of scoring/turns.py, as it is called and explained beside the waveform, the first told first.
KINDS = {
    "reply": ("Replies", "from the end of the tester’s speech to the beginning of Emma’s"),
    "silence": ("Silences over 3 s", "nobody is heard"),
    "overlap": ("Overlaps", "both are heard, one came in on the other"),
    "monologue": ("Longest monologue", "Emma’s longest turn"),
    "early": ("Interruptions by Emma", "she began long before the tester’s end: no reply, so its timing is left out"),
    "joined": ("Replies across a cut", "something was not recorded in between, so the timing is left out"),
    "back_channel": ("Back-channels", "a short sound while the other goes on; it takes no turn"),
}


_NAMES = {"tester": "the tester", "emma": "Emma", "": ""}


@dataclass(frozen=True)
class ShownEvent:
    """Something that was measured, between two end points that are named."""

    kind: str
    label: str
    who: str
    yielded: str
    value_ms: int
    from_ms: int
    to_ms: int
    from_words: str
    to_words: str

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
        return say_duration(self.value_ms) if self.value_ms >= 0 else f"{say_duration(-self.value_ms)} early"

    @property
    def by_whom(self) -> str:
        """Who came in on whom, and who yielded, where the kind alone does not say it."""
        if self.kind == "overlap":
            ended = f"{_NAMES[self.yielded]} yielded" if self.yielded else "both ended together"
            return f"{_NAMES[self.who]} came in, {ended}"
        return _NAMES[self.who] if self.kind == "back_channel" else ""


@dataclass(frozen=True)
class Kind:
    """The events of one kind: the longest of them, in the order of the recording; `total` says how many there are."""

    key: str
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
    kinds: list[Kind]
    edition: int
    in_short: str = ""


def show_figures(figures: CallFigures, recording: Recording) -> Measured:
    """The figures of `recording` in words."""
    if not figures.is_measured:
        return Measured(figures.unmeasured_because, [], [], figures.edition)
    return Measured(
        *("", _figures_in_words(figures), _kinds_in(figures.events), figures.edition), in_short=_in_short(figures)
    )


def _figures_in_words(figures: CallFigures) -> list[Figure]:
    n = figures.turn_count or 0
    replies = f"n = {n} repl{'y' if n == 1 else 'ies'}"
    yields = _yields(figures)
    return [
        Figure("Reply latency, median", _length(figures.latency_median_ms), replies, "reply"),
        Figure("Reply latency, 95th percentile", _length(figures.latency_p95_ms), replies, "reply"),
        Figure("Silences over 3 s", _count(figures.silence_count), _in_all(figures.silence_ms), "silence"),
        Figure("Overlaps", _count(figures.overlap_count), yields, "overlap"),
        Figure("Emma’s share of talk", _share(figures.emma_share), "of all that is said", ""),
        Figure(
            "Emma’s longest monologue", _length(figures.longest_monologue_ms), "without a turn between", "monologue"
        ),
    ]


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


def _kinds_in(events: Iterable[dict[str, object]]) -> list[Kind]:
    shown = [_event_of(each) for each in events]
    return [_kind(key, [each for each in shown if each.kind == key]) for key in KINDS if _has(shown, key)]


def _has(shown: list[ShownEvent], key: str) -> bool:
    return any(each.kind == key for each in shown)


def _kind(key: str, events: list[ShownEvent]) -> Kind:
    longest = sorted(events, key=lambda each: each.from_ms - each.to_ms)[:MOST_LISTED]
    label, meaning = KINDS[key]
    return Kind(key, label, meaning, sorted(longest, key=lambda each: each.from_ms), len(events))


def _event_of(event: dict[str, object]) -> ShownEvent:
    kind = str(event["kind"])
    return ShownEvent(
        kind=kind,
        label=KINDS.get(kind, (kind, ""))[0],
        who=str(event.get("who") or ""),
        yielded=str(event.get("yielded") or ""),
        value_ms=int(str(event.get("value_ms", int(str(event["to_ms"])) - int(str(event["from_ms"]))))),
        from_ms=int(str(event["from_ms"])),
        to_ms=int(str(event["to_ms"])),
        from_words=str(event["from"]),
        to_words=str(event["to"]),
    )
