"""What is said of a media file, by the process that reads it to the one that asked."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RATE_HZ = 16_000
LONGEST_S = 24 * 3600
WIDEST_PX = 8192
MOST_STREAMS = 32
JUMP_S = 0.04  # of times within a track; less is how containers round them

BAD_MEDIA, NO_MEMORY = 3, 4  # what the child ends with
SOUND_HEAD = struct.Struct("<dII")  # at_ms, sides, how many samples of each; they follow, interleaved float32


class BadMediaError(Exception):
    """The file can't be played or read, however often it is tried. The text is for its sender."""


class InterruptedWorkError(Exception):
    """Whoever read the file was stopped from outside; trying again may help."""


@dataclass(frozen=True)
class Sound:
    """A stretch of what is heard: samples at 16 kHz of one or two sides, left first, each from -1 to 1.

    `at_ms` is its place in the file as a player tells it. Stretches follow each other without a hole: where the
    file has none, there is silence.
    """

    at_ms: float
    samples: NDArray[np.float32]


@dataclass(frozen=True)
class Media:
    """What a file really is, by its content."""

    container: str
    media_type: str
    duration_ms: int
    width: int | None
    height: int | None
    has_video: bool
    has_sound: bool
    channels: int
    video_codec: str
    sound_codec: str


@dataclass(frozen=True)
class Run:
    """A part of a take in which no byte is missing: a file that begins with the head of its take.

    `began_at_ms` is when the take began, on the clock of the call; `is_first` says that this is its beginning.
    """

    path: Path
    take: int
    began_at_ms: int
    is_first: bool = True


@dataclass(frozen=True)
class Segment:
    """A stretch of the call and where it is found in the file."""

    file_ms: int
    call_ms: int
    lasts_ms: int


@dataclass(frozen=True)
class Joined:
    """The file that was made of runs, what of the call is in it, and how many runs could not be read."""

    path: Path
    segments: Sequence[Segment]
    unread: int
