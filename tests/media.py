"""Media of known content, made in milliseconds: beeps at known places, and the time burnt into the picture.

On the left a beep of 100 ms begins every 4 s at 1, 5, 9 ... s, on the right at 3, 7, 11 ... s. The picture holds its
own time in sixteen squares, black or white, the greatest power of two first: in frames of a 25th of a second.
"""

from __future__ import annotations

import atexit
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

FRAMES_A_S = 25
WIDTH_PX, HEIGHT_PX, SQUARE_PX = 256, 64, 16
LEFT_BEEPS_MS, RIGHT_BEEPS_MS, BEEPS_EVERY_MS, BEEP_LASTS_MS = 1000, 3000, 4000, 100


@dataclass(frozen=True)
class Kind:
    """How a file is written: its container, the encoders of its tracks, and what they are told."""

    container: str
    sound: str | None = None
    picture: str | None = None
    rate_hz: int = 48_000
    sides: int = 2
    options: dict[str, str] = field(default_factory=dict)
    sound_options: dict[str, str] = field(default_factory=dict)
    size_px: tuple[int, int] = (WIDTH_PX, HEIGHT_PX)
    is_even: bool = True  # every third picture left out where it is not
    is_ordered: bool = True  # decoded as they are shown; where it is not, some pictures look ahead to later ones
    sound_from_s: int = 0  # nothing of the sound is written before


KINDS = {
    "webm": Kind("webm", "libopus", "libvpx"),
    "mp4": Kind("mp4", "aac", "libx264", options={"movflags": "+faststart"}),
    "mov": Kind("mov", "aac", "libx264"),
    "mkv": Kind("matroska", "libopus", "libx264"),
    "m4a": Kind("ipod", "aac", rate_hz=44_100),
    "ogg": Kind("ogg", "libopus"),
    "wav": Kind("wav", "pcm_s16le", rate_hz=44_100),
    # Quality instead of a bit rate: frames of every length. With and without the table of Xing in front.
    "vbr.mp3": Kind("mp3", "libmp3lame", rate_hz=44_100, sound_options={"qscale": "2"}),
    "bare.mp3": Kind("mp3", "libmp3lame", rate_hz=44_100, options={"write_xing": "0"}, sound_options={"qscale": "2"}),
    # As browsers record: no duration, no index.
    "live.webm": Kind("webm", "libopus", "libvpx", options={"live": "1"}),
    "live.vp9.webm": Kind("webm", "libopus", "libvpx-vp9", options={"live": "1"}),
    "live.mp4": Kind("mp4", "aac", "libx264", options={"movflags": "+frag_keyframe+empty_moov+default_base_moof"}),
    "big.webm": Kind("webm", "libopus", "libvpx", options={"live": "1"}, size_px=(512, 128)),
    "sound.webm": Kind("webm", "libopus", options={"live": "1"}),
    "big.mp4": Kind(
        "mp4",
        "aac",
        "libx264",
        options={"movflags": "+frag_keyframe+empty_moov+default_base_moof"},
        size_px=(512, 128),
    ),
    # Long packets and one side: hours of it are read in seconds.
    "slow.webm": Kind("webm", "libopus", sides=1, sound_options={"frame_duration": "120"}),
    "silent.webm": Kind("webm", None, "libvpx"),
    "one.webm": Kind("webm", "libopus", sides=1),
    "uneven.webm": Kind("webm", "libopus", "libvpx", is_even=False),
    # As screen recorders and cameras write.
    "ahead.mkv": Kind("matroska", "aac", "libx264", is_ordered=False),
    "late.mp4": Kind("mp4", "aac", "libx264", is_ordered=False, sound_from_s=2),
    "vp9.mp4": Kind("mp4", "libopus", "libvpx-vp9"),
    "pcm.mkv": Kind("matroska", "pcm_s16le", "libx264"),
    "hevc.mov": Kind("mov", "aac", "libx265"),
    "av1.webm": Kind("webm", "libopus", "libsvtav1", options={"live": "1"}),
    "prores.mov": Kind("mov", "pcm_s16le", "prores_ks"),
    "avi": Kind("avi", "libmp3lame", "mpeg4"),
}


@cache
def media(kind: str, seconds: float = 12.0) -> Path:
    """A file of this kind, made once in a session."""
    path = Path(mkdtemp(dir=folder_of_media())) / f"recording.{kind.rsplit('.', maxsplit=1)[-1]}"
    write(path, KINDS[kind], seconds)
    return path


