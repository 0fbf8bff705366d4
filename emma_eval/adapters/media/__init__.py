"""Media files of people: what they are, made playable, heard and looked at, by FFmpeg in a process of its own.

Nothing that a stranger sent is opened in the process that asks: a child does it, within limits of memory and time,
with no environment and no secret, and with the few kinds of file that are taken here. It may die of what it reads.
"""

from .asking import draw_thumbnail, join_takes, look_into, no_beat, sound_of, take_in
from .kinds import RATE_HZ, BadMediaError, InterruptedWorkError, Joined, Media, Run, Segment, Sound

__all__ = [
    "RATE_HZ",
    "BadMediaError",
    "InterruptedWorkError",
    "Joined",
    "Media",
    "Run",
    "Segment",
    "Sound",
    "draw_thumbnail",
    "join_takes",
    "look_into",
    "no_beat",
    "sound_of",
    "take_in",
]
