"""What is said of a media file, by the process that reads it to the one that asked."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RATE_HZ = 16_000
LONGEST_S = 24 * 3600
WIDEST_PX = 8192
MOST_STREAMS = 32

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
    sound_tracks: int
    is_played_by_browsers: bool
    has_variable_frame_rate: bool
