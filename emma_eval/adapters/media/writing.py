"""Make one playable file of sources that follow each other, in the child: copied, with an index in front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av

from .bounds import allow
from .kinds import BadMediaError
from .lanes import CopyLane, Lane, PictureLane, SoundLane, decoded
from .looking import (
    MP4_PICTURES,
    MP4_SOUNDS,
    WAV_SOUNDS,
    WEBM_PICTURES,
    WEBM_SOUNDS,
    codec,
    has_played_pixels,
)
from .opening import DAMAGED, opened, packets_of, picture_track, seconds, sound_track
from .turning import turn_of

WEBM, MP4, WAV = "webm", "mp4", "wav"
LONGEST_ENCODED_S = 3600
NOT_PLAYED = (
    "No browser plays its picture ({codec}), and it is too long to be converted here: "
    "save it as MP4 with H.264 and send that."
)
_OPTIONS = {
    WEBM: {"cues_to_front": "1", "fflags": "+bitexact"},
    MP4: {"movflags": "+faststart", "fflags": "+bitexact", "strict": "experimental"},
    WAV: {"fflags": "+bitexact"},
}
# What it may use of a processor, several times what it takes: at least, for its bytes, for each second it lasts.
_LEAST_CPU_S, _BYTES_A_CPU_S = 60, 20 * 1024**2
_CPU_OF_COPYING, _CPU_OF_ENCODING, _CPU_OF_ENCODED_SOUND = 0.02, 2.0, 0.1


@dataclass(frozen=True)
class Stretch:
    """A part of a source and where it comes to lie in the file."""

    from_s: float
    to_s: float
    at_s: float


@dataclass(frozen=True)
class Source:
    """A file to read from, and which stretches of it are taken, in order."""

    path: Path
    stretches: Sequence[Stretch]
    has_odd_picture: bool = False


@dataclass(frozen=True)
class Plan:
    """The kind of the file that is made, and which of its tracks are encoded anew."""

    container: str
    encodes_picture: bool
    encodes_sound: bool
    leaves_out_odd_pictures: bool = False


def container_for(picture: str, sound: str) -> str:
    """By the codecs that are copied: WebM for what is its own, WAV for bare samples, else MP4."""
    if not picture and sound in WAV_SOUNDS:
        return WAV
    is_webm = (not picture or picture in WEBM_PICTURES) and (not sound or sound in WEBM_SOUNDS)
    return WEBM if is_webm and (picture or sound) else MP4


def plan_for(picture: Any | None, sound: Any | None, lasts_s: float, *, is_cut: bool = False) -> Plan:
    """What is copied and what must be encoded. BadMediaError where that would take too long.

    `is_cut`: something lies before what is played. WebM knows no time before zero, and would show that again.
    """
    name = codec(picture) if picture else ""
    heard = codec(sound) if sound else ""
    copies_picture = bool(name in WEBM_PICTURES | MP4_PICTURES and picture and has_played_pixels(picture))
    if picture is not None and not copies_picture and lasts_s > LONGEST_ENCODED_S:
        raise BadMediaError(NOT_PLAYED.format(codec=name))
    container = container_for(name if copies_picture else "h264" if picture else "", heard)
    if name == "vp8" or (name in WEBM_PICTURES and heard not in WEBM_SOUNDS | MP4_SOUNDS | {""}):
        container = WEBM
    if is_cut and {name, heard} <= MP4_PICTURES | MP4_SOUNDS | {""}:
        container = MP4
    sounds = {WEBM: WEBM_SOUNDS, MP4: MP4_SOUNDS, WAV: WAV_SOUNDS}[container]
    return Plan(container, picture is not None and not copies_picture, sound is not None and heard not in sounds)


def write(sources: Sequence[Source], out: Path, plan: Plan) -> None:
    """Write the file. What can't be decoded is left out; what is cut off ends where it is cut."""
    allow(_budget_s(sources, plan))
    try:
        with av.open(str(out), "w", format=plan.container, options=_OPTIONS[plan.container]) as file:
            _copy(sources, file, plan)
    except av.FFmpegError as fault:
        raise BadMediaError("The file can't be brought into a form that browsers play.") from fault


def _budget_s(sources: Sequence[Source], plan: Plan) -> float:
    lasts_s = sum(each.to_s - each.from_s for source in sources for each in source.stretches)
    size = sum(source.path.stat().st_size for source in sources)
    share = _CPU_OF_COPYING + plan.encodes_picture * _CPU_OF_ENCODING + plan.encodes_sound * _CPU_OF_ENCODED_SOUND
    return _LEAST_CPU_S + lasts_s * share + size / _BYTES_A_CPU_S


def _copy(sources: Sequence[Source], file: Any, plan: Plan) -> None:
    """Tracks are known before the first packet is written, so those of all sources are looked at first."""
    lanes: dict[str, Lane] = {}
    for source in sources:
        with opened(source.path) as container:
            for kind, track in _tracks(container, source, plan).items():
                if kind not in lanes:
                    lanes[kind] = _lane(kind, file, track, source, plan)
    for source in sources:
        _copy_source(source, lanes, plan)
    for lane in lanes.values():
        lane.end()


def _lane(kind: str, file: Any, track: Any, source: Source, plan: Plan) -> Lane:
    if kind == "video":
        return PictureLane(file, _size_px(source.path)) if plan.encodes_picture else CopyLane(file, track)
    if plan.encodes_sound:
        return SoundLane(file, track, encoder="libopus" if plan.container == WEBM else "aac")
    return CopyLane(file, track)


def _size_px(path: Path) -> tuple[int, int]:
    """Of its pictures as people see them, by the first: only a frame says whether it was taken on its side."""
    with opened(path) as container:
        track = picture_track(container)
        for packet in packets_of(container, track):
            for frame in decoded(packet):
                turned = abs(turn_of(frame)) == 90
                return (frame.height, frame.width) if turned else (frame.width, frame.height)
    raise BadMediaError(DAMAGED)


def _tracks(container: Any, source: Source, plan: Plan) -> dict[str, Any]:
    picture, sound = picture_track(container), sound_track(container)
    if plan.leaves_out_odd_pictures and source.has_odd_picture:
        picture = None
    return {track.type: track for track in (picture, sound) if track is not None}


def _copy_source(source: Source, lanes: dict[str, Lane], plan: Plan) -> None:
    with opened(source.path) as container:
        tracks = _tracks(container, source, plan)
        if not tracks:
            return
        for packet in packets_of(container, *tracks.values()):
            stretch = _stretch_of(source, packet)
            if stretch is not None:
                lanes[packet.stream.type].take(packet, stretch.at_s - stretch.from_s)
        for kind in tracks:
            lanes[kind].end_source()


def _stretch_of(source: Source, packet: Any) -> Stretch | None:
    """The stretch that a packet belongs to: the last that began by then; what comes before the first belongs to it."""
    if packet.pts is None:
        return None
    at_s = seconds(packet.pts, packet.time_base)
    begun = [each for each in source.stretches if each.from_s <= at_s + 0.001]
    return begun[-1] if begun else source.stretches[0]
