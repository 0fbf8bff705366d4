"""Empty the store of a recording that was removed, until nothing of it is there and no link can bring more."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice

from django.db import transaction

from emma_eval.adapters.recordings import Store, StoreError
from emma_eval.outbox.deliver import hold_on
from emma_eval.outbox.registry import TryLaterError

from ...models import Recording, RecordingState
from ..trail import EMPTIED, record_act

# The last links that were given hold for minutes, and what is sent by them may be slow.
LINKS_ARE_OVER = timedelta(hours=1)
NEXT_TRY = timedelta(minutes=5)
AT_ONCE = 500

log = logging.getLogger(__name__)


def empty_folder(store: Store, key: str, uploads: Iterable[Sequence[str]], now: datetime) -> None:
    """Remove whatever is there, at once and again when links are over; then say so in the trail.

    Raises TryLaterError until then. A store that fails is tried for as long as it takes.
    """
    recording = Recording.objects.filter(pk=key, state=RecordingState.REMOVED, emptied_at=None).first()
    if recording is None or recording.removed_at is None:
        return
    try:
        _drop(store, uploads)
        remove_under(store, recording.folder)
    except StoreError as fault:
        log.warning("the store could not be emptied of a removed recording: %s", fault)
        raise TryLaterError(str(fault), NEXT_TRY, counts=False) from fault
    wait = recording.removed_at + LINKS_ARE_OVER - now
    if wait > timedelta(0):
        raise TryLaterError("links that still hold may bring more", wait, counts=False)
    _note_emptied(recording, now)


def remove_under(store: Store, folder: str) -> int:
    """Everything whose key begins so, and how much that was."""
    found, removed = (kept.key for kept in store.under(folder)), 0
    while keys := list(islice(found, AT_ONCE)):
        store.remove(keys)
        removed += len(keys)
        hold_on()
    return removed


def _drop(store: Store, uploads: Iterable[Sequence[str]]) -> None:
    for key, upload_id in uploads:
        store.drop_parts(key, upload_id)


@transaction.atomic
def _note_emptied(recording: Recording, now: datetime) -> None:
    if Recording.objects.filter(pk=recording.pk, emptied_at=None).update(emptied_at=now):
        record_act(None, EMPTIED, recording)
