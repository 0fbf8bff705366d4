"""Look through the store for what no recording has, and remove it once it is sure that none will."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, islice

from emma_eval.adapters.recordings import Store

from ...models import Recording, RecordingState, Stray
from .empty_folder import remove_under

STRAY_FOR = timedelta(days=6)  # seen by two weekly sweeps
MOST_AT_ONCE = 1_000  # folders of one run that are emptied; the next goes on
AT_ONCE = 500


@dataclass
class Swept:
    """What one sweep did: folders seen for the first time without a recording, and folders emptied."""

    noted: int = 0
    emptied: int = 0


def sweep_strays(store: Store, now: datetime) -> Swept:
    """Empty folders of recordings that were removed, and those that were nobody's in an earlier sweep already.

    What no recording has when it is first seen is noted and left alone: a backup of the database that is put back may
    be older than the files, and the newer one may follow. A folder of a recording that stands is never touched, and
    neither is anything whose name isn't that of a recording.
    """
    swept, folders = Swept(), _folders(store)
    while some := list(islice(folders, AT_ONCE)):
        _sweep(store, some, now, swept)
        if swept.emptied >= MOST_AT_ONCE:
            break
    return swept


def _sweep(store: Store, folders: list[uuid.UUID], now: datetime, swept: Swept) -> None:
    states = dict(Recording.objects.filter(pk__in=folders).values_list("pk", "state"))
    Stray.objects.filter(folder__in=states).delete()
    for folder in folders:
        state = states.get(folder)
        if state == RecordingState.REMOVED or (state is None and _is_nobodys(folder, now, swept)):
            remove_under(store, f"{folder}/")
            Stray.objects.filter(folder=folder).delete()
            swept.emptied += 1


def _is_nobodys(folder: uuid.UUID, now: datetime, swept: Swept) -> bool:
    """Whether it was nobody's for long; from now on it is known where it is seen for the first time."""
    stray, is_new = Stray.objects.get_or_create(folder=folder, defaults={"seen_at": now})
    swept.noted += is_new
    return stray.seen_at <= now - STRAY_FOR


def _folders(store: Store) -> Iterator[uuid.UUID]:
    """Those that are named as recordings are. Stores list what they have in the order of its keys."""
    for name, _ in groupby(store.under(""), lambda kept: kept.key.partition("/")[0]):
        if key := _as_key(name):
            yield key


def _as_key(name: str) -> uuid.UUID | None:
    try:
        key = uuid.UUID(name)
    except ValueError:
        return None
    return key if str(key) == name else None
