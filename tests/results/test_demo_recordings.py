"""The recordings of the demo team: sent as testers send them, and made ready by the same worker."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from django.core.management import call_command

from emma_eval.adapters.recordings import StoreError
from emma_eval.outbox.models import Row
from results import demo_recordings
from results.demo import load_demo
from results.models import Moment, Recording, RecordingNote, RecordingState, Result, Sides
from results.recordings.hand_over import MAKE_READY
from results.recordings.making.make_ready import make_ready
from results.recordings.store import recordings_store

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]
NOW = datetime(2026, 11, 29, 9, 0, tzinfo=UTC)
NEAR_MS = 6_000


@pytest.fixture
def demo() -> Iterator[None]:
    call_command("load_catalogue", verbosity=0)
    load_demo(NOW, Random(60))
    yield
    for recording in Recording.objects.all():
        recordings_store().remove([kept.key for kept in recordings_store().under(recording.folder)])


def made_ready() -> dict[str, Recording]:
    for recording in Recording.objects.all():
        make_ready(str(recording.pk), recordings_store())
    found = {Result.objects.get(call_uuid=each.call_uuid).script_id: each for each in Recording.objects.all()}
    assert len(found) == len(demo_recordings.SENT)
    return found


def test_they_wait_for_the_worker_as_everybodys_do(demo: None) -> None:
    assert {each.state for each in Recording.objects.all()} == {RecordingState.WORKING}
    waiting = {row.payload["recording"] for row in Row.objects.filter(handler=MAKE_READY)}
    assert waiting == {str(each.pk) for each in Recording.objects.all()}
    assert all(each.consented_at and each.created_at < NOW for each in Recording.objects.all())
    assert not Result.objects.filter(call_uuid__in=Recording.objects.values("call_uuid")).exclude(recording_link="")


def test_one_is_measured_and_its_moments_lie_on_what_they_speak_of(demo: None) -> None:
    recording = made_ready()["bad-news-day"]
    assert recording.is_playable
    assert recording.has_video
    assert recording.peaks_key
    assert recording.thumbnail_key
    figures = recording.figures
    assert figures.is_measured
    assert 4 <= (figures.turn_count or 0) <= 8
    assert 500 < (figures.latency_median_ms or 0) < 1_200
    assert figures.silence_count
    assert figures.overlap_count
    moments = Moment.objects.filter(call__uuid=recording.call_uuid).order_by("at_ms")
    first, second = (recording.file_ms(moment.at_ms) for moment in moments)
    silence = next(event for event in figures.events if event["kind"] == "silence")
    assert 0 < silence["from_ms"] - first < NEAR_MS, "marked as she said her one sentence, and then it is quiet"
    assert first < second < (recording.duration_ms or 0)
    note = RecordingNote.objects.get()
    overlaps = [event for event in figures.events if event["kind"] == "overlap"]
    assert any(event["from_ms"] - 500 < note.at_ms < event["to_ms"] + 500 for event in overlaps)


def test_one_is_played_and_unmeasured(demo: None) -> None:
    recording = made_ready()["small-talk-first-call"]
    assert recording.is_playable
    assert recording.sides == Sides.MIXED
    assert recording.figures.unmeasured_because


def test_a_store_that_does_not_answer_keeps_no_house_from_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    class Down:  # a real one that is down takes as long as its time limit to say so
        def keep(self, *_: object, **__: object) -> None:
            raise StoreError("It does not answer.")

    monkeypatch.setattr(demo_recordings, "recordings_store", Down)
    call_command("load_catalogue", verbosity=0)
    assert load_demo(NOW, Random(60)) == 60
    assert not Recording.objects.exists()
    assert not Row.objects.filter(handler=MAKE_READY).exists()


def test_preparing_them_reads_no_media() -> None:
    told = "import sys, django; django.setup(); import results.demo; print({'av', 'numpy'} & set(sys.modules))"
    environment = {"DJANGO_SETTINGS_MODULE": "emma_eval.settings"}
    done = subprocess.run(
        [sys.executable, "-c", told], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


def test_the_files_are_small() -> None:
    files = [file for file in demo_recordings.FILES.iterdir() if file.suffix != ".md"]
    assert sum(file.stat().st_size for file in files) < 400_000
    assert {file.name for file in files} == {sent.name for sent in demo_recordings.SENT.values()}
    assert Path(demo_recordings.FILES, "README.md").read_text().count("Apache-2.0")
