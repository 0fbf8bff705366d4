"""Finish a recording: once all of it has arrived, or with what there is of it, it is handed over to be made ready."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from emma_eval.adapters.recordings import Store, StoreError

from ...models import Chunk, Origin, Recording, RecordingState, Sides, Take
from ..hand_over import hand_over
from .begin_recording import hear
from .keep_chunks import look_for

ABANDONED_AFTER = timedelta(hours=24)
MOST_NUMBERS_SAID = 100
NOTHING = "Nothing of it was recorded."
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Missing:
    """What a take lacks: chunks by their numbers, the first hundred of them; or it was not said that it has ended."""

    take: int
    count: int
    numbers: tuple[int, ...]
    is_open: bool


@dataclass(frozen=True)
class Finished:
    """How the recording stands now, and what must arrive before it can be finished."""

    state: str
    missing: tuple[Missing, ...] = ()


def finish_recording(recording: Recording, now: datetime) -> Finished:
    """Hand the recording over if all of it has arrived; say what is missing if not. Asked twice, it says the same."""
    with transaction.atomic():
        if not _is_receiving(recording):
            return Finished(recording.state)
        hear(recording, now)
        missing = _missing(recording)
        if missing:
            return Finished(recording.state, missing)
        return _close(recording, (), now)


def finish_as_it_is(recording: Recording, store: Store, now: datetime) -> Finished:
    """Hand the recording over with what has arrived, and say in it what never did.

    What was sent but never told of is looked for first. Raises a StoreError of the store; nothing is changed then.
    """
    unseen = Chunk.objects.filter(take__recording=recording, arrived_at=None).select_related("take")
    look_for(unseen.iterator(), store, now)
    with transaction.atomic():
        if not _is_receiving(recording):
            return Finished(recording.state)
        return _close(recording, _missing(recording), now)


def finish_abandoned(store: Store, now: datetime) -> int:
    """Finish recordings whose page never came back; how many."""
    abandoned = Recording.objects.filter(
        state=RecordingState.RECEIVING, origin=Origin.RECORDED, heard_at__lt=now - ABANDONED_AFTER
    )
    done = 0
    for recording in abandoned:
        try:
            finish_as_it_is(recording, store, now)
            done += 1
        except StoreError as cause:  # next time; the others may be finished all the same
            log.warning("%s waits to be finished: %s", recording, cause)
    return done


def _is_receiving(recording: Recording) -> bool:
    """Read and lock it as it is now. One that is gone meanwhile, since nothing was in it, is failed."""
    now = Recording.objects.select_for_update(no_key=True).filter(pk=recording.pk).first()
    recording.state = now.state if now else RecordingState.FAILED
    return recording.state == RecordingState.RECEIVING


def _missing(recording: Recording) -> tuple[Missing, ...]:
    return tuple(each for each in map(_missing_of, recording.takes.all()) if each.count or each.is_open)


def _missing_of(take: Take) -> Missing:
    chunks = dict(take.chunks.values_list("number", "arrived_at"))
    expected = take.chunk_count if take.chunk_count is not None else max(chunks, default=-1) + 1
    missing = [number for number in range(expected) if not chunks.get(number)]
    return Missing(take.number, len(missing), tuple(missing[:MOST_NUMBERS_SAID]), take.chunk_count is None)


def _close(recording: Recording, missing: tuple[Missing, ...], now: datetime) -> Finished:
    if not Chunk.objects.filter(take__recording=recording).exists():
        Recording.objects.filter(pk=recording.pk).delete()  # begun, and then not recorded: there is nothing to tell of
        return Finished(RecordingState.FAILED)
    takes = [take for take in recording.takes.all() if take.chunks.exclude(arrived_at=None).exists()]
    recording.sides, recording.sides_because = _sides_of(takes)
    recording.fault = _fault_of(missing) if takes else NOTHING
    if not takes:
        recording.state, recording.finished_at = RecordingState.FAILED, now
    recording.save(update_fields=["sides", "sides_because", "fault", "state", "finished_at"])
    if takes:
        hand_over(recording)
    return Finished(recording.state)


def _fault_of(missing: tuple[Missing, ...]) -> str:
    count = sum(each.count for each in missing)
    if count:
        return never_arrived(count)
    return "Its page never said that this is all: the end may be missing." if missing else ""


def never_arrived(count: int) -> str:
    """What is said of a recording that lacks so many chunks."""
    return f"{count} {'piece' if count == 1 else 'pieces'} of a few seconds never arrived."


def _sides_of(takes: list[Take]) -> tuple[str, str]:
    """Two sides only where every take has both: otherwise it can't be told throughout who spoke when."""
    testers, emmas = {take.has_tester for take in takes}, {take.has_emma for take in takes}
    if testers == emmas == {True}:
        return Sides.TWO, "Recorded beside the call: the microphone left, the sound of the screen or tab right."
    if testers | emmas <= {False}:
        return Sides.NONE, "Neither the microphone nor the sound of the screen or tab was heard."
    if True not in emmas:
        return Sides.ONE, "No sound of the screen or tab was heard: the tester alone is in it."
    if True not in testers:
        return Sides.ONE, "Nothing was heard from the microphone: Emma alone is in it."
    return Sides.ONE, "In a part of it one of the two sides was not heard."
