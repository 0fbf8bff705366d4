"""A recording is finished once all of it is there; or, if its page never comes back, with what there is of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.test import Client

from emma_eval.accounts.models import User
from emma_eval.adapters.recordings import Kept, StoreError
from emma_eval.adapters.recordings_folder import FolderStore
from emma_eval.outbox.models import Row
from results.models import Call, Recording, Sides
from results.recordings.hand_over import MAKE_READY
from results.recordings.recorder.finish_recording import (
    ABANDONED_AFTER,
    NOTHING,
    Missing,
    finish_abandoned,
    finish_as_it_is,
    finish_recording,
)
from results.tasks import finish_abandoned_recordings
from results.views import recorder
from scripts_catalog.models import Script
from tests import make
from tests.at_once import at_once

from ..recorded import announce, begin, put, send, take, tell

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)


@pytest.fixture
def recording(call: Call) -> Recording:
    return begin(call, NOW)


def handed_over(recording: Recording) -> bool:
    recording.refresh_from_db()
    rows = Row.objects.filter(handler=MAKE_READY, payload={"recording": str(recording.pk)}).count()
    assert rows == (recording.state == "working")
    return rows == 1


def test_with_all_chunks_of_all_takes_it_is_handed_over(store: FolderStore, recording: Recording) -> None:
    for number, chunks in ((1, (0, 1, 2)), (2, (0,))):
        take(recording, NOW, number)
        send(store, recording, NOW, *chunks, take=number)
        take(recording, NOW, number, chunk_count=len(chunks))
    assert finish_recording(recording, NOW).state == "working"
    assert handed_over(recording)
    assert (recording.sides, recording.fault) == (Sides.TWO, "")


def test_asked_again_it_says_the_same_and_does_nothing(store: FolderStore, recording: Recording) -> None:
    take(recording, NOW)
    send(store, recording, NOW, 0)
    take(recording, NOW, chunk_count=1)
    finish_recording(recording, NOW)
    assert finish_recording(recording, NOW).state == "working"
    assert finish_as_it_is(recording, store, NOW).state == "working"
    assert handed_over(recording)


def test_asked_by_two_tabs_at_once_it_is_handed_over_once(
    store: FolderStore, recording: Recording, transactional_db: None
) -> None:
    take(recording, NOW)
    send(store, recording, NOW, 0)
    take(recording, NOW, chunk_count=1)
    at_once(*[partial(finish_recording, recording, NOW)] * 3)
    assert handed_over(recording)


def test_it_says_what_is_missing(store: FolderStore, recording: Recording) -> None:
    take(recording, NOW)
    send(store, recording, NOW, 0, 3)
    announce(store, recording, NOW, 4)
    take(recording, NOW, chunk_count=6)
    take(recording, NOW, 2)
    finished = finish_recording(recording, NOW)
    assert finished.state == "receiving"
    assert finished.missing == (Missing(1, 4, (1, 2, 4, 5), False), Missing(2, 0, (), True))
    assert not handed_over(recording)


def test_as_it_is_it_is_handed_over_and_says_what_never_came(store: FolderStore, recording: Recording) -> None:
    take(recording, NOW)
    send(store, recording, NOW, 0)
    take(recording, NOW, chunk_count=3)
    finish_as_it_is(recording, store, NOW)
    assert handed_over(recording)
    assert recording.fault == "2 pieces of a few seconds never arrived."


def test_what_was_sent_and_never_told_of_is_found(store: FolderStore, recording: Recording) -> None:
    take(recording, NOW)
    announce(store, recording, NOW, 0, 1)
    put(store, recording, 0)
    put(store, recording, 1)
    finish_as_it_is(recording, store, NOW)
    assert handed_over(recording)
    assert recording.fault == "Its page never said that this is all: the end may be missing."
    assert recording.takes.get().chunks.exclude(arrived_at=None).count() == 2


@pytest.mark.parametrize("takes", [0, 1])
def test_of_one_that_was_begun_and_then_not_recorded_nothing_is_kept(
    store: FolderStore, recording: Recording, takes: int
) -> None:
    for number in range(takes):
        take(recording, NOW, number + 1, chunk_count=0)
    assert finish_recording(recording, NOW).state == "failed"
    assert finish_recording(recording, NOW).state == "failed"
    assert finish_as_it_is(recording, store, NOW).state == "failed"
    assert not Recording.objects.exists()


def test_one_of_which_nothing_arrived_says_so(store: FolderStore, recording: Recording) -> None:
    take(recording, NOW)
    announce(store, recording, NOW, 0)
    assert finish_as_it_is(recording, store, NOW).state == "failed"
    assert not handed_over(recording)
    assert recording.fault == NOTHING


def test_a_take_that_recorded_nothing_takes_no_side(store: FolderStore, recording: Recording) -> None:
    take(recording, NOW)
    send(store, recording, NOW, 0)
    take(recording, NOW, chunk_count=1)
    take(recording, NOW, 2, chunk_count=0, has_tester=False, has_emma=False)
    finish_recording(recording, NOW)
    assert handed_over(recording)
    assert recording.sides == Sides.TWO


@pytest.mark.parametrize(
    ("testers", "emmas", "sides", "because"),
    [
        ((True, True), (True, True), Sides.TWO, "microphone left"),
        ((True, True), (False, False), Sides.ONE, "the tester alone"),
        ((False, False), (True, True), Sides.ONE, "Emma alone"),
        ((True, True), (True, False), Sides.ONE, "In a part of it"),
        ((True, False), (False, True), Sides.ONE, "In a part of it"),
        ((False, False), (False, False), Sides.NONE, "Neither"),
    ],
)
def test_it_has_two_sides_only_where_every_take_has(
    store: FolderStore,
    recording: Recording,
    testers: tuple[bool, ...],
    emmas: tuple[bool, ...],
    sides: Sides,
    because: str,
) -> None:
    for number, (has_tester, has_emma) in enumerate(zip(testers, emmas, strict=True), 1):
        take(recording, NOW, number, has_tester=has_tester, has_emma=has_emma)
        send(store, recording, NOW, 0, take=number)
        take(recording, NOW, number, has_tester=has_tester, has_emma=has_emma, chunk_count=1)
    finish_recording(recording, NOW)
    recording.refresh_from_db()
    assert recording.sides == sides
    assert because in recording.sides_because


# --- where the page never comes back ------------------------------------------------------------


def test_one_whose_page_never_came_back_is_handed_over_with_what_there_is(
    store: FolderStore, recording: Recording
) -> None:
    take(recording, NOW)
    send(store, recording, NOW, 0)
    assert finish_abandoned(store, NOW + ABANDONED_AFTER) == 0
    assert finish_abandoned(store, NOW + ABANDONED_AFTER + timedelta(seconds=1)) == 1
    assert handed_over(recording)
    assert "the end may be missing" in recording.fault


def test_a_store_that_is_down_for_one_holds_up_no_other(
    store: FolderStore, recording: Recording, tester: User, script: Script
) -> None:
    other = begin(make.call(tester, script), NOW)
    for each in (recording, other):
        take(each, NOW)
    send(store, recording, NOW, 0)
    announce(store, other, NOW, 0)

    class Down(FolderStore):
        def look(self, key: str) -> Kept | None:
            raise StoreError("It does not answer.")

    late = NOW + ABANDONED_AFTER + timedelta(hours=1)
    assert finish_abandoned(Down(store.folder, "secret", str), late) == 1
    assert handed_over(recording)
    assert not handed_over(other)
    assert finish_abandoned(store, late) == 1
    other.refresh_from_db()
    assert (other.state, other.fault) == ("failed", NOTHING)


def test_the_task_finishes_them(recording: Recording) -> None:
    Recording.objects.update(heard_at=datetime.now(UTC) - ABANDONED_AFTER - timedelta(minutes=1))
    finish_abandoned_recordings()
    finish_abandoned_recordings()
    assert not Recording.objects.exists()


# --- as the page asks --------------------------------------------------------------------------


def test_the_page_is_told_what_is_missing_and_may_give_it_up(
    tester_client: Client, recording: Recording, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "recordings_store", lambda: store)
    take(recording, NOW)
    send(store, recording, NOW, 0)
    take(recording, NOW, chunk_count=2)
    address = f"/recordings/{recording.pk}/finish/"
    said: Any = tell(tester_client, address, {}).json()
    assert said["missing"] == [{"take": 1, "count": 1, "numbers": [1], "is_open": False}]
    assert tell(tester_client, address, {"as_it_is": True}).json()["state"] == "working"
    assert handed_over(recording)


def test_a_plain_form_finishes_it_with_what_has_arrived(
    tester_client: Client, recording: Recording, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "recordings_store", lambda: store)
    take(recording, NOW)
    send(store, recording, NOW, 0)
    answer = tester_client.post(f"/recordings/{recording.pk}/finish/")
    assert answer["Location"] == f"/calls/{recording.call_uuid}/"
    assert handed_over(recording)


def test_odd_words_finish_nothing(tester_client: Client, recording: Recording) -> None:
    for odd in ([], {"as_it_is": 1}):
        answer = tester_client.post(
            f"/recordings/{recording.pk}/finish/", json.dumps(odd), content_type="application/json"
        )
        assert answer.status_code == 422
    recording.refresh_from_db()
    assert recording.state == "receiving"
