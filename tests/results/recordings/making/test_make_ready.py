"""A recording that has arrived is made ready once, whatever fails on the way, and nothing that was sent is lost."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from emma_eval.accounts.models import User
from emma_eval.adapters.recordings import Kept, MismatchError, Store, StoreError
from emma_eval.outbox.deliver import LeaseLostError, deliver
from emma_eval.outbox.models import Row
from emma_eval.outbox.registry import TryLaterError
from results.models import CallFigures, Chunk, Origin, Recording, RecordingState, Sides
from results.recordings.making import derive
from results.recordings.making import make_ready as making
from results.recordings.making.clear_sent import clear_what_was_left
from results.recordings.making.give_up_stuck import give_up_stuck
from results.recordings.making.make_ready import GONE, NOT_MADE, make_ready
from results.recordings.making.try_again import may_be_tried_again, try_again
from results.recordings.removal.removal_reasons import Reason
from results.recordings.removal.remove_recording import remove_recording
from results.recordings.store import recordings_store
from results.recordings.work_folder import WORKED_IN
from tests.media import media
from tests.s3 import S3Server
from tests.stores import use_bucket

from ..sent import Faulty, keys, recorded, row_of, state, uploaded

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("store")]
MADE = ["media.webm", "peaks.json", "thumbnail.jpg"]


@pytest.fixture(params=["bucket", "folder"])
def any_store(request: pytest.FixtureRequest, settings: Settings, store: Store) -> Store:
    if request.param == "bucket":
        server: S3Server = request.getfixturevalue("s3")
        use_bucket(settings, server, server.shared_bucket)
    return recordings_store()


def bytes_of(store: Store, key: str) -> bytes:
    with store.open(key) as file:
        return file.read()


@pytest.mark.data_layer
def test_what_was_recorded_becomes_one_file_with_all_that_is_known_of_it(any_store: Store, tester: User) -> None:
    recording = recorded(tester, any_store, [("live.webm", 0), ("live.webm", 30_000)])
    assert deliver(row_of(recording).pk)
    assert state(recording) == RecordingState.READY
    assert keys(any_store, recording) == MADE
    file = bytes_of(any_store, recording.key)
    assert (recording.key, recording.media_type) == (f"{recording.folder}media.webm", "video/webm")
    assert (recording.size, recording.digest) == (len(file), hashlib.sha256(file).hexdigest())
    assert recording.duration_ms == pytest.approx(24_000, abs=100)
    assert (recording.width, recording.height, recording.has_video) == (256, 64, True)
    assert (recording.sides, recording.sides_because) == (Sides.TWO, "Recorded beside the call.")
    assert [segment["call_ms"] for segment in recording.segments] == [0, 30_000]
    assert recording.ready_at is not None
    assert not recording.fault
    assert bytes_of(any_store, recording.thumbnail_key).startswith(b"\xff\xd8")
    peaks = json.loads(bytes_of(any_store, recording.peaks_key))
    assert [len(side) for side in peaks["sides"]] == [-(-recording.duration_ms // peaks["bucket_ms"])] * 2
    assert not Chunk.objects.exists()
    assert CallFigures.objects.filter(recording=recording).exists()
    assert list((site.VAR_DIR / WORKED_IN).iterdir()) == []


@pytest.mark.data_layer
def test_what_was_uploaded_becomes_a_file_that_browsers_play(any_store: Store, tester: User) -> None:
    recording = uploaded(tester, any_store, media("vbr.mp3"))
    assert deliver(row_of(recording).pk)
    assert state(recording) == RecordingState.READY
    assert keys(any_store, recording) == ["media.mp4", "peaks.json"]
    assert (recording.media_type, recording.has_video, recording.thumbnail_key) == ("audio/mp4", False, "")
    assert (recording.sides, recording.segments) == (Sides.UNKNOWN, [])


def test_the_waveform_shows_each_beep_on_its_side(store: Store, tester: User) -> None:
    recording = uploaded(tester, store, media("ogg"))
    make_ready(str(recording.pk), store)
    recording.refresh_from_db()
    peaks = json.loads(bytes_of(store, recording.peaks_key))
    loud = [
        {round(at * peaks["bucket_ms"], -2) for at, level in enumerate(side) if level > 50} for side in peaks["sides"]
    ]
    assert loud[0] >= {1000, 5000, 9000}
    assert loud[1] >= {3000, 7000, 11_000}
    assert not loud[0] & loud[1]
    quiet = [level for side in peaks["sides"] for level in side if level <= 50]
    assert len(quiet) > 0.9 * sum(map(len, peaks["sides"]))


def test_a_recording_without_sound_or_without_a_picture_is_ready(store: Store, tester: User) -> None:
    film, sound = uploaded(tester, store, media("silent.webm")), uploaded(tester, store, media("m4a"))
    for recording in (film, sound):
        make_ready(str(recording.pk), store)
        assert state(recording) == RecordingState.READY
    assert (film.sides, film.peaks_key, bool(film.thumbnail_key)) == (Sides.NONE, "", True)
    assert (bool(sound.peaks_key), sound.thumbnail_key, sound.width) == (True, "", None)


def test_a_recording_that_cannot_be_measured_is_ready(
    store: Store, tester: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    from emma_eval.adapters.speech import Listener

    def stumble(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Listener, "hear", stumble)
    one = uploaded(tester, store, media("ogg"))
    make_ready(str(one.pk), store)
    assert (state(one), bool(one.peaks_key)) == (RecordingState.READY, True)
    monkeypatch.undo()
    monkeypatch.setattr(making, "keep_voices", stumble)
    other = uploaded(tester, store, media("ogg"))
    make_ready(str(other.pk), store)
    assert state(other) == RecordingState.READY


@pytest.mark.data_layer
def test_made_ready_twice_it_is_the_same(store: Store, tester: User) -> None:
    recording = recorded(tester, store, [("live.webm", 0)])
    make_ready(str(recording.pk), store)
    recording.refresh_from_db()
    first = (recording.digest, recording.ready_at)
    make_ready(str(recording.pk), store)
    recording.refresh_from_db()
    assert (recording.digest, recording.ready_at) == first
    assert keys(store, recording) == MADE


STEPS = [
    ("open", "chunks/001-000002"),
    ("keep", "media.webm"),
    ("look", "media.webm"),
    ("keep", "thumbnail.jpg"),
]


@pytest.mark.parametrize(("act", "on"), STEPS)
def test_a_store_that_fails_on_the_way_costs_time_and_nothing_else(
    act: str, on: str, store: Store, tester: User
) -> None:
    recording = recorded(tester, store, [("live.webm", 0)])
    before = keys(store, recording)
    with pytest.raises(TryLaterError):
        make_ready(str(recording.pk), Faulty(store, act, on))
    assert state(recording) == RecordingState.WORKING
    assert set(keys(store, recording)) >= set(before)
    make_ready(str(recording.pk), store)
    assert (state(recording), keys(store, recording)) == (RecordingState.READY, MADE)


def test_a_store_that_fails_to_forget_is_asked_again(store: Store, tester: User) -> None:
    recording = recorded(tester, store, [("live.webm", 0)])
    with pytest.raises(TryLaterError):
        make_ready(str(recording.pk), Faulty(store, "remove", "chunks"))
    assert state(recording) == RecordingState.READY
    assert len(keys(store, recording)) > 3
    make_ready(str(recording.pk), store)
    assert keys(store, recording) == MADE


def test_a_store_that_is_down_for_long_is_waited_for(
    store: Store, tester: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = uploaded(tester, store, media("webm"))
    down = Faulty(store, "fetch", error=StoreError("The store does not answer."), times=20)
    monkeypatch.setattr("results.tasks.recordings_store", lambda: down)
    row = row_of(recording)
    for _ in range(20):
        Row.objects.filter(pk=row.pk).update(next_try_at=timezone.now())
        assert deliver(row.pk)
    assert state(recording) == RecordingState.WORKING
    row.refresh_from_db()
    assert (row.set_aside_at, row.done_at) == (None, None)
    Row.objects.filter(pk=row.pk).update(next_try_at=timezone.now())
    assert deliver(row.pk)
    assert state(recording) == RecordingState.READY


def test_what_the_store_holds_is_looked_at_before_what_was_sent_goes(store: Store, tester: User) -> None:
    """A store that says it kept all of it, and did not: a fake, since no real one was seen to."""

    class Lying(Faulty):
        def keep(self, key: str, path: Path, *, media_type: str) -> Any:
            if key.endswith("media.webm"):
                path.write_bytes(path.read_bytes()[:1000])
                kept = self.store.keep(key, path, media_type=media_type)
                with path.open("ab") as file:
                    file.write(b"and more")
                return kept
            return self.store.keep(key, path, media_type=media_type)

    recording = recorded(tester, store, [("live.webm", 0)])
    with pytest.raises(TryLaterError, match="not what was given"):
        make_ready(str(recording.pk), Lying(store, ""))
    assert state(recording) != RecordingState.READY
    assert sum(key.startswith("chunks/") for key in keys(store, recording)) == 6


def test_an_object_that_is_lost_again_keeps_what_it_was_made_of(store: Store, tester: User) -> None:
    recording = recorded(tester, store, [("live.webm", 0)])
    with pytest.raises(TryLaterError):
        make_ready(str(recording.pk), Faulty(store, "remove", "chunks"))
    recording.refresh_from_db()
    store.remove([recording.key])
    make_ready(str(recording.pk), store)
    assert any(key.startswith("chunks/") for key in keys(store, recording))


def test_what_is_gone_before_it_was_made_ready_is_told(store: Store, tester: User) -> None:
    recording = uploaded(tester, store, media("webm"))
    store.remove([f"{recording.folder}sent"])
    make_ready(str(recording.pk), store)
    assert (state(recording), recording.fault) == (RecordingState.FAILED, GONE)


@pytest.mark.data_layer
def test_what_fails_again_and_again_is_told_and_can_be_tried_again(
    store: Store, tester: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = uploaded(tester, store, media("ogg"))
    broken = Faulty(store, "keep", error=MismatchError("It is another."), times=2)
    monkeypatch.setattr("results.tasks.recordings_store", lambda: broken)
    row = row_of(recording)
    for attempts in (0, 7):
        assert state(recording) == RecordingState.WORKING
        Row.objects.filter(pk=row.pk).update(next_try_at=timezone.now(), attempts=attempts)
        assert deliver(row.pk)
    assert (state(recording), recording.fault) == (RecordingState.FAILED, NOT_MADE)
    assert "sent" in keys(store, recording)
    assert try_again(recording)
    assert not try_again(recording), "asked twice"
    assert deliver(row_of(recording).pk)
    assert (state(recording), recording.fault) == (RecordingState.READY, "")


@pytest.mark.data_layer
def test_a_recording_that_every_worker_died_of_is_told(store: Store, tester: User) -> None:
    recording, other = uploaded(tester, store, media("webm")), uploaded(tester, store, media("webm"))
    Row.objects.filter(pk=row_of(recording).pk).update(attempts=8)
    assert deliver(row_of(recording).pk)
    assert give_up_stuck() == 1
    assert (state(recording), recording.fault) == (RecordingState.FAILED, NOT_MADE)
    assert state(other) == RecordingState.WORKING
    assert try_again(recording)
    assert give_up_stuck() == 0


@pytest.mark.data_layer
def test_a_recording_that_is_removed_meanwhile_leaves_nothing(store: Store, tester: User) -> None:
    recording = uploaded(tester, store, media("webm"))

    class Removing(Faulty):
        def look(self, key: str) -> Kept | None:
            if key.endswith("thumbnail.jpg"):
                remove_recording(recording, tester, Reason.ASKED)
            return self.store.look(key)

    make_ready(str(recording.pk), Removing(store, ""))
    assert (state(recording), recording.key) == (RecordingState.REMOVED, "")
    assert keys(store, recording) == ["sent"]  # which goes with what removes it


def test_what_a_worker_left_that_died_is_cleared_away_by_the_next_day(store: Store, tester: User) -> None:
    recording = recorded(tester, store, [("live.webm", 0)])
    with pytest.raises(TryLaterError):
        make_ready(str(recording.pk), Faulty(store, "remove", "chunks"))
    assert clear_what_was_left(store, timezone.now()) == 1
    assert keys(store, recording) == MADE
    assert clear_what_was_left(store, timezone.now()) == 0
    left = Path(site.VAR_DIR) / WORKED_IN / "left"
    left.mkdir()
    os.utime(left, (time.time() - 90_000,) * 2)
    make_ready(str(uploaded(tester, store, media("ogg")).pk), store)
    assert not left.exists()


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_the_same_moment_make_one_whole_file(store: Store, tester: User) -> None:
    recording = recorded(tester, store, [("live.webm", 0)])

    def make() -> None:
        try:
            make_ready(str(recording.pk), store)
        finally:
            connection.close()

    workers = [threading.Thread(target=make) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if state(recording) != RecordingState.READY:  # the other's chunks went while this one read them
        make()
    assert state(recording) == RecordingState.READY
    assert keys(store, recording) == MADE
    assert recording.digest == hashlib.sha256(bytes_of(store, recording.key)).hexdigest()


KILLED_WHILE_KEEPING = """
import os, sys, time
from pathlib import Path
import django
from django.conf import settings
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "emma_eval.settings")
settings.DATABASES["default"]["NAME"] = os.environ["TESTED_DATABASE"]
folder = sys.argv[3]
backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": folder + "/recordings"}}
settings.STORAGES = {**settings.STORAGES, "recordings": backend}
settings.VAR_DIR = Path(folder)
django.setup()
import results.tasks
from results.recordings.making import make_ready
from emma_eval.outbox.deliver import deliver

