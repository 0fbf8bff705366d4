"""What the player shows: moments where they are found, what was not recorded, and what was measured."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.utils import timezone

from emma_eval.accounts.models import User
from emma_eval.scoring.turns import Event, Kind, Who
from results.models import CallFigures, Recording, RecordingState, Result
from results.recordings.kept_events import read_event, write_event
from results.recordings.player.show_figures import KINDS, show_figures
from results.recordings.player.show_recording import recordings_beside, show_recording
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

JOINED = [{"file_ms": 0, "call_ms": 0, "lasts_ms": 40_000}, {"file_ms": 40_000, "call_ms": 52_000, "lasts_ms": 50_000}]


@pytest.fixture
def result(tester: User) -> Result:
    script, build = make.script(), make.build()
    call = make.call(tester, script, moments=("First", "Second", "Third"), ended_at_ms=100_000)  # 0:30.5, 1:01, 1:31.5
    return make.result(tester, script, build, call_uuid=call.uuid)


def test_moments_stand_where_they_are_found_and_gaps_are_told(tester: User, result: Result) -> None:
    shown = show_recording(tester, make.recording(tester, result.call_uuid, segments=JOINED))
    assert [each.at_ms for each in shown.moments] == [30_500, 49_000, 79_500]
    assert [(cut.at_ms, cut.words) for cut in shown.cuts] == [
        (40_000, "12.0 s of the call were not recorded, from 0:40 on the call clock")
    ]


def test_a_moment_in_a_gap_is_said_not_to_be_recorded(tester: User, result: Result) -> None:
    late = [JOINED[0], {"file_ms": 40_000, "call_ms": 70_000, "lasts_ms": 50_000}]
    shown = show_recording(tester, make.recording(tester, result.call_uuid, segments=late))
    assert [each.is_recorded for each in shown.moments] == [True, False, True]
    assert shown.moments[1].at_ms == 40_000


def test_a_recording_that_begins_late_says_so(tester: User, result: Result) -> None:
    begins = [{"file_ms": 0, "call_ms": 8_000, "lasts_ms": 90_000}]
    shown = show_recording(tester, make.recording(tester, result.call_uuid, segments=begins))
    assert [(cut.at_ms, cut.words) for cut in shown.cuts] == [(0, "The first 8.0 s of the call were not recorded")]


def test_a_recording_that_ends_before_its_call_says_so(tester: User, result: Result) -> None:
    recording = make.recording(tester, result.call_uuid, segments=JOINED[:1], duration_ms=40_000)
    (cut,) = show_recording(tester, recording).cuts
    assert (cut.at_ms, cut.words) == (40_000, "The last 1 min 0 s of the call were not recorded")
    recording.segments = [{"file_ms": 0, "call_ms": 0, "lasts_ms": 98_500}]
    assert show_recording(tester, recording).cuts == []


def test_the_offset_moves_all_moments_alike(tester: User, result: Result) -> None:
    shown = show_recording(tester, make.recording(tester, result.call_uuid, offset_ms=-1_500))
    assert [each.at_ms for each in shown.moments] == [29_000, 59_500, 90_000]
    assert shown.offset_in_words == "Moments stand 1.5 s earlier than the call clock has them."
    assert [each.is_recorded for each in shown.moments] == [True, True, True]


def test_the_newest_that_can_be_played_stands_first(tester: User, result: Result) -> None:
    old = make.recording(tester, result.call_uuid)
    new = make.recording(tester, result.call_uuid)
    failed = make.recording(tester, result.call_uuid, state=RecordingState.FAILED, fault="Cut off.")
    shown = recordings_beside(tester, result)
    assert shown.player is not None
    assert shown.player.recording == new
    assert shown.others == [old, failed]


def test_what_can_not_be_played_has_no_links(tester: User, result: Result) -> None:
    shown = show_recording(tester, make.recording(tester, result.call_uuid, state=RecordingState.WORKING))
    assert (shown.links, shown.moments) == (None, [])


def test_of_a_call_without_a_recording_there_is_nothing(tester: User, result: Result) -> None:
    assert recordings_beside(tester, result).player is None


# --- figures -------------------------------------------------------------------------------------


def figures(recording: Recording, **fields: object) -> CallFigures:
    return CallFigures.objects.create(recording=recording, edition=1, measured_at=timezone.now(), **fields)


def event(kind: Kind, who: Who, from_ms: int, to_ms: int, value_ms: int, yielded: Who | None = None) -> dict[str, Any]:
    return write_event(Event(kind, who, from_ms, to_ms, "one end", "the other", value_ms, yielded))


@pytest.mark.parametrize("yielded", [None, *Who])
@pytest.mark.parametrize("kind", Kind)
def test_an_event_is_read_as_it_was_written(kind: Kind, yielded: Who | None) -> None:
    kept = event(kind, Who.EMMA, 1_000, 1_640, -640, yielded)
    again = read_event(json.loads(json.dumps(kept)))
    assert write_event(again) == kept
    assert (again.kind, again.yielded, again.from_point) == (kind, yielded, "one end")


def test_each_kind_of_event_has_its_words() -> None:
    assert set(KINDS) == set(Kind)


def test_figures_are_said_with_their_n_and_lead_to_their_events(tester: User) -> None:
    recording = make.recording(tester, uuid.uuid4())
    events = [
        event(Kind.REPLY, Who.EMMA, 1_000, 1_640, 640),
        event(Kind.REPLY, Who.EMMA, 5_000, 5_200, -200),
        event(Kind.OVERLAP, Who.TESTER, 9_000, 9_400, 400, Who.EMMA),
    ]
    about = {"turn_count": 2, "latency_median_ms": 220, "overlap_count": 1, "yield_count": 1, "yield_median_ms": None}
    shown = show_figures(figures(recording, events=events, **about))
    by_label = {figure.label: figure for figure in shown.figures}
    assert by_label["Reply latency, median"].words == "220 ms"
    assert by_label["Reply latency, median"].beside == "n = 2 replies"
    assert by_label["Reply latency, 95th percentile"].words == "n too small"
    assert by_label["Emma’s share of talk"].words == "unmeasured"
    assert [(kind.key, kind.total) for kind in shown.kinds] == [("reply", 2), ("overlap", 1)]
    assert [each.lasts for each in shown.kinds[0].events] == ["640 ms", "200 ms early"]
    assert shown.kinds[1].events[0].by_whom == "the tester came in, Emma yielded"
    kinds = {label: figure.kind for label, figure in by_label.items()}
    assert (kinds["Overlaps"], kinds["Silences over 3 s"]) == ("overlap", "")


def test_every_reply_of_an_hour_is_listed(tester: User) -> None:
    recording = make.recording(tester, uuid.uuid4())
    events = [event(Kind.REPLY, Who.EMMA, at * 7_000, at * 7_000 + 900, 900) for at in range(514)]
    (replies,) = show_figures(figures(recording, events=events, turn_count=514)).kinds
    assert (len(replies.events), replies.total) == (514, 514)


def test_the_page_names_both_end_points_of_an_event(tester: User) -> None:
    recording = make.recording(tester, uuid.uuid4())
    figures(recording, events=[event(Kind.REPLY, Who.EMMA, 1_000, 1_640, 640)], turn_count=1)
    page = make.client_of(tester).get(recording.get_absolute_url()).content.decode()
    assert "one end to the other" in page


def test_what_is_unmeasured_says_why(tester: User) -> None:
    recording = make.recording(tester, uuid.uuid4())
    shown = show_figures(figures(recording, unmeasured_because="Both sides are in one track."))
    assert (shown.unmeasured_because, shown.figures) == ("Both sides are in one track.", [])