@cache
def folder_of_media() -> Path:
    """Of this process alone, and gone with it."""
    folder = Path(mkdtemp(prefix="emma-media-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def write(path: Path, kind: Kind, seconds: float = 12.0, heard: NDArray[np.float32] | None = None) -> Path:
    """Write such a file; with `heard`, with this sound (sides, samples) in place of the beeps."""
    with _turns_left_to_others(), av.open(str(path), "w", format=kind.container, options=kind.options) as file:
        sound = _sound_track(file, kind) if kind.sound else None
        picture = _picture_track(file, kind) if kind.picture else None
        samples = beeps(seconds, kind.rate_hz) if heard is None else heard
        for second in range(int(np.ceil(seconds))):
            if picture is not None:
                _add_pictures(file, picture, kind, second, seconds)
            if sound is not None:
                _add_sound(file, sound, samples[: kind.sides], kind, second)
        for track in (picture, sound):
            if track is not None:
                file.mux(track.encode(None))
    return path


@contextmanager
def _turns_left_to_others() -> Iterator[None]:
    """SVT-AV1 takes real-time turns for whoever calls it as root, and for all that is started from there later."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        yield
    finally:
        os.sched_setscheduler(0, *before)


def beeps(seconds: float, rate_hz: int) -> NDArray[np.float32]:
    """Both sides, left first."""
    at_ms = np.arange(round(seconds * rate_hz)) * 1000 / rate_hz
    tone = np.sin(2 * np.pi * at_ms) * 0.5
    sides = [
        tone * ((at_ms >= first) & ((at_ms - first) % BEEPS_EVERY_MS < BEEP_LASTS_MS))
        for first in (LEFT_BEEPS_MS, RIGHT_BEEPS_MS)
    ]
    return np.stack(sides).astype(np.float32)


def picture_at(frame: int, width: int = WIDTH_PX, height: int = HEIGHT_PX) -> NDArray[np.uint8]:
    """The picture of a frame, in colours."""
    picture, square = np.full((height, width, 3), 96, np.uint8), width // 16
    for bit in range(16):
        picture[:square, bit * square : (bit + 1) * square] = 255 if frame >> (15 - bit) & 1 else 0
    return picture


def frame_in(picture: NDArray[Any]) -> int:
    """Which frame a picture is of, by its squares; of any size."""
    square = picture.shape[1] / 16
    row = picture[int(picture.shape[1] * SQUARE_PX / WIDTH_PX / 2)]
    bits = [row[int((bit + 0.5) * square)].mean() > 127 for bit in range(16)]
    return sum(int(on) << (15 - bit) for bit, on in enumerate(bits))


def _sound_track(file: Any, kind: Kind) -> Any:
    layout = "stereo" if kind.sides == 2 else "mono"
    told = {name: value for name, value in kind.sound_options.items() if name != "qscale"}
    track = file.add_stream(kind.sound, rate=kind.rate_hz, layout=layout, options=told)
    if quality := kind.sound_options.get("qscale"):
        track.codec_context.qscale = True
        track.codec_context.global_quality = int(quality) * 118
    return track


def _picture_track(file: Any, kind: Kind) -> Any:
    speed = {
        "libvpx": {"deadline": "realtime", "cpu-used": "8"},
        "libvpx-vp9": {"deadline": "realtime", "cpu-used": "8"},
        "libx264": {"preset": "ultrafast"},
        "libx265": {"preset": "ultrafast", "x265-params": "log-level=none"},
        "libsvtav1": {"preset": "12"},
    }
    ahead = {} if kind.is_ordered else {"bf": "3", "b_strategy": "0"}
    track = file.add_stream(kind.picture, rate=FRAMES_A_S, options=speed.get(kind.picture or "", {}) | ahead)
    track.width, track.height = kind.size_px
    track.pix_fmt = "yuv422p10le" if kind.picture == "prores_ks" else "yuv420p"
    track.gop_size = FRAMES_A_S
    return track


def _add_pictures(file: Any, track: Any, kind: Kind, second: int, seconds: float) -> None:
    for number in range(second * FRAMES_A_S, min((second + 1) * FRAMES_A_S, round(seconds * FRAMES_A_S))):
        if not kind.is_even and number % 3 == 2:
            continue
        frame = av.VideoFrame.from_ndarray(picture_at(number, *kind.size_px), format="rgb24")
        frame.pts, frame.time_base = number, Fraction(1, FRAMES_A_S)
        file.mux(track.encode(frame))


def _add_sound(file: Any, track: Any, samples: NDArray[np.float32], kind: Kind, second: int) -> None:
    rate_hz = kind.rate_hz
    part = np.ascontiguousarray(samples[:, second * rate_hz : (second + 1) * rate_hz])
    if not part.shape[1] or second < kind.sound_from_s:
        return
    frame = av.AudioFrame.from_ndarray(part, format="fltp", layout="stereo" if len(part) == 2 else "mono")
    frame.sample_rate, frame.pts, frame.time_base = rate_hz, second * rate_hz, Fraction(1, rate_hz)
    file.mux(track.encode(frame))


def write_long(path: Path, kind: str, seconds: float, every_s: int = 12, nth: int = 1) -> Path:
    """Hours in seconds: what one short file holds, packet by packet or only each nth of them, again and again."""
    with (
        av.open(str(media(kind, every_s))) as source,
        av.open(str(path), "w", format=KINDS[kind].container, options=KINDS[kind].options) as file,
    ):
        tracks = {stream.index: file.add_stream_from_template(stream) for stream in source.streams}
        packets = [
            (packet.stream.index, bytes(packet), packet.pts, packet.dts, packet.is_keyframe, packet.time_base)
            for packet in source.demux()
            if packet.size and packet.pts is not None and packet.pts * packet.time_base < every_s - 0.02
        ]
        for turn in range(int(seconds // every_s)):
            for index, data, pts, dts, is_key, base in packets[::nth]:
                packet, shift = av.Packet(data), round(turn * every_s / base)
                packet.pts, packet.dts, packet.time_base = pts + shift, (dts or pts) + shift, base
                packet.is_keyframe, packet.stream = is_key, tracks[index]
                file.mux(packet)
    return path
