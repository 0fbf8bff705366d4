"""Who is heard where is said by whoever listens; the figures follow."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.adapters.speech import Voices
from emma_eval.scoring.turns import EARS, Segment
from results.models import CallFigures, Recording, RecordingState, Sides
from results.recordings.making.measure_call import keep_voices
from results.recordings.player.correct_sides import correct_sides
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

# The left side speaks for ten seconds in all, the right one for five.
LEFT = (Segment(0, 5_000), Segment(10_000, 15_000))
RIGHT = (Segment(6_000, 9_000), Segment(16_000, 18_000))


@pytest.fixture
def recording(tester: User) -> Recording:
    made = make.recording(tester, uuid.uuid4(), sides=Sides.UNKNOWN, duration_ms=20_000)
    keep_voices(made, Voices(EARS, (LEFT, RIGHT), copied=(0.0, 0.0), floor_db=(-70.0, -70.0)))
    return made


def test_the_figures_are_made_again(tester: User, recording: Recording) -> None:
    shares = []
    for sides in (Sides.TWO, Sides.TWO_SWAPPED, Sides.MIXED):
        assert correct_sides(tester, recording, sides)
        shares.append(CallFigures.objects.get().emma_share)
    assert shares == [pytest.approx(1 / 3), pytest.approx(2 / 3), None]
    assert AuditEntry.objects.filter(action="told who is heard where on a recording").count() == 3


def test_saying_the_same_changes_nothing(tester: User, recording: Recording) -> None:
    assert correct_sides(tester, recording, Sides.TWO)
    assert not correct_sides(tester, recording, Sides.TWO)


def test_what_is_one_track_stays_one(tester: User) -> None:
    mixed = make.recording(tester, uuid.uuid4(), sides=Sides.MIXED, sides_because="Both channels hold the same sound.")
    assert not correct_sides(tester, mixed, Sides.TWO)
    mixed.refresh_from_db()
    assert mixed.sides == Sides.MIXED


def test_its_page_asks_and_keeps_it(tester_client: Client, manager_client: Client, recording: Recording) -> None:
    script, build = make.script(), make.build()
    make.result(recording.tester, script, build, call_uuid=recording.call_uuid)
    at = recording.get_absolute_url()
    assert "Who is heard where" in tester_client.get(at).text
    assert manager_client.post(f"{at}sides/", {"sides": "two"}).status_code == 403
    assert tester_client.post(f"{at}sides/", {"sides": "none"}).status_code == 422
    assert "the figures are made again" in tester_client.post(f"{at}sides/", {"sides": "two"}, follow=True).text
    recording.refresh_from_db()
    assert recording.sides == Sides.TWO


def test_one_that_failed_is_tried_again_by_its_tester(
    tester_client: Client, manager_client: Client, recording: Recording
) -> None:
    make.result(recording.tester, make.script(), make.build(), call_uuid=recording.call_uuid)
    Recording.objects.update(state=RecordingState.FAILED, fault="The store was down.", sent_digest="known")
    at = f"{recording.get_absolute_url()}again/"
    assert manager_client.post(at).status_code == 403
    assert "It is tried again." in tester_client.post(at, follow=True).text
    recording.refresh_from_db()
    assert recording.state == RecordingState.WORKING