def hang(*_):
    Path(sys.argv[2]).touch()
    time.sleep(300)

make_ready._set_ready = hang
deliver(int(sys.argv[1]))
"""


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_killed_leaves_it_to_the_next(store: Store, tester: User, tmp_path: Path) -> None:
    recording = recorded(tester, store, [("live.webm", 0)])
    row, started = row_of(recording), tmp_path / "started"
    environment = os.environ | {"TESTED_DATABASE": str(connection.settings_dict["NAME"])}
    command = [sys.executable, "-c", KILLED_WHILE_KEEPING, str(row.pk), str(started), str(tmp_path)]
    with subprocess.Popen(command, env=environment) as process:
        try:
            until = time.monotonic() + 60
            while not started.exists() and process.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
            assert started.exists()
        finally:
            process.send_signal(signal.SIGKILL)
    assert state(recording) == RecordingState.WORKING
    assert not deliver(row.pk), "its lease still holds"
    Row.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert deliver(row.pk)
    assert (state(recording), keys(store, recording)) == (RecordingState.READY, MADE)


def test_a_lease_that_is_lost_ends_the_work_and_changes_nothing(
    store: Store, tester: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = recorded(tester, store, [("live.webm", 0)])

    def lost() -> None:
        raise LeaseLostError

    monkeypatch.setattr(making, "hold_on", lost)
    with pytest.raises(LeaseLostError):
        make_ready(str(recording.pk), store)
    assert state(recording) == RecordingState.WORKING
    assert list((site.VAR_DIR / WORKED_IN).iterdir()) == []


def test_nobody_makes_ready_what_is_not_there(store: Store) -> None:
    make_ready(str(uuid.uuid4()), store)
    assert Recording.objects.count() == 0


def test_buckets_stay_few_and_those_of_a_long_call_show_a_minute_of_it() -> None:
    for lasts_ms in (1, 9_999, 40_000, 40_001, 3_600_000, 24 * 3_600_000):
        waveform = derive.Waveform(2, lasts_ms)
        assert 1 <= waveform.power.shape[1] <= derive.MOST_BUCKETS
        assert waveform.power.shape[1] * waveform.bucket_ms >= lasts_ms
    assert [derive.Waveform(2, minutes * 60_000).bucket_ms for minutes in (1, 10, 30, 60)] == [20, 150, 150, 300]


@pytest.mark.data_layer
def test_what_never_arrived_is_not_tried_again(store: Store, tester: User) -> None:
    failed = {"tester": tester, "state": RecordingState.FAILED}
    for origin in Origin.values:
        empty = Recording.objects.create(call_uuid=uuid.uuid4(), origin=origin, **failed)
        assert not may_be_tried_again(empty)
        assert not try_again(empty)
    ready = uploaded(tester, store, media("ogg"))
    assert not may_be_tried_again(ready)
    recording = recorded(tester, store, [("live.webm", 0)], missing=[(1, 0)])
    Recording.objects.filter(pk=recording.pk).update(state=RecordingState.FAILED)
    recording.refresh_from_db()
    assert may_be_tried_again(recording)
