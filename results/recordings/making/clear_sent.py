"""Clear away what a recording was made of, once the playable file is seen to be in the store."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from emma_eval.adapters.recordings import Store, StoreError

from ...models import Chunk, Recording, RecordingState
from ..removal.empty_folder import remove_under

LOOKED_AFTER_FOR = timedelta(days=7)
log = logging.getLogger(__name__)


def clear_sent(recording: Recording, store: Store) -> None:
    """Remove chunks and what was sent. Run twice, it finds nothing more; what is not ready keeps all of it."""
    if recording.state != RecordingState.READY:
        return
    kept = store.look(recording.key)
    if kept is None or kept.size != recording.size:
        log.error("the file of %s is not in the store as it was made: what was sent stays", recording)
        return
    remove_under(store, f"{recording.folder}chunks/")
    store.remove([f"{recording.folder}sent"])
    Chunk.objects.filter(take__recording=recording).delete()


def clear_what_was_left(store: Store, now: datetime) -> int:
    """Clear away after those that became ready this week: a worker that died may have left something. How many."""
    done = 0
    for recording in Recording.objects.playable().filter(ready_at__gt=now - LOOKED_AFTER_FOR):
        if not _has_something_left(recording, store):
            continue
        try:
            clear_sent(recording, store)
            done += 1
        except StoreError as cause:  # next time; the others may be cleared all the same
            log.warning("%s waits to be cleared up after: %s", recording, cause)
    return done


def _has_something_left(recording: Recording, store: Store) -> bool:
    try:
        has_chunks = next(iter(store.under(f"{recording.folder}chunks/")), None) is not None
        return has_chunks or store.look(f"{recording.folder}sent") is not None
    except StoreError:
        return False
