"""Which of many results have a recording, and how far it is: one query for a page of rows."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from emma_eval.accounts.models import User

from ..models import BEST_FIRST, Recording, RecordingState

_PLACE = {state.value: place for place, state in enumerate(BEST_FIRST)}


@dataclass(frozen=True)
class ToldRecording:
    """The recording of a call: the one that can be played, or what comes nearest to it."""

    uuid: uuid.UUID
    state: RecordingState

    @property
    def page(self) -> str:
        """Its whole address."""
        return f"{settings.ORIGIN}/recordings/{self.uuid}/"

    @property
    def is_playable(self) -> bool:
        return self.state == RecordingState.READY

    @property
    def is_expected(self) -> bool:
        """It can be played, or is on its way."""
        return self.state != RecordingState.FAILED


Recorded = dict[tuple[int, uuid.UUID], ToldRecording]


def recordings_of_rows(user: User, rows: Iterable[Any]) -> Recorded:
    """By tester and call of these rows, which must be of results that this person may see.

    A recording of a call of which something else is kept from them is not told of.
    """
    calls = {(row.tester_id, row.call_uuid) for row in rows}
    if not calls:
        return {}
    known = Recording.objects.of_known_calls(is_trained=user.is_trained)
    of_calls = known.standing().filter(
        tester__in={tester for tester, _ in calls}, call_uuid__in={call for _, call in calls}
    )
    found = of_calls.order_by("created_at").values_list("tester_id", "call_uuid", "uuid", "state")
    recorded: Recorded = {}
    for tester, call, key, state in sorted(found, key=lambda row: _PLACE[row[3]], reverse=True):
        recorded[tester, call] = ToldRecording(key, RecordingState(state))
    return recorded
