"""Which of many results have a recording, and how far it is: a column of their query, or a query for a page of rows."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import OuterRef, Subquery

from emma_eval.accounts.models import User

from ..models import BEST_FIRST, Recording, RecordingQuerySet, RecordingState

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


def one_of_the_call(recordings: RecordingQuerySet) -> Subquery:
    """As a column of results: the key of one of `recordings` that is of the result's call, or nothing.

    Not an `Exists`: where PostgreSQL takes the results for many, it would read all recordings for that.
    """
    of_the_call = recordings.filter(tester=OuterRef("tester"), call_uuid=OuterRef("call_uuid"))
    return Subquery(of_the_call.order_by().values("pk")[:1])


def recordings_of_rows(user: User, rows: Iterable[Any]) -> Recorded:
    """By tester and call of these rows, which must be of results that this person may see.

    A recording of a call of which something else is kept from them is not told of. Calls are looked up by what the
    testers' browsers named them: an index that is asked for many testers and many names is searched for each pair.
    """
    calls = {(row.tester_id, row.call_uuid) for row in rows}
    if not calls:
        return {}
    known = Recording.objects.of_known_calls(is_trained=user.is_trained).standing()
    of_calls = known.filter(call_uuid__in={call for _, call in calls})
    found = of_calls.order_by("created_at").values_list("tester_id", "call_uuid", "uuid", "state")
    recorded: Recorded = {}
    for tester, call, key, state in sorted(found, key=lambda row: _PLACE[row[3]], reverse=True):
        if (tester, call) in calls:
            recorded[tester, call] = ToldRecording(key, RecordingState(state))
    return recorded
