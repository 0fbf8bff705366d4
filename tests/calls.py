"""Two-sided calls of which it is known to the sample who speaks when, put together from clips of speech."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from emma_eval.scoring.turns import Segment

RATE_HZ = 16_000
CLIPS = Path(__file__).parent / "cases" / "speech"
LEVEL_DB = -26.0
CUT_DB = -15.0  # to the level of the voice: as loud as the noise of the tests; what is weaker is drowned in it
QUIET_DB = -80.0
OUTLASTS_S = 0.4  # whoever comes in on the other goes on so much longer: neither a back-channel nor a draw
KINDS_OF_NOISE = ("white", "speech-shaped", "pink")
SIGNALS = "signals"

Floats = NDArray[np.float32]


@dataclass
class Spoken:
    """A call: float32 (2, n) at 16 kHz, the tester first, and where each of them speaks."""

    samples: Floats
    tester: list[Segment] = field(default_factory=list)
    emma: list[Segment] = field(default_factory=list)

    @property
    def lasts_ms(self) -> int:
        return self.samples.shape[1] * 1000 // RATE_HZ

    def with_noise(self, kind: str, snr_db: float, seed: int = 1) -> Spoken:
        """The same with steady noise on both sides, so far below the level of the voices."""
        rng = np.random.default_rng(seed)
        noises = np.stack([noise(kind, self.samples.shape[1], rng) for _ in self.samples])
        loud = np.float32(10 ** ((LEVEL_DB - snr_db) / 20))
        return Spoken(self.samples + noises * loud, self.tester, self.emma)


def talk(voices: tuple[str, str], minutes: float, seed: int, *, cut_db: float = CUT_DB) -> Spoken:
    """A conversation of two voices: mostly gaps of around 0.6 s, some long silences, some overlaps."""
    rng = np.random.default_rng(seed)
    call = Spoken(np.zeros((2, round(minutes * 60 * RATE_HZ)), np.float32))
    ends_at, side, free_at = RATE_HZ, 0, [0, 0]
    while True:
        clips = clips_of(voices[side], cut_db)
        clip = clips[rng.integers(len(clips))]
        least_gap_s = OUTLASTS_S - len(clip) / RATE_HZ
        begins_at = max(ends_at + round(max(_gap_s(rng), min(least_gap_s, 0)) * RATE_HZ), free_at[side])
        if begins_at + len(clip) > call.samples.shape[1] - RATE_HZ:
            break
        begins_at -= begins_at % 16
        ends_at = begins_at + len(clip)
        call.samples[side, begins_at:ends_at] += clip
        (call.tester, call.emma)[side].append(Segment(begins_at // 16, ends_at // 16))
        free_at[side] = ends_at + RATE_HZ // 2
        side = 1 - side
    hiss = rng.standard_normal(call.samples.shape, np.float32) * np.float32(10 ** (QUIET_DB / 20))
    call.samples += hiss
    return call


def _gap_s(rng: np.random.Generator) -> float:
    kind = rng.random()
    if kind < 0.2:
        return -float(rng.uniform(0.25, 0.6))
    if kind < 0.35:
        return float(rng.uniform(2.2, 5.0))
    return float(rng.lognormal(np.log(0.6), 0.6))


@cache
def clips_of(voice: str, cut_db: float = CUT_DB) -> tuple[Floats, ...]:
    """All clips of a voice, brought to the same level and cut where the voice begins and ends. `SIGNALS`: bursts of
    noise in place of speech, which begin and end with their sound."""
    if voice == SIGNALS:
        return tuple(_signals(30))
    return tuple(_cut(_decoded(path), cut_db) for path in sorted(CLIPS.glob(f"{voice}-*.ogg")))


def _signals(count: int) -> Iterator[Floats]:
    """Bursts of 0.4 to 2.5 s of speech-shaped noise that swells and fades 4.5 times a second, as syllables do."""
    rng = np.random.default_rng(count)
    for lasts_ms in rng.integers(400, 2500, count):
        at = np.arange(lasts_ms * 16)
        swell = 1 - 0.4 * (1 + np.cos(2 * np.pi * 4.5 * at / RATE_HZ + np.pi))
        loud = noise("speech-shaped", len(at), rng) * swell
        yield (loud * (10 ** (LEVEL_DB / 20) / np.sqrt(np.mean(np.square(loud))))).astype(np.float32)


def _decoded(path: Path) -> Floats:
    with av.open(str(path)) as file:
        resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE_HZ)
        frames = [*file.decode(audio=0), None]
        parts = [part.to_ndarray()[0] for frame in frames for part in resampler.resample(frame)]
    return np.concatenate(parts)


def _cut(samples: Floats, cut_db: float) -> Floats:
    loudness = _loudness(samples)
    level = np.sqrt(np.mean(np.square(loudness[loudness > loudness.max() * 10 ** (-25 / 20)])))
    heard = np.flatnonzero(loudness > level * 10 ** (cut_db / 20))
    cut = samples[heard[0] : heard[-1] + 1]
    cut = cut[: len(cut) // 16 * 16]
    return (cut * (10 ** (LEVEL_DB / 20) / level)).astype(np.float32)


def _loudness(samples: Floats) -> NDArray[np.float64]:
    """The root mean square of the 5 ms around each sample."""
    sums, half = np.concatenate([[0.0], np.cumsum(np.square(samples, dtype=np.float64))]), RATE_HZ // 400
    at = np.arange(len(samples))
    begins, ends = np.maximum(at - half, 0), np.minimum(at + half, len(samples))
    return np.sqrt(np.maximum(sums[ends] - sums[begins], 0) / (ends - begins))


def noise(kind: str, count: int, rng: np.random.Generator) -> Floats:
    """Steady noise of level 1: white, pink, or falling by 9 dB an octave above 500 Hz as the mean of speech does."""
    white = rng.standard_normal(count, np.float32)
    if kind == "white":
        return white
    spectrum, hz = np.fft.rfft(white), np.fft.rfftfreq(count, 1 / RATE_HZ)
    if kind == "pink":
        shape = np.where(hz < 20, 0, 1 / np.sqrt(np.maximum(hz, 20)))
    else:
        shape = np.where(hz < 100, (hz / 100) ** 2, np.minimum(1.0, (500 / np.maximum(hz, 1)) ** 1.5))
    shaped = np.fft.irfft(spectrum * shape, count)
    return (shaped / np.sqrt(np.mean(np.square(shaped)))).astype(np.float32)


def with_copy(call: Spoken, *, gain_db: float, delay_ms: int = 40, seed: int = 1) -> Spoken:
    """The same with Emma heard in the tester's microphone: a loudspeaker in a room."""
    rng = np.random.default_rng(seed)
    late = delay_ms * RATE_HZ // 1000
    echo = np.zeros(late + 3_000)
    echo[late] = 1
    echo[late:] += rng.standard_normal(3_000) * np.exp(-np.arange(3_000) / 800) * 0.1
    size = 2 ** int(np.ceil(np.log2(call.samples.shape[1] + len(echo))))
    copy = np.fft.irfft(np.fft.rfft(call.samples[1], size) * np.fft.rfft(echo, size), size)
    samples = call.samples.copy()
    samples[0] += (copy[: samples.shape[1]] * 10 ** (gain_db / 20)).astype(np.float32)
    return Spoken(samples, call.tester, call.emma)
