"""Drafts and calls that nobody came back to are forgotten where the site is told to, and nowhere else."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from emma_eval.accounts.models import User
from results.models import Call, Draft, Moment
from results.recordings.removal.removal_reasons import Reason
from results.recordings.removal.remove_recording import remove_recording
from results.tasks import forget_old
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


@pytest.fixture(autouse=True)
def _old_and_new(tester: User) -> None:
    """A draft and a call of a hundred days ago, the same of today, and an old call with a result."""
    script, long_ago = make.script("plain-talk"), timezone.now() - timedelta(days=100)
    for _ in range(2):
        Draft.objects.create(tester=tester, uuid=uuid.uuid4(), script=script)
        make.call(tester, script, moments=("she laughed",))
    filed = make.call(tester, script, moments=("kept",))
    make.result(tester, script, make.build(), call_uuid=filed.uuid)
    Draft.objects.filter(pk=Draft.objects.earliest("pk").pk).update(saved_at=long_ago)
    Call.objects.filter(pk__in=[Call.objects.earliest("pk").pk, filed.pk]).update(created_at=long_ago)


def left() -> tuple[int, int, int]:
    return Draft.objects.count(), Call.objects.count(), Moment.objects.count()


def test_nothing_is_forgotten_unless_the_site_is_told_to() -> None:
    forget_old()
    assert left() == (2, 3, 3)


def test_what_is_old_goes_and_what_has_a_result_stays(settings: Any) -> None:
    settings.DRAFTS_ARE_KEPT_DAYS = settings.CALLS_ARE_KEPT_DAYS = 90
    forget_old()
    forget_old()
    assert left() == (1, 2, 2)
    assert Moment.objects.filter(words="kept").exists()


def test_a_call_that_has_a_recording_stays_until_that_is_removed(tester: User, settings: Any) -> None:
    settings.CALLS_ARE_KEPT_DAYS = 90
    recording = make.recording(tester, Call.objects.earliest("pk").uuid)
    forget_old()
    assert Call.objects.count() == 3
    remove_recording(recording, None, Reason.KEPT_LONG_ENOUGH)
    forget_old()
    assert Call.objects.count() == 2
