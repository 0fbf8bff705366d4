"""Recordings of the benchmark's calls, as a site has them that keeps each for three months: of every second call.

Nothing lies in a store: no page that is measured reads one. Each has its figures, with the events they were made from.
"""

from __future__ import annotations

import json
from datetime import timedelta
from random import Random
from typing import Any

from emma_eval.scoring.turns import Event, Kind, Who
from results.models import Origin, RecordingState, Sides
from results.recordings.kept_events import write_event

SEED = 20_262  # of their own: the results stay the rows that they were without recordings
KEPT_FOR = timedelta(days=90)
SHARE = 0.5
LASTS_MS = (180_000, 720_000)
TURN_MS = 12_000
RECORDING_FIELDS = (
    *("uuid", "tester", "call_uuid", "origin", "state", "name", "key", "media_type", "size", "digest"),
    *("duration_ms", "width", "height", "has_video", "sides", "segments", "peaks_key", "thumbnail_key"),
    *("created_at", "heard_at", "finished_at", "ready_at"),
)
FIGURES_FIELDS = (
    *("recording", "edition", "measured_at", "unmeasured_because", "events", "turn_count"),
    *("latency_median_ms", "latency_p95_ms", "silence_count", "silence_ms", "overlap_count", "yield_count"),
    *("yield_median_ms", "emma_share", "longest_monologue_ms", "heard"),
)


def recording(rng: Random, tester: int, call_uuid: str, at: str) -> tuple[Any, ...]:
    """A row in the order of RECORDING_FIELDS. Its identity is drawn; `at` is when its result was filed."""
    own, lasts = f"{rng.getrandbits(128):032x}", rng.randint(*LASTS_MS)
    is_recorded = rng.random() < 0.7
    origin, name = (Origin.RECORDED, "") if is_recorded else (Origin.UPLOADED, f"call-{own[:6]}.mp4")
    sides = Sides.TWO if is_recorded else Sides.MIXED
    segments = json.dumps([{"file_ms": 0, "call_ms": 2_000, "lasts_ms": lasts}]) if is_recorded else "[]"
    folder = f"{own[:8]}-{own[8:12]}-{own[12:16]}-{own[16:20]}-{own[20:]}"
    return (
        *(own, tester, call_uuid, origin.value, RecordingState.READY.value, name, f"{folder}/media.webm"),
        *("video/webm", lasts * 90, f"{rng.getrandbits(256):064x}", lasts, 1280, 720, 1, sides.value, segments),
        *(f"{folder}/peaks.json", f"{folder}/thumbnail.jpg", at, at, at, at),
    )


def figures(rng: Random, of: tuple[Any, ...]) -> tuple[Any, ...]:
    """What such a recording says of its call, in the order of FIGURES_FIELDS."""
    facts = dict(zip(RECORDING_FIELDS, of, strict=True))
    own, at = facts["uuid"], facts["ready_at"]
    if facts["sides"] != Sides.TWO:
        return (own, 1, at, "Both sides are in one track.", "[]", *[None] * 10, "{}")
    turns = facts["duration_ms"] // TURN_MS
    events = [_turn(rng, number * TURN_MS) for number in range(turns)]
    median = rng.randint(350, 1_400)
    return (
        *(own, 1, at, "", json.dumps(events), turns, median, median * 2, rng.randint(0, 6), rng.randint(0, 30_000)),
        *(rng.randint(0, 12), rng.randint(0, 6), rng.randint(200, 1_500), rng.uniform(0.3, 0.8)),
        *(rng.randint(5_000, 60_000), json.dumps({"sides": [_heard(turns, 0), _heard(turns, TURN_MS // 2)]})),
    )


def _heard(turns: int, from_ms: int) -> list[list[int]]:
    begins = [from_ms + number * TURN_MS for number in range(turns)]
    return [[begin, begin + TURN_MS // 3] for begin in begins]


def _turn(rng: Random, at_ms: int) -> dict[str, Any]:
    lasts_ms = rng.randint(200, 2_000)
    points = ("end of the tester's speech", "beginning of Emma's speech")
    return write_event(Event(Kind.REPLY, Who.EMMA, at_ms, at_ms + lasts_ms, *points, lasts_ms))
