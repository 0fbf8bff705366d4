"""Chunks are announced, sent straight to the store, and seen there: in any order, twice, and late."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client

from emma_eval.adapters.recordings import Kept, StoreError
from emma_eval.adapters.recordings_folder import FolderStore
from results.models import Call, Chunk, Recording, RecordingState
from results.recordings.recorder import keep_chunks as room
from results.recordings.recorder.begin_recording import OverError, RefusedError
from results.recordings.recorder.keep_chunks import keep_chunks
from results.recordings.recorder.telling import ToldChunks
from results.views import recorder
from tests.at_once import at_once

from ..recorded import announce, begin, bytes_of, chunk, put, send, take, tell

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)


@pytest.fixture
def recording(call: Call) -> Recording:
    made = begin(call, NOW)
    take(made, NOW)
    return made


def arrived(recording: Recording) -> list[int]:
    there = Chunk.objects.filter(take__recording=recording).exclude(arrived_at=None)
    return list(there.values_list("number", flat=True))


def test_a_chunk_has_arrived_once_the_store_was_seen_to_hold_it(store: FolderStore, recording: Recording) -> None:
    kept = announce(store, recording, NOW, 0)
    assert list(kept.links) == [0]
    assert announce(store, recording, NOW, sent=(0,)).arrived == []  # whatever the page says
    put(store, recording, 0)
    assert announce(store, recording, NOW, sent=(0,)).arrived == [0]
    assert arrived(recording) == [0]


def test_a_chunk_that_lacks_bytes_has_not_arrived(store: FolderStore, recording: Recording) -> None:
    announce(store, recording, NOW, 0)
    put(store, recording, 0)
    store.path(f"{recording.pk}/chunks/001-000000").write_bytes(bytes_of(0)[:-1])
    assert announce(store, recording, NOW, sent=(0,)).arrived == []


def test_they_come_in_any_order_and_twice(store: FolderStore, recording: Recording) -> None:
    for number in (4, 0, 2, 4, 1, 3, 0):
        send(store, recording, NOW, number)
    assert arrived(recording) == [0, 1, 2, 3, 4]


def test_what_has_arrived_is_not_sent_again(store: FolderStore, recording: Recording) -> None:
    send(store, recording, NOW, 0)
    again = announce(store, recording, NOW, 0, 1)
    assert (again.arrived, list(again.links)) == ([0], [1])


def test_another_chunk_of_the_same_number_is_refused_in_words(store: FolderStore, recording: Recording) -> None:
    send(store, recording, NOW, 0)
    kept = keep_chunks(recording, ToldChunks(1, (chunk(0, b"other"), chunk(1)), ()), store, NOW)
    assert [(each.number, each.why) for each in kept.refused] == [(0, room.ANOTHER)]
    assert list(kept.links) == [1]


def test_a_chunk_after_the_end_of_its_take_is_refused_in_words(store: FolderStore, recording: Recording) -> None:
    take(recording, NOW, chunk_count=1)
    kept = announce(store, recording, NOW, 0, 1)
    assert [(each.number, each.why) for each in kept.refused] == [(1, room.PAST_THE_END)]
    assert list(kept.links) == [0]


def test_a_take_that_nobody_told_of_has_no_chunks(store: FolderStore, recording: Recording) -> None:
    with pytest.raises(RefusedError, match="does not know of this take"):
        announce(store, recording, NOW, 0, take=2)


def test_late_chunks_of_one_that_is_finished_are_refused_in_words(store: FolderStore, recording: Recording) -> None:
    Recording.objects.update(state=RecordingState.WORKING)
    with pytest.raises(OverError):
        announce(store, recording, NOW, 0)
    assert not Chunk.objects.exists()


def test_a_recording_is_so_long_and_no_longer(
    store: FolderStore, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MOST_RECORDING_BYTES", 2 * len(bytes_of(0)))
    announce(store, recording, NOW, 0, 1)
    announce(store, recording, NOW, 0, 1)
    with pytest.raises(RefusedError, match="GB"):
        announce(store, recording, NOW, 2)


def test_announced_by_two_tabs_at_once_they_are_kept_once(
    store: FolderStore, recording: Recording, transactional_db: None
) -> None:
    kept = at_once(*[partial(announce, store, recording, NOW, 0, 1, 2)] * 3)
    assert all(list(each.links) == [0, 1, 2] for each in kept)
    assert Chunk.objects.count() == 3


def test_the_store_is_asked_outside_of_transactions(
    store: FolderStore, recording: Recording, monkeypatch: pytest.MonkeyPatch, transactional_db: None
) -> None:
    """So that a slow store holds up nobody who writes."""
    send(store, recording, NOW, 0)
    asked = []

    def look(self: FolderStore, key: str) -> Kept | None:
        asked.append(connection.in_atomic_block)
        return None

    monkeypatch.setattr(FolderStore, "look", look)
    announce(store, recording, NOW, 1)
    announce(store, recording, NOW, sent=(1,))
    assert asked == [False]


# --- as the page asks --------------------------------------------------------------------------


@pytest.fixture
def mine(call: Call) -> Recording:
    now = datetime.now(UTC)
    made = begin(call, now, uuid.uuid4())
    take(made, now)
    return made


def batch(**other: Any) -> dict[str, Any]:
    each = chunk(0)
    announced = [{"number": each.number, "size": each.size, "sha256": each.sha256}]
    return {"take": 1, "announced": announced, "sent": [], **other}


def test_the_page_sends_by_the_link_it_gets(tester_client: Client, mine: Recording) -> None:
    address = f"/recordings/{mine.pk}/chunks/"
    link = tell(tester_client, address, batch()).json()["links"]["0"]
    sent = Client().put(
        link["url"], bytes_of(0), content_type=link["headers"]["Content-Type"]
    )  # whoever has the link, and for this one chunk alone
    assert sent.status_code in {200, 201, 204}
    assert tell(tester_client, address, batch(announced=[], sent=[0])).json()["arrived"] == [0]
    assert arrived(mine) == [0]


@pytest.mark.parametrize(
    "odd",
    [
        batch(take=0),
        batch(announced={}),
        batch(announced=[{"number": 0, "size": 16 * 1024**2 + 1, "sha256": "0" * 64}]),
        batch(announced=[{"number": 0, "size": 0, "sha256": "0" * 64}]),
        batch(announced=[{"number": 50_000, "size": 1, "sha256": "0" * 64}]),
        batch(announced=[{"number": 0, "size": 1, "sha256": "0" * 63 + "Z"}]),
        batch(sent=[-1]),
        batch(sent=list(range(21))),
        batch(sent="0"),
    ],
)
def test_what_is_odd_is_refused_in_words(tester_client: Client, mine: Recording, odd: Any) -> None:
    answer = tell(tester_client, f"/recordings/{mine.pk}/chunks/", odd)
    assert (answer.status_code, answer.json()["error"]) == (422, "malformed")
    assert not Chunk.objects.exists()


def test_a_body_that_is_no_json_or_too_long_is_refused_in_words(tester_client: Client, mine: Recording) -> None:
    for body in ("{", "[" * 60_000, '{"a":"%s"}' % ("a" * 100_000)):
        answer = tester_client.post(f"/recordings/{mine.pk}/chunks/", body, content_type="application/json")
        assert (answer.status_code, answer.json()["error"]) == (422, "malformed")


def test_a_store_that_is_down_is_said_so_and_nothing_is_lost(
    tester_client: Client, mine: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Down(FolderStore):
        def look(self, key: str) -> Kept | None:
            raise StoreError("It does not answer.")

    monkeypatch.setattr(recorder, "recordings_store", lambda: Down(Path("/nowhere"), "secret", str))
    address = f"/recordings/{mine.pk}/chunks/"
    assert tell(tester_client, address, batch()).status_code == 200
    answer = tell(tester_client, address, batch(announced=[], sent=[0]))
    assert (answer.status_code, answer.json()["error"]) == (503, "store")
    assert "can't be reached" in answer.json()["message"]
    assert Chunk.objects.get().arrived_at is None


def test_a_person_asks_so_often_in_a_minute(tester_client: Client, mine: Recording, settings: Any) -> None:
    settings.RECORDER_ASKS_A_MINUTE = 1
    address = f"/recordings/{mine.pk}/chunks/"
    assert tell(tester_client, address, batch()).status_code == 200
    refused = tell(tester_client, address, batch())
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) >= 1
    cache.clear()  # where the refusal is remembered
