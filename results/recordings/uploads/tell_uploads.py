"""What the page of uploads shows: the call, what there is of it already, and what was begun and not finished."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from emma_eval.accounts.models import User

from ...models import Call, Origin, Recording, RecordingState, Result, ResultQuerySet, Run
from .begin_upload import open_uploads

MOST_CALLS = 50


@dataclass(frozen=True)
class OpenUpload:
    """A file that was begun to be uploaded, and how much of it is known to have arrived."""

    recording: Recording
    size: int
    arrived: int

    @property
    def percent(self) -> int:
        return 100 * self.arrived // self.size


@dataclass(frozen=True)
class ShownCall:
    """A call as its tester knows it. `result` is where a link is pasted, if one is filed."""

    uuid: uuid.UUID
    at: datetime | None
    build: str
    titles: tuple[str, ...]
    result: Result | None


def show_call_of(user: User, call: uuid.UUID) -> ShownCall:
    """The call is known as this tester's own."""
    results = list(_results(user).filter(call_uuid=call).order_by("pk"))
    held = Call.objects.visible_to(user).filter(tester=user, uuid=call).select_related("build").first()
    if results:
        first = results[0]
        return ShownCall(call, first.called_at, first.build.name, _titles(results), _open_to_a_link(results))
    runs = held.runs.select_related("script_version").order_by("pk") if held else ()
    build = held.build.name if held and held.build else ""
    return ShownCall(call, held.started_at if held else None, build, _titles(runs), None)


def calls_without_recording(user: User) -> list[ShownCall]:
    """The latest calls of which results are filed and no recording is here, for whoever came without one."""
    waiting = _results(user).waiting_for_link_of(user).order_by("-called_at", "-pk")[: 4 * MOST_CALLS]
    by_call: dict[uuid.UUID, list[Result]] = {}
    for result in waiting:
        by_call.setdefault(result.call_uuid, []).append(result)
    return [
        ShownCall(call, found[0].called_at, found[0].build.name, _titles(found), found[0])
        for call, found in list(by_call.items())[:MOST_CALLS]
    ]


def recordings_there(user: User, call: uuid.UUID) -> QuerySet[Recording]:
    """What stands of the call already, besides what is still being uploaded."""
    standing = Recording.objects.visible_to(user).standing().filter(tester=user, call_uuid=call)
    return standing.exclude(Q(state=RecordingState.RECEIVING, origin=Origin.UPLOADED)).order_by("-created_at")


def uploads_there(user: User, call: uuid.UUID | None = None) -> list[OpenUpload]:
    """What was begun of this call, or of any, the latest first."""
    found = open_uploads(user).select_related("recording").order_by("-recording__heard_at")
    found = found.filter(recording__in=Recording.objects.visible_to(user))
    arrived = Coalesce(Sum("parts__size", filter=~Q(parts__etag="")), 0)
    there = found.filter(recording__call_uuid=call) if call else found
    return [OpenUpload(each.recording, each.size, each.arrived) for each in there.annotate(arrived=arrived)]


def _results(user: User) -> ResultQuerySet:
    return Result.objects.visible_to(user).filter(tester=user).select_related("script_version", "build")


def _titles(rows: Sequence[Result] | QuerySet[Run] | tuple[()]) -> tuple[str, ...]:
    return tuple(row.script_version.title for row in rows)


def _open_to_a_link(results: Sequence[Result]) -> Result | None:
    return next((result for result in results if result.reviewed_at is None), None)
