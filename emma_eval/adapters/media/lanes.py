"""How one track gets into the file that is made: its packets copied as they are, or, where it must be, encoded anew.

Times are seconds; `shift_s` is what leads from the clock of a source to that of the file.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import av

from .kinds import JUMP_S, LONGEST_S, BadMediaError
from .opening import TOO_LONG
from .turning import upright

LARGEST_PX = (1280, 720)
_PICTURE_BASE = Fraction(1, 90_000)
_SOUND_HZ = 48_000
_JUMP = round(JUMP_S * _SOUND_HZ)
_MOST_UNDATED = 32  # pictures in another order than they are shown in: no encoder has more than half of it


class Lane(Protocol):
    """One track of the file that is made."""

    def take(self, packet: Any, shift_s: float) -> None:
        """What comes next of the track of a source."""

    def end_source(self) -> None:
        """This source has no more of it."""

    def end(self) -> None:
        """Nothing more comes."""


class CopyLane:
    """Packets as they are. After a place where something is missing, pictures begin again with a whole one."""

    def __init__(self, out: Any, track: Any) -> None:
        self.out = out
        self.track = out.add_stream_from_template(track, opaque=True)  # also what only decoders have a name for
        self.is_picture = track.type == "video"
        self.waits_for_key = self.is_picture
        self.last_dts: tuple[int, Fraction] | None = None
        self.undated: list[Any] = []

    def take(self, packet: Any, shift_s: float) -> None:
        if packet.pts is None or not packet.size:
            return
        if self.waits_for_key and not packet.is_keyframe:
            return
        self.waits_for_key = False
        shift = round(shift_s / packet.time_base)
        packet.pts += shift
        if packet.pts * packet.time_base > LONGEST_S:
            raise BadMediaError(TOO_LONG)
        self.undated.append(packet)
        if packet.dts is not None:
            self._write(packet.dts + shift)
        elif not self.is_picture or len(self.undated) > _MOST_UNDATED:
            self._write(packet.pts)

    def _write(self, dts: int) -> None:
        """The packet that came last, to be decoded at `dts`, and right before it those of which that was not known:
        Matroska says when a picture is shown, and not when it is decoded, which is earlier and in another order."""
        for before, packet in enumerate(reversed(self.undated)):
            packet.dts = dts - before
        for packet in self.undated:
            self._keep_order(packet)
            packet.stream = self.track
            self.out.mux(packet)
        self.undated = []

    def _keep_order(self, packet: Any) -> None:
        """Each packet is decoded after the one before it, also where two sources meet."""
        if self.last_dts is not None:
            last, base = self.last_dts
            least = int(last * base / packet.time_base) + 1
            if packet.dts < least:
                packet.dts = least
                packet.pts = max(packet.pts, least)
        self.last_dts = packet.dts, packet.time_base

    def end_source(self) -> None:
        if self.undated:
            self._write(min(packet.pts for packet in self.undated))
        self.waits_for_key = self.is_picture

    def end(self) -> None:
        """Nothing of a copy is left by then."""


class PictureLane:
    """Pictures as H.264, within 1280 x 720: for what browsers don't play. `size_px` is theirs, standing upright."""

    def __init__(self, out: Any, size_px: tuple[int, int]) -> None:
        self.out = out
        width, height = fitting(*size_px, LARGEST_PX)
        self.track = out.add_stream("libx264", rate=30, options={"preset": "ultrafast", "crf": "26", "threads": "1"})
        self.track.width, self.track.height, self.track.pix_fmt = width, height, "yuv420p"
        self.track.codec_context.time_base = _PICTURE_BASE
        self.reformatter = av.video.reformatter.VideoReformatter()
        self.last_pts = -1
        self.decoder: tuple[Any, float] | None = None

    def take(self, packet: Any, shift_s: float) -> None:
        self.decoder = packet.stream, shift_s
        for frame in decoded(packet):
            self._encode(frame, packet.stream, shift_s)

    def _encode(self, frame: Any, stream: Any, shift_s: float) -> None:
        if frame.pts is None:
            return
        pts = round((float(frame.pts * stream.time_base) + shift_s) / _PICTURE_BASE)
        if pts <= self.last_pts or pts * _PICTURE_BASE > LONGEST_S:
            return
        whole = self.reformatter.reformat(upright(frame), self.track.width, self.track.height, "yuv420p")
        whole.pts, whole.time_base, whole.pict_type = pts, _PICTURE_BASE, 0
        self.last_pts = pts
        self.out.mux(self.track.encode(whole))

    def end_source(self) -> None:
        if self.decoder is not None:
            stream, shift_s = self.decoder
            for frame in rest_of(stream):
                self._encode(frame, stream, shift_s)
        self.decoder = None

    def end(self) -> None:
        self.out.mux(self.track.encode(None))


