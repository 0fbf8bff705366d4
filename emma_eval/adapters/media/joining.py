"""Join the takes of a recording into one file, end to end, in the child.

A run is a part of a take in which nothing is missing. The times within a take are those of its recorder, so after a
hole they tell how long it was. Runs are put end to end; what was not recorded is told by the segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .kinds import BadMediaError, Joined, Run, Segment
from .looking import codec
from .opening import DAMAGED, opened, packets_of, picture_track, seconds, sound_track
from .writing import LONGEST_ENCODED_S, Plan, Source, Stretch, container_for, plan_for, write

HOLE_S = 1.0  # less is jitter
_HEADS_MATTER = {"h264", "hevc", "aac"}


@dataclass(frozen=True)
class _Seen:
    """A run as it was found: the stretches in which something was recorded, and what its tracks are."""

    run: Run
    stretches: list[tuple[float, float]]
    picture: tuple[Any, ...]
    sound: tuple[Any, ...]

    @property
    def lasts_s(self) -> float:
        return sum(to_s - from_s for from_s, to_s in self.stretches)


def join(runs: Sequence[Run], out_folder: Path) -> Joined:
    """Join what can be read. BadMediaError where nothing can."""
    seen = [each for run in runs if (each := _see(run)) is not None]
    if not seen:
        raise BadMediaError(DAMAGED)
    plan, odd = _plan(seen)
    sources, segments = _lay_out(seen, odd)
    out = out_folder / f"media.{plan.container}"
    write(sources, out, plan)
    return Joined(out, segments, len(runs) - len(seen))


def _see(run: Run) -> _Seen | None:
    """None for a run in which nothing can be read."""
    try:
        with opened(run.path) as container:
            picture, sound = picture_track(container), sound_track(container)
            tracks = [each for each in (picture, sound) if each is not None]
            stretches = _stretches(container, tracks, has_sound=sound is not None) if tracks else []
            return _Seen(run, stretches, _signature(picture), _signature(sound)) if stretches else None
    except BadMediaError:
        return None


def _signature(track: Any | None) -> tuple[Any, ...]:
    """Equal where packets of both may stand in one track."""
    if track is None:
        return ()
    name, context = codec(track), track.codec_context
    head = bytes(context.extradata or b"") if name in _HEADS_MATTER else b""
    return (name, head) if track.type == "video" else (name, head, context.sample_rate, context.channels)


def _stretches(container: Any, tracks: list[Any], *, has_sound: bool) -> list[tuple[float, float]]:
    """From when to when something was recorded. Sound is never interrupted while a recorder runs; pictures may be."""
    found: list[tuple[float, float]] = []
    for packet in packets_of(container, *tracks):
        if packet.pts is None or not packet.size:
            continue
        at_s = seconds(packet.pts, packet.time_base)
        ends_s = at_s + seconds(packet.duration, packet.time_base)
        if not found or (has_sound and at_s > found[-1][1] + HOLE_S):
            found.append((at_s, ends_s))
        else:
            found[-1] = (_earlier(found, at_s), max(found[-1][1], ends_s))
    return [(from_s, to_s) for from_s, to_s in found if to_s > from_s]


def _earlier(found: list[tuple[float, float]], at_s: float) -> float:
    """Where the last stretch begins: the track that is told first need not be the one that began first."""
    is_within = len(found) == 1 or at_s > found[-2][1]
    return min(found[-1][0], at_s) if is_within else found[-1][0]


def _plan(seen: list[_Seen]) -> tuple[Plan, set[int]]:
    """Copy what all takes have in common. Where pictures differ they are encoded; where that would take too long,
    those of which there is less are left out. Differing sound is encoded: that is quick."""
    pictures = _by_length([(each.picture, each.lasts_s) for each in seen if each.picture])
    sounds = _by_length([(each.sound, each.lasts_s) for each in seen if each.sound])
    lasts_s = sum(each.lasts_s for each in seen)
    odd = {number for number, each in enumerate(seen) if each.picture and each.picture != pictures[0]}
    if len(pictures) > 1 and lasts_s <= LONGEST_ENCODED_S:
        return Plan("mp4", encodes_picture=True, encodes_sound=len(sounds) > 1), set()
    most = next(each for each in seen if each.picture == (pictures or [()])[0])
    with opened(most.run.path) as container:
        plan = plan_for(picture_track(container), sound_track(container), lasts_s)
    if not most.sound and sounds and not plan.encodes_picture:
        plan = replace(plan, container=container_for(pictures[0][0] if pictures else "", sounds[0][0]))
    return replace(plan, encodes_sound=plan.encodes_sound or len(sounds) > 1, leaves_out_odd_pictures=bool(odd)), odd


def _by_length(found: list[tuple[tuple[Any, ...], float]]) -> list[tuple[Any, ...]]:
    """What was found, that of which there is most first."""
    sums: dict[tuple[Any, ...], float] = {}
    for signature, lasts_s in found:
        sums[signature] = sums.get(signature, 0.0) + lasts_s
    return sorted(sums, key=lambda signature: -sums[signature])


def _lay_out(seen: list[_Seen], odd: set[int]) -> tuple[list[Source], list[Segment]]:
    """Put the stretches end to end, and say where each was on the clock of the call."""
    sources, segments, at_s = [], [], 0.0
    zeros: dict[int, float] = {}
    for number, each in enumerate(seen):
        begins_s = each.stretches[0][0]
        zero_s = zeros.setdefault(each.run.take, begins_s if each.run.is_first else 0.0)
        laid = []
        for from_s, to_s in each.stretches:
            laid.append(Stretch(from_s, to_s, at_s))
            call_ms = each.run.began_at_ms + round((from_s - zero_s) * 1000)
            segments.append(Segment(round(at_s * 1000), max(0, call_ms), round((to_s - from_s) * 1000)))
            at_s += to_s - from_s
        sources.append(Source(each.run.path, laid, number in odd))
    return sources, segments
