"""A call is recorded beside it, against a real S3 server: through a network that fails and a browser that is killed."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from results.models import Call, Chunk, Recording, Sides, Take
from results.recordings.making.make_ready import make_ready
from results.recordings.store import recordings_store
from tests.browser.beside_a_call import begin, go_to
from tests.browser.lasting import kill
from tests.browser.two_voices import (
    EMMA_HZ,
    TESTER_HZ,
    agree,
    browser_with_voices,
    call_emma,
    eventually,
    is_recording,
    lasted_s,
    recorded,
    unsent,
)
from tests.s3 import S3Server
from tests.stores import let_pages_reach, use_bucket

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def bucket(s3: S3Server, settings: Any) -> str:
    """Recordings are kept in a bucket that browsers may reach."""
    name = s3.new_bucket()
    use_bucket(settings, s3, name, location="recordings")
    let_pages_reach(settings, s3)
    return name


def arrived(recording: Recording) -> list[tuple[int, int]]:
    there = Chunk.objects.filter(take__recording=recording).exclude(arrived_at=None)
    return sorted(there.values_list("take__number", "number"))


def test_through_a_dead_network_and_a_killed_browser_all_of_it_comes_to_the_bucket(
    chromium: Browser, tmp_path: Path, tess: User, call: Call, live_server: LiveServer, s3: S3Server, bucket: str
) -> None:
    folder = tmp_path / "profile"
    context = browser_with_voices(chromium, folder, tess, live_server)
    call_emma(context, live_server)
    page = context.new_page()
    go_to(page, call)
    page.bring_to_front()
    agree(page)
    expect(page.get_by_text("Nothing is recorded yet.")).to_be_visible()
    begin(page)
    is_recording(page)
    assert page.title().startswith("● Recording")
    recorded(page, 5)
    recording = Recording.objects.get()
    eventually(lambda: arrived(recording) != [])
    context.set_offline(True)
    recorded(page, 9)
    assert unsent(page) >= 1
    expect(page.locator("[data-rec-standing]")).to_contain_text("Kept here, not sent yet: about")
    kept = len(arrived(recording)) + unsent(page)
    at_death_s = lasted_s(page)
    kill(folder)
    assert at_death_s - kept * 4 <= 10

    context = browser_with_voices(chromium, folder, tess, live_server)
    call_emma(context, live_server)
    page = context.new_page()
    go_to(page, call)
    expect(page.get_by_text("Recording broke off when its page was closed.")).to_be_visible()
    expect(page.locator("[data-rec-standing]")).to_have_text("All of it is sent.", timeout=20_000)
    page.bring_to_front()
    page.get_by_role("button", name="Go on recording").click()
    page.get_by_label("I agree to being recorded").check()
    page.get_by_role("button", name="Choose what to share").click()
    is_recording(page)
    recorded(page, 3)
    page.locator("[data-recorder]").get_by_role("button", name="Stop recording").click()
    second_s = lasted_s(page)
    ended_at_ms = call_clock(page)
    page.get_by_role("button", name="That is all").click()
    expect(page.locator("#recordings")).to_contain_text("Being made ready", timeout=20_000)
    assert page.evaluate("keptRecordings.keys()") == []

    first, second = recording.takes.all()
    assert abs(first.began_at_ms - 0) < 500
    assert [take.chunk_count for take in (first, second)] == [kept, second.chunks.count()]
    first_s = length_of_chunks(s3, bucket, first)
    make_ready(str(recording.pk), recordings_store())
    recording.refresh_from_db()
    assert (recording.state, recording.sides, recording.fault) == ("ready", Sides.TWO, "")
    assert recording.consented_at is not None
    page.reload()
    expect(page.locator("#recordings")).to_contain_text("Recording of 0:", timeout=10_000)
    context.close()

    keys = [each["Key"] for each in s3.client().list_objects_v2(Bucket=bucket)["Contents"]]
    assert not [key for key in keys if "/chunks/" in key]
    path = tmp_path / "media.webm"
    s3.client().download_file(bucket, f"recordings/{recording.key}", str(path))
    took_s = [segment["lasts_ms"] / 1000 for segment in recording.segments]
    assert abs(took_s[0] - first_s) < 0.5
    assert at_death_s - took_s[0] <= 10
    assert abs(took_s[1] - second_s) < 0.5
    assert abs(second.began_at_ms + took_s[1] * 1000 - ended_at_ms) < 500  # on the call clock, too
    check_file(path, sum(took_s))


def call_clock(page: Page) -> float:
    at_ms: float = page.evaluate("callPage.clock.read()")
    return at_ms


def length_of_chunks(s3: S3Server, bucket: str, take: Take) -> float:
    """How long that is, in seconds, what came of a take before anything was made of it."""
    parts = [s3.client().get_object(Bucket=bucket, Key=f"recordings/{chunk.key}") for chunk in take.chunks.all()]
    with av.open(io.BytesIO(b"".join(part["Body"].read() for part in parts))) as media:
        times = [packet.pts * packet.time_base for packet in media.demux() if packet.pts is not None]
    return float(max(times))


def check_file(path: Path, lasts_s: float) -> None:
    """It has its length, can be seeked in, and on each side is whom it is said to be."""
    with av.open(str(path)) as media:
        assert media.duration is not None
        assert abs(media.duration / 1_000_000 - lasts_s) < 0.5
        media.seek(int(lasts_s * 0.7 * 1_000_000))
        frame = next(media.decode(video=0))
        assert frame.time is not None
        assert frame.time > lasts_s * 0.3
    with av.open(str(path)) as media:
        frames = list(media.decode(audio=0))
    # By its times, not by its samples: on a machine without breath the browser itself leaves some out.
    assert frames[-1].time is not None
    assert abs(frames[-1].time + frames[-1].samples / 48_000 - lasts_s) < 0.5
    sound = np.concatenate([frame.to_ndarray() for frame in frames], axis=1)
    sound = sound.reshape(2, -1) if sound.shape[0] == 2 else sound.reshape(-1, 2).T
    for at_s in (2, lasts_s / 2, sound.shape[1] / 48_000 - 3):
        left, right = (loudness(side[int(at_s * 48_000) :][:48_000]) for side in sound)
        assert left[TESTER_HZ] - left[EMMA_HZ] > 30, "Emma is heard on the tester's side"
        assert right[EMMA_HZ] - right[TESTER_HZ] > 30, "the tester is heard on Emma's side"


def loudness(second: Any) -> dict[int, float]:
    """In decibels, of the two voices, in one second of sound: a bin of its spectrum is one hertz."""
    spectrum = np.abs(np.fft.rfft(second * np.hanning(len(second))))
    return {hz: float(20 * np.log10(spectrum[hz - 3 : hz + 4].max() + 1e-9)) for hz in (TESTER_HZ, EMMA_HZ)}
