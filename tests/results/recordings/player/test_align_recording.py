"""The offset between call clock and file: said once, for all moments, by those who may."""

from __future__ import annotations

import uuid

import pytest

from emma_eval.accounts.models import AuditEntry, User
from results.models import Recording
from results.recordings.player.align_recording import TooFarError, align_recording, offset_for
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

JOINED = [
    {"file_ms": 0, "call_ms": 2_000, "lasts_ms": 10_000},
    {"file_ms": 10_000, "call_ms": 20_000, "lasts_ms": 5_000},
]


@pytest.fixture
def recording(tester: User) -> Recording:
    return make.recording(tester, uuid.uuid4())


@pytest.mark.parametrize("segments", [[], JOINED])
@pytest.mark.parametrize("call_ms", [0, 2_000, 7_500, 15_000, 22_000])
def test_a_moment_is_found_where_it_was_said_to_be(recording: Recording, segments: list[object], call_ms: int) -> None:
    recording.segments = segments
    recording.offset_ms = offset_for(recording, call_ms, 9_300)
    assert recording.file_ms(call_ms) == 9_300


def test_it_is_kept_and_told(tester: User, recording: Recording) -> None:
    align_recording(tester, recording, 1_400)
    align_recording(tester, recording, 1_400)
    recording.refresh_from_db()
    assert recording.offset_ms == 1_400
    (line,) = AuditEntry.objects.filter(action="aligned a recording")
    assert line.details["before_ms"] == 0
    assert line.details["after_ms"] == 1_400


def test_no_recording_is_days_off(tester: User, recording: Recording) -> None:
    with pytest.raises(TooFarError):
        align_recording(tester, recording, 10**9)
    recording.refresh_from_db()
    assert recording.offset_ms == 0
