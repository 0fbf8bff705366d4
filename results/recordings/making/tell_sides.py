"""Tell who is heard where: by what was said of a recording when it was made or sent, and by what its sound shows."""

from __future__ import annotations

from ...models import Recording, Sides
from .derive import Heard

NO_SOUND = "There is no sound in it."
NOTHING_HEARD = "There is sound in it, and nothing is heard."
ONE_CHANNEL = "Its sound is one channel: whoever is heard is heard there."
SAME = "Both channels hold the same sound."
ONE_SILENT = "Nothing is heard on its {side} channel."
MANY = "Its sound has {count} channels, and it can't be told whose they are."
NOT_SAID = "Its two channels differ, and nobody said who is on which."
SAID = "As its sender said."
_SAID = {Sides.TWO, Sides.TWO_SWAPPED, Sides.ONE}


def tell_sides(recording: Recording, channels: int, heard: Heard | None) -> tuple[str, str]:
    """The sides, and how that is known. What was said holds, unless the sound shows that it can't be."""
    if heard is None:
        return Sides.NONE, NO_SOUND
    if all(heard.is_silent):
        return Sides.NONE, NOTHING_HEARD
    if channels == 2:
        return _tell_two(recording, heard)
    if channels > 2:
        return Sides.UNKNOWN, MANY.format(count=channels)
    return (Sides.ONE, recording.sides_because) if recording.sides == Sides.ONE else (Sides.MIXED, ONE_CHANNEL)


def _tell_two(recording: Recording, heard: Heard) -> tuple[str, str]:
    if heard.is_same:
        return Sides.MIXED, SAME
    if any(heard.is_silent):
        return Sides.ONE, ONE_SILENT.format(side="left" if heard.is_silent[0] else "right")
    if recording.sides in _SAID:
        return recording.sides, recording.sides_because or SAID
    return Sides.UNKNOWN, NOT_SAID
