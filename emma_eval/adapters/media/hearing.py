"""What is heard in a file, in the child: decoded, brought to 16 kHz, and put where it belongs on the clock."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import av

from .bounds import allow
from .kinds import JUMP_S, LONGEST_S, RATE_HZ, SOUND_HEAD, BadMediaError
from .lanes import decoded
from .opening import TOO_LONG, opened, packets_of, sound_track

_SAMPLE_BYTES = 4
_AT_ONCE = RATE_HZ // 2  # samples: half a second
_LEAST_CPU_S, _CPU_A_S = 60, 0.05  # of a processor: at least, and for each second of sound, twenty times what it takes


def write_sound(path: Path, to: IO[bytes]) -> None:
    """Write what is heard as stretches of interleaved float32; nothing for a file without sound."""
    with opened(path) as container:
        track = sound_track(container)
        if track is None:
            return
        allow(_LEAST_CPU_S + _CPU_A_S * min(LONGEST_S, (container.duration or LONGEST_S * av.time_base) / av.time_base))
        sides = 2 if track.codec_context.channels == 2 else 1
        writer = _Writer(to, sides)
        for packet in packets_of(container, track):
            for frame in decoded(packet):
                writer.add(frame)
        writer.end()


class _Writer:
    """Puts frames on the clock: silence where times jump ahead, nothing where they fall back."""

    def __init__(self, to: IO[bytes], sides: int) -> None:
        self.to = to
        self.sides = sides
        self.setup: tuple[Any, ...] = ()
        self.resampler: Any = None
        self.came_s = 0.0  # how far what was handed in reaches
        self.written = 0  # samples of a side
        self.waiting = bytearray()

    def add(self, frame: Any) -> None:
        at_s = self.came_s if frame.time is None else max(0.0, frame.time)
        lasts_s = frame.samples / frame.sample_rate
        if at_s < self.came_s - JUMP_S:
            return
        if at_s + lasts_s > LONGEST_S:
            raise BadMediaError(TOO_LONG)
        if at_s > self.came_s + JUMP_S:
            self._be_silent_until(at_s)
        self._resample(frame)
        self.came_s += lasts_s

    def end(self) -> None:
        self._flush_resampler()
        self._write(all_of_it=True)

    def _resample(self, frame: Any) -> None:
        setup = (frame.format.name, frame.layout.name, frame.sample_rate)
        if setup != self.setup:
            self._flush_resampler()
            layout = "stereo" if self.sides == 2 else "mono"
            self.resampler, self.setup = av.AudioResampler(format="flt", layout=layout, rate=RATE_HZ), setup
        frame.pts = None
        self._take(self.resampler.resample(frame))

    def _take(self, frames: list[Any]) -> None:
        for each in frames:
            self.waiting += memoryview(each.planes[0])[: each.samples * self.sides * _SAMPLE_BYTES]
        self._write()

    def _flush_resampler(self) -> None:
        if self.resampler is not None:
            self._take(self.resampler.resample(None))
        self.resampler, self.setup = None, ()

    def _be_silent_until(self, at_s: float) -> None:
        self._flush_resampler()
        self._write(all_of_it=True)
        missing = round(at_s * RATE_HZ) - self.written
        while missing > 0:
            part = min(missing, RATE_HZ)
            self.waiting += bytes(part * self.sides * _SAMPLE_BYTES)
            self._write(all_of_it=True)
            missing -= part
        self.came_s = at_s

    def _write(self, *, all_of_it: bool = False) -> None:
        count = len(self.waiting) // (self.sides * _SAMPLE_BYTES)
        if count >= _AT_ONCE or (all_of_it and count):
            self.to.write(SOUND_HEAD.pack(self.written * 1000 / RATE_HZ, self.sides, count))
            self.to.write(self.waiting)
            self.waiting.clear()
            self.written += count
