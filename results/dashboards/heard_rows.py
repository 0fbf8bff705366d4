"""The calls behind a build's figures from recordings: each with what was measured, and the way to its recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.core.paginator import Page, Paginator

from ..figures import say_number, say_share
from ..models import Recording, Result, as_clock
from .counting import Counting
from .heard import Call, Heard, HeardCalls

A_PAGE = 100
UNMEASURED = "unmeasured"

# What each figure is sorted by: the most first, since that is what people want to listen to.
_ORDERS: dict[str, Callable[[Call], float]] = {
    "latency": lambda call: -1e9 if call.latency_ms is None else call.latency_ms,
    "silences": lambda call: call.silences / max(call.parts, 1e-6),
    "overlaps": lambda call: call.overlaps / max(call.parts, 1e-6),
    "share": lambda call: -1.0 if call.share is None else call.share,
}


@dataclass(frozen=True)
class Row:
    """One recorded call: what it was, and what was measured or why it was not."""

    recording: UUID
    title: str
    tester: str
    called_at: datetime
    lasts: str
    latency: str
    silences: int
    overlaps: int
    share: str
    unmeasured_because: str


@dataclass(frozen=True)
class HeardRows:
    """The calls of one build, by one of its figures: a page of them. `page` says how many there are in all."""

    build: str
    by: str
    rows: tuple[Row, ...]
    page: Page[Call]


def list_calls(counting: Counting, heard: HeardCalls, build: str, by: str, page: str = "") -> HeardRows | None:
    """Those of the build called `build`: measured ones by the figure `by`, or those that are `UNMEASURED`.

    Of a `page` that there is none of, the nearest one.
    """
    of_build = next((each for each in heard.builds if each.name == build), None)
    if of_build is None:
        return None
    by = by if by in _ORDERS or by == UNMEASURED else "latency"
    calls = Paginator(_wanted(of_build, by), A_PAGE).get_page(page)
    return HeardRows(build, by, _rows(counting.of_every_build, list(calls)), calls)


def _wanted(heard: Heard, by: str) -> list[Call]:
    if by == UNMEASURED:
        return [call for call in heard.calls if call.unmeasured_because]
    return sorted((call for call in heard.calls if not call.unmeasured_because), key=_ORDERS[by], reverse=True)


def _rows(counting: Counting, calls: list[Call]) -> tuple[Row, ...]:
    recordings = Recording.objects.visible_to(counting.user).in_bulk([call.recording for call in calls])
    of_calls = counting.rows.filter(call_uuid__in=[recording.call_uuid for recording in recordings.values()])
    results: dict[tuple[int, UUID], Result] = {}
    for each in of_calls.select_related("script_version", "tester").order_by("pk"):
        results.setdefault((each.tester_id, each.call_uuid), each)
    return tuple(
        _row(call, recording, result)
        for call in calls
        if (recording := recordings.get(call.recording))
        and (result := results.get((recording.tester_id, recording.call_uuid)))
    )


def _row(call: Call, recording: Recording, result: Result) -> Row:
    return Row(
        recording=recording.uuid,
        title=result.script_version.title,
        tester=str(result.tester),
        called_at=result.called_at,
        lasts=as_clock(call.lasts_ms),
        latency="n too small" if call.latency_ms is None else f"{say_number(call.latency_ms / 1000)} s",
        silences=call.silences,
        overlaps=call.overlaps,
        share="–" if call.share is None else say_share(call.share),
        unmeasured_because=call.unmeasured_because,
    )
