"""What is made once of a playable file: the waveform of its sides, and a picture. The sound is decoded once for all."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from emma_eval.adapters.media import RATE_HZ, Sound, no_beat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEW_BUCKETS = 4_000  # fill any page: the peaks of most calls stay small
FINE_MS = 150  # shows one minute of a call, too
MOST_BUCKETS = 12_000
WINDOW_MS = 10
QUIETEST_DB = -60.0  # against full scale: what is quieter is drawn as silence
SAME_DB = -30.0  # against the louder side: with less between them, two channels hold one sound
HOLD_EVERY_S = 10.0
_WINDOW = RATE_HZ * WINDOW_MS // 1000
log = logging.getLogger(__name__)


class Ear(Protocol):
    """Whoever listens beside the waveform. Stretches come in order and without a hole, as float32 (sides, samples)."""

    def hear(self, samples: NDArray[np.float32]) -> None: ...


E = TypeVar("E", bound=Ear)
W = TypeVar("W")


class Guarded(Generic[E]):
    """An ear whose faults are written down and cost what it would have said, and not the waveform beside it."""

    def __init__(self, ear: E) -> None:
        self.ear: E | None = ear

    def hear(self, samples: NDArray[np.float32]) -> None:
        if self.ear is not None:
            self._try(self.ear.hear, samples)

    def last_word(self, say: Callable[[E], W]) -> W | None:
        """What the ear says at the end; None where it failed."""
        return None if self.ear is None else self._try(say, self.ear)

    def _try(self, act: Callable[[Any], W], argument: Any) -> W | None:
        try:
            return act(argument)
        except Exception:  # whatever it stumbles over, the recording is to be played
            log.exception("a recording could not be listened to")
            self.ear = None
            return None


@dataclass(frozen=True)
class Heard:
    """The sound of a file as a whole.

    `levels` are 0 to 100 for each bucket of each side, by loudness: 0 is silence, 100 as loud as it can be.
    """

    bucket_ms: int
    levels: Sequence[Sequence[int]]
    is_silent: Sequence[bool]
    is_same: bool

    def write(self, path: Path) -> None:
        path.write_text(json.dumps({"bucket_ms": self.bucket_ms, "sides": self.levels}, separators=(",", ":")))


def listen(
    sounds: Iterable[Sound], lasts_ms: int, ears: Sequence[Ear] = (), beat: Callable[[], None] = no_beat
) -> Heard | None:
    """Hear all of it, once, together with whoever else listens; None where there is no sound at all."""
    waveform: Waveform | None = None
    held = time.monotonic()
    for sound in sounds:
        waveform = waveform or Waveform(len(sound.samples), lasts_ms)
        waveform.hear(sound.samples)
        for ear in ears:
            ear.hear(sound.samples)
        if time.monotonic() - held > HOLD_EVERY_S:
            held = time.monotonic()
            beat()
    return waveform.heard() if waveform else None


def _bucket_ms(lasts_ms: int) -> int:
    """As short as few buckets allow; of longer calls not longer than is fine, while that is not too many."""
    return max(-(-lasts_ms // MOST_BUCKETS), min(FINE_MS, -(-lasts_ms // FEW_BUCKETS)))


class Waveform:
    """The loudest ten milliseconds of each bucket, so that a short word is seen in a long call."""

    def __init__(self, sides: int, lasts_ms: int) -> None:
        import numpy as np

        self.bucket_ms = max(1, -(-_bucket_ms(lasts_ms) // WINDOW_MS)) * WINDOW_MS
        self.power = np.zeros((sides, min(MOST_BUCKETS, max(1, -(-lasts_ms // self.bucket_ms)))))
        self.left_over = np.zeros((sides, 0), np.float32)
        self.windows = 0
        self.all_power = np.zeros(sides)
        self.power_of_difference = 0.0

    def hear(self, samples: NDArray[np.float32]) -> None:
        import numpy as np

        samples = np.concatenate([self.left_over, samples], axis=1)
        count = samples.shape[1] // _WINDOW
        self.left_over = samples[:, count * _WINDOW :]
        if count:
            self._add(samples[:, : count * _WINDOW], count)

    def _add(self, samples: NDArray[np.float32], count: int) -> None:
        import numpy as np

        sides, last = self.power.shape[0], self.power.shape[1] - 1
        power = np.square(samples, dtype=np.float64).reshape(sides, count, _WINDOW).mean(axis=2)
        buckets = np.minimum((self.windows + np.arange(count)) * WINDOW_MS // self.bucket_ms, last)
        for side in range(sides):
            np.maximum.at(self.power[side], buckets, power[side])
        self.all_power += power.sum(axis=1)
        if sides == 2:
            self.power_of_difference += float(np.square(samples[0] - samples[1], dtype=np.float64).sum()) / _WINDOW
        self.windows += count

    def heard(self) -> Heard:
        import numpy as np

        floor = 10 ** (QUIETEST_DB / 10)
        decibels = 10 * np.log10(np.maximum(self.power, floor))
        levels = np.clip(np.round(100 * (1 - decibels / QUIETEST_DB)), 0, 100).astype(int)
        loudest = float(self.all_power.max())
        is_same = len(self.power) == 2 and loudest > 0 and self.power_of_difference < loudest * 10 ** (SAME_DB / 10)
        return Heard(self.bucket_ms, levels.tolist(), [bool(side.max() <= floor) for side in self.power], bool(is_same))
