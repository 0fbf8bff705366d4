"""Measure a call on its recording: keep where each side was heard, and make the figures from it.

What was heard is evidence and stays; the figures are made from it without the sound, again whenever the method changes
or somebody says that the sides are others. A recording that can't be measured has a row, too, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from emma_eval.outbox.enqueue import enqueue
from emma_eval.scoring.turns import EARS, EDITION, Segment, TurnFigures, Unmeasured, figures_of

from ...models import CallFigures, Recording, RecordingState, Sides
from ..hand_over import LISTEN_AGAIN
from ..kept_events import write_event

if TYPE_CHECKING:
    from emma_eval.adapters.speech import Voices

MOST_COPIED = 0.05  # of a side's speech, that may be the other side heard again: with more, nobody knows who spoke

ONE_SIDE = "One side alone is in the recording, so that it can’t be told when the other one spoke."
ONE_TRACK = "Both sides are in one track, so that it can’t be told who spoke when."
NO_SOUND = "The recording has no sound."
NOT_SAID = "Nobody said who is heard on which side of the recording."
NOT_HEARD = "The sound of the recording could not be listened to."
EMMA_IN_MICROPHONE = (
    "Emma is heard in the tester’s microphone, as loudspeakers do it, so that it can’t be told when the tester spoke. "
    "With headphones it can."
)
TESTER_IN_EMMA = "The tester is heard in Emma’s sound, so that it can’t be told when Emma spoke."
_BECAUSE = {Sides.ONE: ONE_SIDE, Sides.MIXED: ONE_TRACK, Sides.NONE: NO_SOUND, Sides.UNKNOWN: NOT_SAID}
_COLUMNS = (
    *("turn_count", "latency_median_ms", "latency_p95_ms", "silence_count", "silence_ms", "overlap_count"),
    *("yield_count", "yield_median_ms", "emma_share", "longest_monologue_ms"),
)


def keep_voices(recording: Recording, voices: Voices | None) -> CallFigures:
    """Keep what was heard on `recording`, and its figures. `voices`: None where there are no two sides to hear."""
    return _keep(recording, _evidence(voices) if voices else {})


def measure_call(recording: Recording) -> CallFigures | None:
    """Make the figures again from what was heard, as when its sides were corrected; None where nothing was yet.

    From what other ears heard no figures of this edition are made: they stay those of theirs until it is heard again.
    """
    kept = CallFigures.objects.filter(recording=recording).first()
    if kept is None:
        return None
    return _keep(recording, kept.heard, kept.edition if is_heard_by_others(kept.heard) else EDITION)


def is_heard_by_others(heard: dict[str, Any]) -> bool:
    """Whether it was heard, by other ears than today's."""
    return bool(heard) and heard["ears"] != EARS


@dataclass(frozen=True)
class Again:
    """How many recordings were measured again, and how many a worker will listen to before."""

    measured: int = 0
    to_hear: int = 0


def measure_again() -> Again:
    """Make all figures of an older edition again, or have them listened to again. May run at any time and twice."""
    older = CallFigures.objects.exclude(edition=EDITION).filter(recording__state=RecordingState.READY)
    measured = to_hear = 0
    for key in list(older.values_list("pk", flat=True)):
        with transaction.atomic():
            recording = Recording.objects.select_for_update(no_key=True, of=("self",)).get(pk=key)
            if not recording.is_playable:
                continue
            if is_heard_by_others(recording.figures.heard):
                enqueue(LISTEN_AGAIN, recording=str(key))
                to_hear += 1
            else:
                measure_call(recording)
                measured += 1
    return Again(measured, to_hear)


def _keep(recording: Recording, heard: dict[str, Any], edition: int = EDITION) -> CallFigures:
    found = _measured(recording, heard)
    values: dict[str, Any] = {"heard": heard, "edition": edition, "measured_at": timezone.now()}
    if isinstance(found, Unmeasured):
        nothing = dict.fromkeys(_COLUMNS)
        values |= {**nothing, "events": [], "unmeasured_because": found.because}
    else:
        columns = {name: getattr(found, name) for name in _COLUMNS}
        values |= {**columns, "events": [write_event(event) for event in found.events], "unmeasured_because": ""}
    return CallFigures.objects.update_or_create(recording=recording, defaults=values)[0]


def _measured(recording: Recording, heard: dict[str, Any]) -> TurnFigures | Unmeasured:
    sides = Sides(recording.sides)
    if sides in _BECAUSE:
        return Unmeasured(_BECAUSE[sides])
    if not heard:
        return Unmeasured(NOT_HEARD)
    order = (1, 0) if sides == Sides.TWO_SWAPPED else (0, 1)
    tester, emma = ([Segment(*each) for each in heard["sides"][side]] for side in order)
    of_tester, of_emma = (heard["copied"][side] for side in order)
    if max(of_tester, of_emma) > MOST_COPIED:
        return Unmeasured(EMMA_IN_MICROPHONE if of_tester >= of_emma else TESTER_IN_EMMA)
    cuts_ms = [each["file_ms"] for each in recording.segments[1:]]
    return figures_of(tester, emma, cuts_ms=cuts_ms, duration_ms=recording.duration_ms or 0)


def _evidence(voices: Voices) -> dict[str, Any]:
    return {
        "ears": voices.ears,
        "sides": [[[each.from_ms, each.to_ms] for each in side] for side in voices.sides],
        "copied": [round(share, 3) for share in voices.copied],
        "floor_db": list(voices.floor_db),
        "by_net": voices.by_net,
    }
