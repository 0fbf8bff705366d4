"""Say once where the call clock stands in a recording: all moments are found by it, by everybody."""

from __future__ import annotations

from django.db import transaction

from emma_eval.accounts.models import User

from ...models import Recording
from ..trail import ALIGNED, record_act

MOST_OFFSET_MS = 12 * 3600 * 1000


class TooFarError(Exception):
    """Nothing was changed: no recording is that far off."""


def offset_for(recording: Recording, call_ms: int, at_ms: int) -> int:
    """The offset with which what happened at `call_ms` of the call clock is found at `at_ms` of the recording."""
    return at_ms - recording.unaligned_ms(call_ms)


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
