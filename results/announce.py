"""Announce what happens to results. What is then said of them stands in `tell_results`."""

from __future__ import annotations

from emma_eval.webhooks.announce import announce

from .models import Result

FILED, CORRECTED, REVIEWED = "result.filed", "result.corrected", "result.reviewed"


def announce_filed(result: Result) -> None:
    _announce(FILED, result)


def announce_corrected(result: Result) -> None:
    _announce(CORRECTED, result)


def announce_reviewed(result: Result) -> None:
    """Say that a result has a review that stands. Those that don't are announced to nobody."""
    _announce(REVIEWED, result)


def _announce(kind: str, result: Result) -> None:
    announce(kind, result.pk, is_safety=result.is_covered, script=result.script_id)
