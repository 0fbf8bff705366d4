"""Recordings go by age where the site is told to; what nobody finished and what no recording has is swept, no more."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from emma_eval.accounts.models import AuditEntry, User
from results.models import GoldAnswer, Origin, Recording, RecordingState, Stray
from results.recordings.removal import forget_recordings as act
from results.recordings.removal import sweep_strays as sweeping
from results.recordings.removal.removal_reasons import Reason
from results.recordings.removal.remove_recording import remove_recording
from results.recordings.removal.sweep_strays import STRAY_FOR, sweep_strays
from results.recordings.store import folder_of_this_site, recordings_store
from results.tasks import forget_recordings, sweep_recordings
from tests import make
from tests.stores import use_folder

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

CALL = uuid.UUID("0190b5a0-0000-4000-8000-0000000000ac")


@pytest.fixture(autouse=True)
def _folder(settings: Settings, tmp_path: Path) -> None:
    use_folder(settings, tmp_path / "recordings")


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def recording(tester: User, days_old: int = 0, **fields: Any) -> Recording:
    made = make.recording(tester, CALL, **fields)
    then = timezone.now() - timedelta(days=days_old)
    Recording.objects.filter(pk=made.pk).update(created_at=then, heard_at=then)
    return made


def receiving(tester: User, days_old: int, origin: Origin) -> Recording:
    unready = {"key": "", "duration_ms": None, "ready_at": None, "state": RecordingState.RECEIVING}
    return recording(tester, days_old, origin=origin, **unready)


def put(key: str) -> Path:
    folder = folder_of_this_site()
    assert folder
    place = folder.path(key)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(b"sound")
    return place


def standing() -> set[uuid.UUID]:
    return set(Recording.objects.standing().values_list("pk", flat=True))


# --- by age --------------------------------------------------------------------------------------------


def test_nothing_goes_by_age_unless_the_site_is_told_to(tester: User) -> None:
    old = recording(tester, 4_000)
    forget_recordings()
    assert standing() == {old.pk}


def test_what_is_older_goes_by_the_same_act_and_what_is_younger_stays(
    tester: User, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.RECORDINGS_KEPT_DAYS = 90
    old, young = recording(tester, 91), recording(tester, 89)
    put(old.key)
    with caplog.at_level("INFO"):
        forget_recordings()
        forget_recordings()
    assert standing() == {young.pk}
    gone = Recording.objects.get(pk=old.pk)
    assert (gone.removed_by, gone.removed_because) == (None, Reason.KEPT_LONG_ENOUGH.label)
    (line,) = AuditEntry.objects.filter(action="removed a recording")
    assert (line.actor, line.details["reason"]) == (None, "kept_long_enough")
    assert caplog.text.count("removed 1 recordings that were kept for 90 days") == 1


def test_gold_is_no_exception_or_it_would_be_known_by_what_is_left(
    tester: User, eval_lead: User, now: datetime
) -> None:
    result = make.result(tester, make.script(), make.build(), call_uuid=CALL)
    GoldAnswer.objects.create(result=result, tags=[], why="Known.", set_by=eval_lead)
    recording(tester, 91)
    assert act.forget_recordings(now, 90) == 1


def test_a_run_that_dies_in_the_middle_is_gone_on_with(
    tester: User, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(act, "AT_ONCE", 2)
    for _ in range(5):
        recording(tester, 91)
    left = iter([remove_recording] * 3)

    def dies(*args: Any) -> bool:
        try:
            return next(left)(*args)
        except StopIteration:
            raise MemoryError from None

    monkeypatch.setattr(act, "remove_recording", dies)
    with pytest.raises(MemoryError):
        act.forget_recordings(now, 90)
    assert len(standing()) == 2
    monkeypatch.setattr(act, "remove_recording", remove_recording)
    assert act.forget_recordings(now, 90) == 2
    assert standing() == set()


# --- what nobody finished ------------------------------------------------------------------------------


def test_uploads_that_stood_still_for_two_weeks_go_and_what_was_recorded_in_the_page_does_not(
    tester: User, now: datetime
) -> None:
    kept = {
        receiving(tester, 13, Origin.UPLOADED).pk,
        receiving(tester, 40, Origin.RECORDED).pk,
        recording(tester, 400, origin=Origin.UPLOADED).pk,
        recording(tester, 400, origin=Origin.UPLOADED, state=RecordingState.WORKING).pk,
    }
    receiving(tester, 15, Origin.UPLOADED)
    receiving(tester, 15, Origin.COPIED)
    assert act.forget_unfinished(now) == 2
    assert standing() == kept
    assert Recording.objects.exclude(pk__in=kept).first().removed_because == Reason.UNFINISHED.label  # type: ignore[union-attr]


# --- what no recording has -----------------------------------------------------------------------------


def test_a_folder_of_a_recording_that_stands_is_never_touched_however_old_and_in_whatever_state(
    tester: User, now: datetime
) -> None:
    states = [state for state in RecordingState if state != RecordingState.REMOVED]
    files = [put(f"{recording(tester, 4_000, state=state).folder}chunks/000-000000") for state in states]
    Stray.objects.bulk_create(Stray(folder=pk, seen_at=now - 9 * STRAY_FOR) for pk in standing())
    for weeks in range(3):
        sweep_strays(recordings_store(), now + timedelta(weeks=weeks))
    assert all(file.exists() for file in files)
    assert not Stray.objects.exists(), "who came back is no stray any more"


def test_what_the_database_does_not_know_goes_at_the_second_sweep(now: datetime) -> None:
    """A backup that is older than the files is put back: there is time to bring the newer rows."""
    file = put(f"{uuid.uuid4()}/media.mp4")
    store = recordings_store()
    assert vars(sweep_strays(store, now)) == {"noted": 1, "emptied": 0}
    assert vars(sweep_strays(store, now + timedelta(days=1))) == {"noted": 0, "emptied": 0}
    assert file.exists()
    assert vars(sweep_strays(store, now + STRAY_FOR)) == {"noted": 0, "emptied": 1}
    assert not file.exists()
    assert not Stray.objects.exists()


def test_what_came_late_to_a_removed_recording_goes_at_once(tester: User, now: datetime) -> None:
    made = recording(tester)
    remove_recording(made, tester, Reason.ASKED)
    file = put(f"{made.folder}chunks/000-000009")
    assert sweep_strays(recordings_store(), now).emptied == 1
    assert not file.exists()


def test_what_is_not_named_as_recordings_are_is_left_alone(now: datetime) -> None:
    names = ("by-hand/notes.txt", "readme.txt", f"{uuid.uuid4().hex}/media.mp4", f"{str(uuid.uuid4()).upper()}/a.mp4")
    files = [put(name) for name in names]
    for weeks in range(3):
        sweep_strays(recordings_store(), now + timedelta(weeks=weeks))
    assert all(file.exists() for file in files)


def test_one_sweep_empties_so_many_and_the_next_goes_on(
    tester: User, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "MOST_AT_ONCE", 2)
    monkeypatch.setattr(sweeping, "AT_ONCE", 1)
    for _ in range(3):
        made = recording(tester)
        put(made.key)
        remove_recording(made, tester, Reason.ASKED)
    assert [sweep_strays(recordings_store(), now).emptied for _ in range(3)] == [2, 1, 0]


def test_the_weekly_task_does_both_and_tells_numbers_alone(tester: User, caplog: pytest.LogCaptureFixture) -> None:
    receiving(tester, 15, Origin.UPLOADED)
    stray = uuid.uuid4()
    put(f"{stray}/media.mp4")
    with caplog.at_level("INFO"):
        sweep_recordings()
    assert "removed 1 unfinished recordings; folders without a recording: 1 seen, 0 emptied" in caplog.text
    assert str(stray) not in caplog.text
