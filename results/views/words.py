"""A filed result in the words of the form, to be corrected in it or compared with it."""

from __future__ import annotations

from django.utils import timezone

from ..filing.forms import NO, YES
from ..filing.typed import Typed, place_name
from ..models import DIMENSION_KEYS, Result


def typed_of(result: Result) -> Typed:
    """What somebody would have typed to file this result."""
    time = timezone.localtime(result.called_at)
    ratings = {key: str(getattr(result, key)) for key in DIMENSION_KEYS if getattr(result, key) is not None}
    problems = enumerate(result.problems.values_list("tag", flat=True), 1)
    typed = {
        "script_version": str(result.script_version_id),
        "call": str(result.call_uuid),
        "build": str(result.build.pk),
        "called_at": f"{time:%Y-%m-%dT%H:%M:%S}" if time.second else f"{time:%Y-%m-%dT%H:%M}",
        "recording_link": result.recording_link,
        "never_started": "on" if result.never_started else "",
        "camera_used": YES if result.camera_used else NO,
        "camera_note": result.camera_note,
        **ratings,
        **{place_name(tag): str(place) for place, tag in problems},
        "comment": result.comment,
        "met_emma_before": YES if result.met_emma_before else NO,
    }
    return {name: text for name, text in typed.items() if text}
