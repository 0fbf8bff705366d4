"""What a program sends when it files a result."""

from __future__ import annotations

from typing import Any

from results.models import ALWAYS_RATED
from scripts_catalog.models import Build, Script

CALLED = "2026-03-02T14:36:00+08:00"


def a_filing(script: Script, build: Build, /, **changes: Any) -> dict[str, Any]:
    """A right one; a value of `...` leaves a field out."""
    ratings: dict[str, Any] = dict.fromkeys(ALWAYS_RATED, 4)
    assert script.latest is not None
    if script.latest.uses_camera:
        ratings["vision"] = 4
    said = {
        "script": script.slug,
        "build": build.name,
        "called_at": CALLED,
        "camera_used": script.latest.uses_camera,
        "ratings": ratings,
        "problems": ["too_fast", "cut_in"],
        "met_emma_before": False,
        **changes,
    }
    return {name: value for name, value in said.items() if value is not ...}
