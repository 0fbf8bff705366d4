"""Notes while listening: added once, withdrawn by their author, and kept from those who must judge by themselves."""

from __future__ import annotations

import uuid

import pytest
from django.utils import timezone

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from results.models import QueuedFor, Recording, RecordingNote, Result
from results.recordings.player.note_on_recording import note_on_recording, withdraw_note
from results.recordings.player.withhold_notes import notes_shown_to
from results.review.file_review import Judged, file_review
from results.review.hold_result import begin_review
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


@pytest.fixture
def result(tester: User) -> Result:
    about = {"call_uuid": uuid.uuid4(), "queued_for": QueuedFor.VERY_LOW, "problems": ("too_long",)}
    return make.result(tester, make.script(), make.build(), **about)


@pytest.fixture
def recording(tester: User, result: Result) -> Recording:
    return make.recording(tester, result.call_uuid)


def words_for(user: User, recording: Recording) -> list[str]:
    return [note.words for note in notes_shown_to(user, recording)]


def test_the_same_note_sent_twice_is_one(tester: User, recording: Recording) -> None:
    first = note_on_recording(tester, recording, 4_000, "Early")
    assert note_on_recording(tester, recording, 4_000, "Early") == first
    assert note_on_recording(tester, recording, 4_100, "Early") != first
    assert AuditEntry.objects.filter(action="noted on a recording").count() == 2


def test_only_ones_own_is_withdrawn_and_its_words_are_gone(
    tester: User, eval_member: User, recording: Recording
) -> None:
    note = note_on_recording(tester, recording, 4_000, "Early")
    assert not withdraw_note(eval_member, note)
    assert words_for(eval_member, recording) == ["Early"]
    assert withdraw_note(tester, note)
    assert not withdraw_note(tester, note)
    assert words_for(eval_member, recording) == []
    assert RecordingNote.objects.get().words == ""


def test_a_reviewer_does_not_read_what_another_noted_before_all_reviews_are_in(
    tester: User, eval_member: User, manager: User, recording: Recording, result: Result, settings: object
) -> None:
    second = make.user("second@example.test", Role.EVAL_TEAM)
    note_on_recording(tester, recording, 1_000, "Before")
    begin_review(eval_member, result, timezone.now())
    note_on_recording(eval_member, recording, 2_000, "I find her early")
    note_on_recording(tester, recording, 3_000, "So do I")
    note_on_recording(second, recording, 4_000, "My own")
    assert words_for(second, recording) == ["Before", "My own"]
    assert words_for(eval_member, recording) == ["Before", "I find her early", "So do I", "My own"]
    assert len(words_for(manager, recording)) == 4
    file_review(eval_member, result.pk, Judged(("too_long",), ""), based_on=1, now=timezone.now())
    assert len(words_for(second, recording)) == 4
