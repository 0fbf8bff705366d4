"""Open a media file for reading, in the child: as one kind only, from this file alone, within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from av.container import InputContainer

from .kinds import LONGEST_S, MOST_STREAMS, WIDEST_PX, BadMediaError
from .sniffing import DEMUXERS, sniff

DAMAGED = "The file is damaged or not whole: nothing in it can be played."
TOO_LONG = "The recording says that it lasts more than 24 hours, which is more than we take."
TOO_LARGE_A_PICTURE = "Its picture is larger than 8K, which is more than we take."
TOO_MANY_STREAMS = "It holds more tracks than a recording has."
_OPTIONS = {
    "protocol_whitelist": "file",
    "probesize": "5000000",
    "analyzeduration": "10000000",
    "max_streams": str(MOST_STREAMS),
    "fflags": "+genpts",
}


@contextmanager
def opened(path: Path) -> Iterator[InputContainer]:
    """The file, opened by its content. What FFmpeg says of a broken file becomes a sentence for its sender."""
    kind = sniff(path)
    options = _OPTIONS | {"format_whitelist": "mov,matroska,webm,wav,ogg,mp3"}
    try:
        container = av.open(str(path.absolute()), format=DEMUXERS[kind], options=options)
    except av.FFmpegError as fault:
        raise BadMediaError(DAMAGED) from fault
    with container:
        _refuse_what_is_too_much(container)
        for stream in (*container.streams.video, *container.streams.audio):
            stream.codec_context.thread_count = 1
        yield container


def _refuse_what_is_too_much(container: InputContainer) -> None:
    if len(container.streams) >= MOST_STREAMS:  # FFmpeg looks for no more than that
        raise BadMediaError(TOO_MANY_STREAMS)
    if (container.duration or 0) / av.time_base > LONGEST_S:
        raise BadMediaError(TOO_LONG)
    for stream in container.streams.video:
        if max(stream.codec_context.width, stream.codec_context.height) > WIDEST_PX:
            raise BadMediaError(TOO_LARGE_A_PICTURE)


def picture_track(container: InputContainer) -> Any | None:
    """The first moving picture; covers of songs are none."""
    attached = av.stream.Disposition.attached_pic
    return next((each for each in container.streams.video if not each.disposition & attached), None)


def sound_track(container: InputContainer) -> Any | None:
    return next(iter(container.streams.audio), None)


def packets_of(container: InputContainer, *streams: Any) -> Iterator[Any]:
    """What the file holds, as far as it can be read: one that is cut off ends with the last whole packet."""
    demuxed = container.demux(*streams)
    while True:
        try:
            packet = next(demuxed)
        except (StopIteration, av.FFmpegError):
            return
        if not packet.is_corrupt:
            yield packet


def seconds(units: int | None, base: Fraction | None) -> float:
    return 0.0 if units is None or base is None else float(units * base)
