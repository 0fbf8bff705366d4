"""Who speaks when is heard: on calls of which that is known to the sample, clean and in noise."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import av
import numpy as np
import pytest

from emma_eval.adapters.media import sound_of
from emma_eval.adapters.speech import RATE_HZ, STRETCH_S, Listener
from emma_eval.scoring.turns import Kind, bridged
from tests.calls import KINDS_OF_NOISE, SIGNALS, Spoken, clips_of, noise, talk, with_copy
from tests.heard_calls import Found, hear_calls, listen
from tests.media import KINDS, write

MINUTES = 5.0


@pytest.mark.parametrize("kind", ["", *KINDS_OF_NOISE])
def test_replies_silences_and_overlaps_are_found(kind: str) -> None:
    """Held to what is asked: latencies to 60 ms, 99 % of silences and overlaps, at 15 dB of noise as without."""
    found = hear_calls(kind, MINUTES)
    assert found.p95_ms < 60
    assert len(found.errors_ms) >= 0.99 * found.replies > 20
    for event in (Kind.SILENCE, Kind.OVERLAP):
        assert found.there[event] >= 5
        assert found.found(event) >= 0.99
        assert found.false[event] <= 1


def test_a_clean_call_is_heard_to_some_milliseconds_down_to_30_db() -> None:
    assert hear_calls("", 2.0, first_seed=7, cut_db=-30).p95_ms < 30


def test_a_file_as_it_is_recorded_is_heard_as_well(tmp_path: Path) -> None:
    """Encoded by Opus at the rate of a browser, and decoded by the child that reads media."""
    call = talk(("rms", "heart"), 1.5, 3).with_noise("speech-shaped", 20)
    at_48_khz = av.AudioResampler(format="fltp", layout="stereo", rate=48_000)
    frame = av.AudioFrame.from_ndarray(call.samples, format="fltp", layout="stereo")
    frame.rate = RATE_HZ
    heard = np.concatenate([part.to_ndarray() for each in (frame, None) for part in at_48_khz.resample(each)], axis=1)
    path = write(tmp_path / "call.ogg", KINDS["ogg"], call.lasts_ms / 1000, heard=heard)
    listener = Listener(2)
    for sound in sound_of(path):
        listener.hear(sound.samples)
    found = Found()
    found.add(call, listener.voices())
    assert len(found.errors_ms) == found.replies > 5
    assert found.p95_ms < 60


def test_nobody_is_heard_in_silence_noise_or_tones() -> None:
    rng = np.random.default_rng(1)
    tone = 0.2 * np.sin(2 * np.pi * 440 * np.arange(20 * RATE_HZ) / RATE_HZ).astype(np.float32)
    beeps = tone * (np.arange(len(tone)) % RATE_HZ < RATE_HZ // 5)
    for sound in (np.zeros_like(tone), 0.05 * noise("speech-shaped", len(tone), rng), beeps):
        listener = Listener(1)
        listener.hear(sound[None].astype(np.float32))
        assert listener.speech() == ((),)


def test_a_side_may_be_quieter_than_the_other_by_20_db() -> None:
    call = talk(("awb", "heart"), 1.0, 5)
    call.samples[0] *= 0.1
    found = Found()
    found.add(call, listen(call))
    assert len(found.errors_ms) == found.replies
    assert found.p95_ms < 60


def test_noise_that_sets_in_is_known_for_noise_at_once() -> None:
    call = talk(("slt", "rms"), 2.0, 6)
    call.samples[:, 45 * RATE_HZ : 90 * RATE_HZ] += 0.01 * noise("white", 45 * RATE_HZ, np.random.default_rng(2))
    found = Found()
    found.add(call, listen(call))
    assert len(found.errors_ms) == found.replies > 10
    assert found.p95_ms < 60
    assert not any(found.false.values())


@pytest.mark.parametrize("kind", ["", "pink"])
def test_a_call_of_signals_in_place_of_voices_is_heard_by_its_sounds(kind: str) -> None:
    call = talk((SIGNALS, SIGNALS), 1.5, 22)
    heard = listen(call.with_noise(kind, 15) if kind else call)
    found = Found()
    found.add(call, heard)
    assert not heard.by_net
    assert len(found.errors_ms) == found.replies > 5
    assert found.p95_ms < 60


def test_beside_a_voice_signals_are_no_speech() -> None:
    call = talk((SIGNALS, "heart"), 1.0, 23)
    heard = listen(call)
    assert heard.by_net
    assert heard.sides[0] == ()
    assert heard.sides[1] != ()


def test_emma_so_faint_in_the_testers_microphone_that_no_voice_is_is_left_out() -> None:
    call = talk(("rms", "heart"), 2.0, 24)
    heard = listen(with_copy(call, gain_db=-36))
    found = Found()
    found.add(call, heard)
    assert heard.copied[0] < 0.05
    assert len(found.errors_ms) == found.replies > 5
    assert found.p95_ms < 60
    assert not any(found.false.values())


def test_words_are_whole_wherever_a_stretch_ends() -> None:
    """Of somebody who speaks for a minute and a half with pauses of a quarter of a second, no longer one is heard."""
    pause = np.zeros(RATE_HZ // 4, np.float32)
    clips = [part for clip in clips_of("slt") * 6 for part in (clip, pause)]
    spoken_on = np.concatenate(clips)[: 3 * STRETCH_S * RATE_HZ]
    listener = Listener(1)
    listener.hear(spoken_on[None])
    (whole,) = bridged(listener.speech()[0], 450)
    assert whole.from_ms < 150
    assert whole.lasts_ms == pytest.approx(len(spoken_on) / 16, abs=500)


def test_it_is_the_same_however_it_is_handed_in() -> None:
    call = talk(("rms", "slt"), 0.7, 8)
    at_once = Listener(2)
    at_once.hear(call.samples[:, : 29 * RATE_HZ])
    little = Listener(2)
    for at in range(0, 29 * RATE_HZ, 1_237):
        little.hear(call.samples[:, at : min(at + 1_237, 29 * RATE_HZ)])
    assert at_once.voices() == little.voices()


@pytest.mark.parametrize(("gain_db", "is_told"), [(-6, True), (-20, True), (None, False)])
def test_emma_in_the_testers_microphone_is_told(gain_db: float | None, is_told: bool) -> None:
    call = talk(("rms", "heart"), 1.5, 9)
    heard = listen(call if gain_db is None else with_copy(call, gain_db=gain_db))
    assert (heard.copied[0] > 0.2) is is_told
    assert heard.copied[1] == 0


def test_the_tester_in_emmas_sound_is_told() -> None:
    call = with_copy(talk(("heart", "awb"), 1.0, 10), gain_db=-10)
    heard = listen(Spoken(call.samples[::-1].copy()))
    assert heard.copied[0] == 0
    assert heard.copied[1] > 0.2


def test_another_number_of_sides_is_refused() -> None:
    with pytest.raises(ValueError, match="1 sides instead of 2"):
        Listener(2).hear(np.zeros((1, 100), np.float32))


def test_nothing_was_heard_of_nothing() -> None:
    assert Listener(2).speech() == ((), ())


def test_little_of_a_long_recording_is_held() -> None:
    part = talk(("rms", "heart"), 0.5, 11).samples
    listener = Listener(2)
    tracemalloc.start()
    for _ in range(6):
        listener.hear(part)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 80 * 1024**2
