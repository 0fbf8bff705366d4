"""Events of scoring as a recording's figures keep them: written and read here alone."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from emma_eval.scoring.turns import Event, Kind, Who

_POINTS = {"from_point": "from", "to_point": "to"}


def write_event(event: Event) -> dict[str, Any]:
    """As JSON: `from` and `to` name its two points."""
    return {_POINTS.get(name, name): value for name, value in asdict(event).items()}


def read_event(kept: dict[str, Any]) -> Event:
    """What `write_event` wrote, at any time. ValueError or KeyError for what it never wrote."""
    yielded = kept["yielded"]
    return Event(
        kind=Kind(kept["kind"]),
        who=Who(kept["who"]),
        from_ms=kept["from_ms"],
        to_ms=kept["to_ms"],
        from_point=kept["from"],
        to_point=kept["to"],
        value_ms=kept["value_ms"],
        yielded=None if yielded is None else Who(yielded),
    )
