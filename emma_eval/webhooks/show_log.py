"""The log of an endpoint as its owner may read it now: by keyset, newest first."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from emma_eval.accounts.models import User

from .kinds import TEST, kind_named
from .models import Delivery, Endpoint, State, Try

A_PAGE = 25


@dataclass(frozen=True)
class Line:
    """One delivery with its tries, the newest last."""

    delivery: Delivery
    label: str
    tries: list[Try]

    @property
    def last(self) -> Try | None:
        return self.tries[-1] if self.tries else None

    @property
    def may_replay(self) -> bool:
        return self.delivery.state != State.WAITING


@dataclass(frozen=True)
class Log:
    lines: list[Line]
    next_before: int | None


def show_log(viewer: User, endpoint: Endpoint, before: int | None) -> Log:
    """A page of the log. What tells of Safety is not in it unless the viewer may know of it."""
    found = Delivery.objects.visible_to(viewer).filter(endpoint=endpoint)
    if before is not None:
        found = found.filter(pk__lt=before)
    rows = list(found.order_by("-pk").prefetch_related("tries")[: A_PAGE + 1])
    lines = [Line(row, _label_of(row.kind), list(row.tries.all())) for row in rows[:A_PAGE]]
    return Log(lines, rows[A_PAGE - 1].pk if len(rows) > A_PAGE else None)


def _label_of(kind: str) -> str:
    known = kind_named(kind)
    return "Test" if kind == TEST else known.label if known else kind


@dataclass(frozen=True)
class Summary:
    """One endpoint in the list, with what became of its deliveries in the days that they are kept."""

    endpoint: Endpoint
    delivered: int
    failed: int


def summaries(viewer: User, endpoints: list[Endpoint]) -> list[Summary]:
    """The endpoints in their order; only deliveries that the viewer may know of are counted."""
    visible = Delivery.objects.visible_to(viewer).filter(endpoint__in=endpoints)
    rows = visible.order_by().values_list("endpoint", "state").annotate(n=Count("pk"))
    counts = {(endpoint, state): n for endpoint, state, n in rows}
    return [
        Summary(each, counts.get((each.pk, State.DELIVERED), 0), counts.get((each.pk, State.FAILED), 0))
        for each in endpoints
    ]
