"""Copy a link once more whose copy failed: its host may be well again, or its file open to us by now."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from emma_eval.accounts import throttle
from emma_eval.accounts.models import User
from emma_eval.outbox.enqueue import enqueue

from ...models import Origin, Recording, RecordingState
from .ask_for_copy import COPY_LINK, is_copied_from, is_still_given

COPYING_AGAIN = throttle.Limit("copying a link again", 10, timedelta(minutes=10))


def may_be_copied_again(recording: Recording) -> bool:
    """Whether it failed on its way here, its call still has this link, and we still copy from its host."""
    if (recording.state, recording.origin) != (RecordingState.FAILED, Origin.COPIED) or recording.sent_digest:
        return False
    return is_copied_from(recording.link) and is_still_given(recording)


def copy_again(recording: Recording, by: User) -> bool:
    """False where that can't help. Asked twice, it is done once. Raises TooManyError of the throttle."""
    if not may_be_copied_again(recording):
        return False
    throttle.spend(COPYING_AGAIN, str(by.pk))
    with transaction.atomic():
        failed = Recording.objects.filter(pk=recording.pk, state=RecordingState.FAILED, sent_digest="")
        now = timezone.now()
        if not failed.update(state=RecordingState.RECEIVING, fault="", finished_at=None, heard_at=now):
            return False
        enqueue(COPY_LINK, recording=str(recording.pk))
    return True
