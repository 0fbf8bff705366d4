"""Announce what happens to results and their recordings. What is then said of them stands in `tell_results`."""

from __future__ import annotations

from emma_eval.webhooks.announce import announce

from .models import Recording, Result

FILED, CORRECTED, REVIEWED = "result.filed", "result.corrected", "result.reviewed"
RECORDING_REMOVED = "recording.removed"


def announce_filed(result: Result) -> None:
    _announce(FILED, result)


def announce_corrected(result: Result) -> None:
    _announce(CORRECTED, result)


def announce_reviewed(result: Result) -> None:
    """Say that a result has a review that stands. Those that don't are announced to nobody."""
    _announce(REVIEWED, result)


def announce_removed(recording: Recording) -> None:
    """Say that a recording was removed, to let go of what was taken from it. Before a result of its call is filed
    nobody but its tester knows of it."""
    results = Result.objects.filter(tester=recording.tester_id, call_uuid=recording.call_uuid)
    first = results.order_by("pk").first()
    if first is not None:
        announce(RECORDING_REMOVED, recording.pk, is_safety=recording.is_covered, script=first.script_id)


def _announce(kind: str, result: Result) -> None:
    announce(kind, result.pk, is_safety=result.is_covered, script=result.script_id)