class SoundLane:
    """Sound as AAC in MP4 or Opus in WebM: for what browsers don't play. At most two sides; a hole is silent."""

    def __init__(self, out: Any, track: Any, *, encoder: str) -> None:
        self.out = out
        self.layout = "mono" if track.codec_context.channels == 1 else "stereo"
        self.track = out.add_stream(encoder, rate=_SOUND_HZ, layout=self.layout)
        self.track.bit_rate = 128_000
        self.sample_format = self.track.codec_context.codec.audio_formats[0].name
        self.written = 0
        self.setup: tuple[Any, ...] = ()
        self.resampler: Any = None
        self.decoder: Any = None

    def take(self, packet: Any, shift_s: float) -> None:
        self.decoder = packet.stream
        for frame in decoded(packet):
            self._add(frame, shift_s)

    def _add(self, frame: Any, shift_s: float) -> None:
        at = self.written if frame.time is None else round((frame.time + shift_s) * _SOUND_HZ)
        if at > LONGEST_S * _SOUND_HZ:
            raise BadMediaError(TOO_LONG)
        if at < self.written - _JUMP:
            return
        while at > self.written + _JUMP:
            self._encode(self._silence(min(_SOUND_HZ, at - self.written)))
        self._resample(frame)

    def _silence(self, samples: int) -> Any:
        frame = av.AudioFrame(self.sample_format, self.layout, samples)
        frame.sample_rate = _SOUND_HZ
        for plane in frame.planes:
            plane.update(bytes(plane.buffer_size))
        return frame

    def _resample(self, frame: Any) -> None:
        setup = (frame.format.name, frame.layout.name, frame.sample_rate)
        if setup != self.setup:
            self.resampler = av.AudioResampler(self.sample_format, self.layout, _SOUND_HZ)
            self.setup = setup
        frame.pts = None
        for each in self.resampler.resample(frame):
            self._encode(each)

    def _encode(self, frame: Any) -> None:
        frame.pts, frame.time_base = self.written, Fraction(1, _SOUND_HZ)
        self.written += frame.samples
        self.out.mux(self.track.encode(frame))

    def end_source(self) -> None:
        self.setup = ()

    def end(self) -> None:
        self.out.mux(self.track.encode(None))


def decoded(packet: Any) -> list[Any]:
    """The frames of a packet; a broken one has none."""
    try:
        return list(packet.decode())
    except av.FFmpegError:
        return []


def rest_of(stream: Any) -> list[Any]:
    """What a decoder still holds when its source ends."""
    try:
        return list(stream.decode(None))
    except av.FFmpegError:
        return []


def fitting(width: int, height: int, largest: tuple[int, int]) -> tuple[int, int]:
    """The same shape within bounds that may lie on their side, in even numbers."""
    long, short = largest
    bounds = (long, short) if width >= height else (short, long)
    scale = min(1.0, bounds[0] / max(1, width), bounds[1] / max(1, height))
    return max(2, int(width * scale) // 2 * 2), max(2, int(height * scale) // 2 * 2)
