"""Begin to record a call, and each take of it: once, however often and however late it is asked for.

The page names the recording, numbers its takes, and may have recorded for hours before it could ask. So whoever knows
the name goes on with the recording, also after a crash: it is kept where the chunks are that are not sent yet.
"""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from emma_eval.accounts import throttle

from ...filing.file_result import take_turn
from ...models import MOST_CALL_MS, Call, Origin, Recording, RecordingState, Take
from .telling import ToldBeginning, ToldTake

IS_ALIVE_FOR = timedelta(seconds=30)  # a page that records gives a sign of life with each chunk, every few seconds
MOST_RECORDINGS_OF_A_CALL = 20
MOST_TAKES = 200
RECORDINGS = throttle.Limit("recording", 60, timedelta(hours=1))

NOT_THIS_CALL = "This recording is of another call."
TOO_MANY = f"A call has at most {MOST_RECORDINGS_OF_A_CALL} recordings, and this one has them."
TOO_MANY_TAKES = f"A recording has at most {MOST_TAKES} takes. Finish it, and begin another one."
OTHER_TAKE = "The site has another take of this number."
OVER = "This recording is finished: nothing is added to it any more."
ELSEWHERE = "This call is being recorded in another tab or on another device."


class RefusedError(Exception):
    """What was asked can't be; its text says why, for people."""


class OverError(RefusedError):
    """The recording is no longer being received."""

    def __init__(self) -> None:
        super().__init__(OVER)


class RecordedElsewhereError(RefusedError):
    """Another page records the call just now. Nothing was begun."""

    def __init__(self) -> None:
        super().__init__(ELSEWHERE)


def begin_recording(call: Call, told: ToldBeginning, now: datetime) -> Recording:
    """The call's recording of this name; a new one the first time, unless another page records the call just now.

    A page that has recorded already, without reaching the site, is not refused: what it has belongs to the call.
    Raises RefusedError, or throttle.TooManyError.
    """
    with transaction.atomic():
        take_turn(call.tester)
        there = Recording.objects.select_for_update(no_key=True).filter(pk=told.recording).first()
        if there is None:
            return _begin(call, told, now)
        if (there.tester_id, there.call_uuid, there.origin) != (call.tester_id, call.uuid, Origin.RECORDED):
            raise RefusedError(NOT_THIS_CALL)
        return hear(there, now)


def _begin(call: Call, told: ToldBeginning, now: datetime) -> Recording:
    others = Recording.objects.filter(tester=call.tester, call_uuid=call.uuid, origin=Origin.RECORDED)
    if not told.has_begun and _is_recording(others, now):
        raise RecordedElsewhereError
    if others.count() >= MOST_RECORDINGS_OF_A_CALL:
        raise RefusedError(TOO_MANY)
    throttle.spend(RECORDINGS, str(call.tester_id))
    consented_at = now - timedelta(milliseconds=min(told.consent_age_ms, MOST_CALL_MS))
    made = Recording.objects.create(
        pk=told.recording, tester=call.tester, call_uuid=call.uuid, origin=Origin.RECORDED, consented_at=consented_at
    )
    return hear(made, now)


def _is_recording(others: QuerySet[Recording], now: datetime) -> bool:
    """A page that is heard of runs a take, or is about to begin its first; one that stopped only sends what is left."""
    heard_of = others.filter(state=RecordingState.RECEIVING, heard_at__gt=now - IS_ALIVE_FOR)
    return heard_of.filter(takes__chunk_count=None).exists()  # without a take, too


def hear(recording: Recording, now: datetime) -> Recording:
    """Its page gave a sign of life."""
    recording.heard_at = now
    recording.save(update_fields=["heard_at"])
    return recording


def receiving(pk: uuid.UUID, now: datetime) -> Recording:
    """The recording, locked in the caller's transaction, with a sign of life. Raises OverError."""
    found = Recording.objects.select_for_update(no_key=True).get(pk=pk)
    if found.state != RecordingState.RECEIVING:
        raise OverError
    return hear(found, now)


def begin_take(recording: Recording, told: ToldTake, now: datetime) -> Take:
    """Keep a take, or what is known of it by now: how many chunks it has, and who was heard in it."""
    with transaction.atomic():
        recording = receiving(recording.pk, now)
        there = recording.takes.filter(number=told.number).first()
        if there is None:
            return _new_take(recording, told)
        is_other = (there.media_type, there.began_at_ms) != (told.media_type, told.began_at_ms)
        if is_other or there.chunk_count not in {None, told.chunk_count}:
            raise RefusedError(OTHER_TAKE)
        there.chunk_count, there.has_tester, there.has_emma = told.chunk_count, told.has_tester, told.has_emma
        there.save(update_fields=["chunk_count", "has_tester", "has_emma"])
        return there


def _new_take(recording: Recording, told: ToldTake) -> Take:
    if recording.takes.count() >= MOST_TAKES:
        raise RefusedError(TOO_MANY_TAKES)
    return recording.takes.create(
        number=told.number,
        media_type=told.media_type,
        began_at_ms=told.began_at_ms,
        has_tester=told.has_tester,
        has_emma=told.has_emma,
        chunk_count=told.chunk_count,
    )
