"""Say once where the call clock stands in a recording: all moments are found by it, by everybody."""

from __future__ import annotations

from django.db import transaction

from emma_eval.accounts.models import User

from ...models import Recording
from ...review.blind import REVIEWERS
from ..trail import ALIGNED, record_act

MOST_OFFSET_MS = 12 * 3600 * 1000


class TooFarError(Exception):
    """Nothing was changed: no recording is that far off."""


def may_align(user: User, recording: Recording) -> bool:
    """Its tester, and those who review."""
    return recording.tester_id == user.pk or user.has_role(*REVIEWERS)


def offset_for(recording: Recording, call_ms: int, at_ms: int) -> int:
    """The offset with which what happened at `call_ms` of the call clock is found at `at_ms` of the recording."""
    before = [each for each in recording.segments if each["call_ms"] <= call_ms] or recording.segments[:1]
    if not before:
        return at_ms - call_ms
    within = min(max(0, call_ms - before[-1]["call_ms"]), before[-1]["lasts_ms"])
    return at_ms - int(before[-1]["file_ms"]) - int(within)


@transaction.atomic
def align_recording(by: User, recording: Recording, offset_ms: int) -> None:
    """Keep the offset, and who said so. Raises TooFarError."""
    if abs(offset_ms) > MOST_OFFSET_MS:
        raise TooFarError
    locked = Recording.objects.select_for_update(no_key=True, of=("self",)).get(pk=recording.pk)
    before = locked.offset_ms
    if before != offset_ms:
        Recording.objects.filter(pk=recording.pk).update(offset_ms=offset_ms)
        record_act(by, ALIGNED, recording, before_ms=before, after_ms=offset_ms)
    recording.offset_ms = offset_ms
