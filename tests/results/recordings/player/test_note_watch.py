"""Who was given a recording to watch is kept, once for a sitting."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from emma_eval.accounts.models import AuditEntry, User
from results.models import Recording, Watch
from results.recordings.player.note_watch import note_watch
from scripts_catalog import taxonomy
from scripts_catalog.models import Script
from tests import make
from tests.at_once import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

CALL = uuid.UUID("0190b5a0-0000-4000-8000-0000000000aa")


@pytest.fixture
def recording(tester: User) -> Recording:
    return make.recording(tester, CALL)


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def lines() -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(action="watched a recording").order_by("id"))


def test_a_sitting_is_one_row_and_one_line_however_often_its_links_are_renewed(
    recording: Recording, eval_member: User, now: datetime
) -> None:
    for minutes in (0, 10, 25, 54, 80):
        watch = note_watch(recording, eval_member, now + timedelta(minutes=minutes))
    assert Watch.objects.get() == watch
    assert watch.last_at == now + timedelta(minutes=80)
    assert len(lines()) == 1


def test_who_comes_back_after_half_an_hour_sits_down_anew(
    recording: Recording, eval_member: User, now: datetime
) -> None:
    note_watch(recording, eval_member, now)
    note_watch(recording, eval_member, now + timedelta(minutes=31))
    assert Watch.objects.count() == len(lines()) == 2


def test_each_person_and_each_recording_has_its_own(
    recording: Recording, tester: User, eval_member: User, now: datetime
) -> None:
    for user in (tester, eval_member):
        note_watch(recording, user, now)
        note_watch(make.recording(tester, CALL), user, now)
    assert Watch.objects.count() == 4


def test_a_renewal_that_is_late_moves_nothing_back(recording: Recording, eval_member: User, now: datetime) -> None:
    note_watch(recording, eval_member, now)
    assert note_watch(recording, eval_member, now - timedelta(minutes=5)).last_at == now


def test_the_trail_names_recording_call_and_person_and_no_words(
    recording: Recording, tester: User, eval_member: User, now: datetime
) -> None:
    recording.name, recording.link = "Tess at home.mp4", "https://files.example.test/1"
    recording.save()
    note_watch(recording, eval_member, now)
    (line,) = lines()
    assert (line.actor, line.target, line.about) == (eval_member, recording.pk.hex, tester.pk)
    assert line.details == {"call": str(CALL), "person": tester.pk}


def test_a_line_is_hidden_once_the_call_is_for_the_trained_alone(
    recording: Recording, tester: User, administrator: User, now: datetime
) -> None:
    script = make.script("quiet-talk")
    make.call(tester, script, uuid=CALL)
    note_watch(recording, administrator, now)
    seen = AuditEntry.objects.visible_to(administrator).filter(action="watched a recording")
    assert seen.count() == 1
    Script.objects.filter(pk=script.pk).update(area=taxonomy.SAFETY)
    assert seen.all().count() == 0
    trained = make.user("trained@example.test", is_trained=True)
    assert AuditEntry.objects.visible_to(trained).filter(action="watched a recording").count() == 1


def test_a_line_about_a_call_of_safety_stays_hidden_whatever_becomes_of_the_call(
    recording: Recording, tester: User, administrator: User, trained_tester: User, now: datetime
) -> None:
    script = make.script("quiet-talk", area=taxonomy.SAFETY)
    call = make.call(tester, script, uuid=CALL)
    note_watch(recording, trained_tester, now)
    call.delete()
    assert not AuditEntry.objects.visible_to(administrator).filter(action="watched a recording").exists()


@pytest.mark.django_db(transaction=True)
def test_two_requests_of_one_page_at_once_are_one_sitting(
    recording: Recording, eval_member: User, now: datetime
) -> None:
    for number in range(4):
        at = now + timedelta(hours=number)
        found = at_once(*[lambda at=at: note_watch(recording, eval_member, at)] * 4)
        assert len({watch.pk for watch in found}) == 1, found
    assert Watch.objects.count() == len(lines()) == 4
