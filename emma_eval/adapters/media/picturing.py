"""One picture to know a recording by, in the child."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av

from .lanes import decoded, fitting, rest_of
from .opening import opened, packets_of, picture_track
from .turning import upright

LARGEST_PX = (640, 640)
_TRIED_AT = (0.1, 0.3, 0.5, 0.7, 0.0)  # shares of its length
_PACKETS_TRIED = 60  # behind a place, until one gives a frame
_BLACK = 24  # of 255, on average


def draw(path: Path, out: Path, lasts_s: float) -> bool:
    """Write a JPEG of a frame that is not black, if there is one; False where there is no picture at all."""
    frame = None
    for share in _TRIED_AT:
        found = _frame_at(path, lasts_s * share)
        if found is not None and (frame is None or _is_brighter(found, frame)):
            frame = found
        if frame is not None and _brightness(frame) > _BLACK:
            break
    if frame is None:
        return False
    out.write_bytes(_as_jpeg(frame))
    return True


def _frame_at(path: Path, at_s: float) -> Any | None:
    with opened(path) as container:
        track = picture_track(container)
        if track is None or not _sought(container, at_s):
            return None
        for number, packet in enumerate(packets_of(container, track)):
            frames = decoded(packet)
            if frames:
                return _small(frames[0])
            if number > _PACKETS_TRIED:
                return None
        return next((_small(each) for each in rest_of(track)), None)


def _sought(container: Any, at_s: float) -> bool:
    try:
        if at_s > 0:
            container.seek(int(at_s * av.time_base))
    except av.FFmpegError:
        return False
    return True


def _small(frame: Any) -> Any:
    frame = upright(frame)
    width, height = fitting(frame.width, frame.height, LARGEST_PX)
    return frame.reformat(width, height, "yuvj420p", dst_color_range="JPEG")


def _brightness(frame: Any) -> float:
    some = bytes(frame.planes[0])[::31]  # lines are multiples of 32 long, so that this is another column in each
    return sum(some) / max(1, len(some))


def _is_brighter(one: Any, other: Any) -> bool:
    return _brightness(one) > _brightness(other)


def _as_jpeg(frame: Any) -> bytes:
    encoder = av.CodecContext.create("mjpeg", "w")
    encoder.width, encoder.height, encoder.pix_fmt = frame.width, frame.height, "yuvj420p"
    encoder.time_base = Fraction(1, 25)
    frame.pts = 0
    return b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode(None)])
