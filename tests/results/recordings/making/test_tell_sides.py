"""Who is heard where is what was said when a recording was made or sent, unless its sound shows that it can't be."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from emma_eval.adapters.media import RATE_HZ, Sound
from results.models import Recording, Sides
from results.recordings.making.derive import Heard, listen
from results.recordings.making.tell_sides import tell_sides
from tests.media import beeps

TWO = beeps(8.0, RATE_HZ)
NOISE = np.random.default_rng(0).normal(0, 0.002, TWO.shape).astype(np.float32)


def heard(sound: NDArray[np.float32]) -> Heard | None:
    stretches = [Sound(at * 500.0, part) for at, part in enumerate(np.array_split(sound, 16, axis=1))]
    return listen(stretches, 8_000)


@pytest.mark.parametrize(
    ("said", "sound", "sides"),
    [
        (Sides.UNKNOWN, TWO, Sides.UNKNOWN),
        (Sides.TWO, TWO, Sides.TWO),
        (Sides.TWO_SWAPPED, TWO, Sides.TWO_SWAPPED),
        (Sides.ONE, TWO, Sides.ONE),
        (Sides.TWO, TWO[[0, 0]], Sides.MIXED),
        (Sides.UNKNOWN, TWO[[0, 0]], Sides.MIXED),
        (Sides.UNKNOWN, TWO[[0, 0]] + NOISE / 4, Sides.MIXED),
        (Sides.TWO, TWO + NOISE, Sides.TWO),
        (Sides.TWO, TWO * [[1], [0]], Sides.ONE),
        (Sides.TWO, TWO[:1], Sides.MIXED),
        (Sides.ONE, TWO[:1], Sides.ONE),
        (Sides.UNKNOWN, TWO * 0, Sides.NONE),
    ],
)
def test_what_was_said_holds_unless_the_sound_shows_another(
    said: Sides, sound: NDArray[np.float32], sides: Sides
) -> None:
    recording = Recording(sides=said, sides_because="" if said == Sides.UNKNOWN else "It was said.")
    told, because = tell_sides(recording, len(sound), heard(sound.astype(np.float32)))
    assert told == sides
    assert because


def test_sound_of_more_than_two_channels_is_nobodys_and_no_sound_is_none() -> None:
    assert tell_sides(Recording(), 6, heard(TWO[:1]))[0] == Sides.UNKNOWN
    assert tell_sides(Recording(), 0, None)[0] == Sides.NONE


@pytest.mark.parametrize("silent", [0, 1])
def test_the_silent_channel_is_named(silent: int) -> None:
    sound = TWO.copy()
    sound[silent] = 0
    assert ("left", "right")[silent] in tell_sides(Recording(sides=Sides.TWO), 2, heard(sound))[1]
