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
ODD_CODEC = "Its {what} is in a form that is not taken ({codec}): save it as MP4 with H.264 and AAC and send that."
# What phones, browsers, recorders and cameras write. FFmpeg has hundreds more, of games and of long ago, that hardly
# anybody looks after: none of them is given what a stranger sent.
_OF_PICTURES = (
    "h264 hevc vp8 vp9 libvpx libvpx-vp9 av1 libdav1d mpeg4 mpeg1video mpeg2video h263 mjpeg prores dnxhd theora "
    "qtrle rawvideo ffv1"
)
_OF_SOUND = (
    "aac mp3 mp3float mp2 mp2float opus libopus vorbis flac alac ac3 eac3 amrnb amrwb libopencore_amrnb "
    "libopencore_amrwb adpcm_ms adpcm_ima_wav adpcm_ima_qt pcm_s8 pcm_u8 pcm_s16le pcm_s16be pcm_s24le pcm_s24be "
    "pcm_s32le pcm_s32be pcm_f32le pcm_f32be pcm_f64le pcm_f64be pcm_alaw pcm_mulaw"
)
DECODERS = frozenset(_OF_PICTURES.split()) | frozenset(_OF_SOUND.split())
_OPTIONS = {
    "protocol_whitelist": "file",
    "probesize": "5000000",
    "analyzeduration": "10000000",
    "max_streams": str(MOST_STREAMS),
    "codec_whitelist": ",".join(sorted(DECODERS)),
    "fflags": "+genpts",
}


@contextmanager
def opened(path: Path) -> Iterator[InputContainer]:
    """The file, opened by its content. What FFmpeg says of a broken file becomes a sentence for its sender."""
    kind = sniff(path)
    options = _OPTIONS | {"format_whitelist": "mov,matroska,webm,wav,ogg,mp3"}
    try:
        # Titles and names are dropped anyway; those of old programs are written in other alphabets than UTF-8.
        container = av.open(str(path.absolute()), format=DEMUXERS[kind], options=options, metadata_errors="replace")
    except av.FFmpegError as fault:
        raise BadMediaError(DAMAGED) from fault
    with container:
        _refuse_what_is_too_much(container)
        for track in (picture_track(container), sound_track(container)):
            if track is not None:
                track.codec_context.thread_count = 1
        yield container


def _refuse_what_is_too_much(container: InputContainer) -> None:
    if len(container.streams) >= MOST_STREAMS:  # FFmpeg looks for no more than that
        raise BadMediaError(TOO_MANY_STREAMS)
    if (container.duration or 0) / av.time_base > LONGEST_S:
        raise BadMediaError(TOO_LONG)
    for what, track in (("picture", picture_track(container)), ("sound", sound_track(container))):
        if track is not None:
            _refuse_codec(what, track.codec_context)
    for stream in container.streams.video:
        decoder = stream.codec_context
        if decoder is not None and max(decoder.width, decoder.height) > WIDEST_PX:
            raise BadMediaError(TOO_LARGE_A_PICTURE)


def _refuse_codec(what: str, decoder: Any | None) -> None:
    """One that FFmpeg has no decoder for, or none that it is given."""
    if decoder is None or decoder.codec.name not in DECODERS:
        codec = "one that is not known" if decoder is None else decoder.codec.canonical_name
        raise BadMediaError(ODD_CODEC.format(what=what, codec=codec))


def picture_track(container: InputContainer) -> Any | None:
    """The first moving picture; covers of songs are none."""
    attached = av.stream.Disposition.attached_pic
    return next((each for each in container.streams.video if not each.disposition & attached), None)


def sound_track(container: InputContainer) -> Any | None:
    return next(iter(container.streams.audio), None)


def tracks_of(container: InputContainer) -> list[Any]:
    """What would be played: its picture and its sound, as far as it has them."""
    return [each for each in (picture_track(container), sound_track(container)) if each is not None]


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
