"""A recording of one hour as a browser's recorder would have sent it: two voices that talk almost all the time, one on
each side, and a small moving picture; WebM without duration or index."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from tests.calls import RATE_HZ, Spoken, talk

LASTS_S, PIECE_S, PICTURE_S, FRAMES_A_S = 3600, 600, 60, 10
WIDTH, HEIGHT = 320, 180
VOICES = ("rms", "heart")
SEED, NOISE_DB = 5, 15.0
MS = Fraction(1, 1000)


def write_long_call(path: Path, *, noise: str = "") -> None:
    """Ten minutes are spoken and one is drawn; the rest repeats their packets, later."""
    call = talk(VOICES, PIECE_S / 60, SEED)
    spoken = call.with_noise(noise, NOISE_DB) if noise else call
    with av.open(str(path), "w", format="webm", options={"live": "1"}) as file:
        picture, sound = _tracks(file)
        drawn, heard = list(_drawn(picture)), list(_heard(sound, spoken))
        packets = [*_again(drawn, PICTURE_S, picture), *_again(heard, PIECE_S, sound)]
        for at_s, track, content, is_keyframe in sorted(packets, key=lambda each: each[0]):
            packet = av.Packet(content)
            packet.stream, packet.time_base, packet.is_keyframe = track, MS, is_keyframe
            packet.pts = packet.dts = round(at_s * 1000)
            file.mux(packet)


def _tracks(file: Any) -> tuple[Any, Any]:
    speed = {"deadline": "realtime", "cpu-used": "8", "g": str(FRAMES_A_S * 5)}
    picture = file.add_stream("libvpx", rate=FRAMES_A_S, options=speed)
    picture.width, picture.height, picture.pix_fmt, picture.bit_rate = WIDTH, HEIGHT, "yuv420p", 150_000
    sound = file.add_stream("libopus", rate=RATE_HZ, options={"compression_level": "3"})
    sound.layout, sound.bit_rate = "stereo", 64_000
    return picture, sound


def _drawn(track: Any) -> Iterator[Any]:
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    for number in range(PICTURE_S * FRAMES_A_S):
        grey = ((rows + columns * 2 + number * 7) % 256).astype(np.uint8)
        frame = av.VideoFrame.from_ndarray(np.stack([grey] * 3, axis=-1), format="rgb24")
        frame.pts, frame.time_base = number, Fraction(1, FRAMES_A_S)
        yield from track.encode(frame)
    yield from track.encode(None)


def _heard(track: Any, spoken: Spoken) -> Iterator[Any]:
    step = RATE_HZ // 50
    for begin in range(0, spoken.samples.shape[1] - step + 1, step):
        samples = np.ascontiguousarray(spoken.samples[:, begin : begin + step].T.reshape(1, -1))
        frame = av.AudioFrame.from_ndarray(samples, format="flt", layout="stereo")
        frame.sample_rate, frame.pts, frame.time_base = RATE_HZ, begin, Fraction(1, RATE_HZ)
        yield from track.encode(frame)


def _again(packets: list[Any], lasts_s: int, track: Any) -> Iterator[tuple[float, Any, bytes, bool]]:
    for time in range(LASTS_S // lasts_s):
        for packet in packets:
            yield (
                max(0.0, float(packet.pts * packet.time_base)) + time * lasts_s,
                track,
                bytes(packet),
                packet.is_keyframe,
            )
