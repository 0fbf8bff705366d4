"""What a file really is, in the child."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av

from .kinds import LONGEST_S, BadMediaError, Media
from .opening import DAMAGED, TOO_LONG, opened, packets_of, picture_track, seconds, sound_track, tracks_of
from .sniffing import MATROSKA, MP3, MP4, OGG, WAV, sniff

WEBM_PICTURES, WEBM_SOUNDS = {"vp8", "vp9", "av1"}, {"opus", "vorbis"}
MP4_PICTURES, MP4_SOUNDS = {"h264", "av1", "vp9"}, {"aac", "mp3", "opus", "flac"}
WAV_SOUNDS = {"pcm_s16le", "pcm_u8", "pcm_s24le", "pcm_f32le", "pcm_alaw", "pcm_mulaw"}
PLAYED_PIXELS = {"yuv420p", "yuvj420p"}
TYPES = {
    "webm": "webm",
    "mp4": "mp4",
    "mov": "quicktime",
    "mkv": "x-matroska",
    "wav": "wav",
    "ogg": "ogg",
    "mp3": "mpeg",
}


def look(path: Path) -> Media:
    """Of the tracks that would be played. BadMediaError where there is none."""
    kind = sniff(path)
    with opened(path) as container:
        picture, sound = picture_track(container), sound_track(container)
        if picture is None and sound is None:
            raise BadMediaError(DAMAGED)
        name = _container(kind, container, path)
        return Media(
            container=name,
            media_type=f"{'audio' if picture is None else 'video'}/{TYPES[name]}",
            width=picture.codec_context.width if picture else None,
            height=picture.codec_context.height if picture else None,
            has_video=picture is not None,
            has_sound=sound is not None,
            channels=sound.codec_context.channels if sound else 0,
            video_codec=codec(picture) if picture else "",
            sound_codec=codec(sound) if sound else "",
            duration_ms=_duration_ms(container, path),
        )


def _container(kind: str, container: Any, path: Path) -> str:
    if kind == MP4:
        brand = container.metadata.get("major_brand", "").strip()
        return "mov" if brand in {"", "qt"} else "mp4"
    if kind == MATROSKA:
        with path.open("rb") as file:
            return "webm" if b"webm" in file.read(64) else "mkv"
    return {WAV: "wav", OGG: "ogg", MP3: "mp3"}[kind]


def codec(track: Any) -> str:
    """By the name of what is encoded, not of the library that decodes it."""
    return str(track.codec_context.codec.canonical_name)


def has_played_pixels(picture: Any) -> bool:
    return codec(picture) != "h264" or picture.codec_context.pix_fmt in PLAYED_PIXELS


def _duration_ms(container: Any, path: Path) -> int:
    """As the file says, or as long as what is in it."""
    said = (container.duration or 0) / av.time_base
    lasts_s = said if said > 0 else _measured_s(path)
    if lasts_s > LONGEST_S:
        raise BadMediaError(TOO_LONG)
    return round(lasts_s * 1000)


def _measured_s(path: Path) -> float:
    first, last = float("inf"), 0.0
    with opened(path) as container:
        tracks = tracks_of(container)
        for packet in packets_of(container, *tracks):
            if packet.pts is not None:
                at = seconds(packet.pts, packet.time_base)
                first, last = min(first, at), max(last, at + seconds(packet.duration, packet.time_base))
    return max(0.0, last - first) if last else 0.0
