"""What a browser sends when a tester files a result."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from results.models import DIMENSION_KEYS
from scripts_catalog.models import Build, Script

NOW = "2026-03-02T14:36"


def fields(script: Script, build: Build, /, *, problems: tuple[str, ...] = (), **changes: Any) -> dict[str, str]:
    """A right form; `None` leaves a field out."""
    assert script.latest is not None
    ratings = dict.fromkeys(DIMENSION_KEYS[:-1], "4")
    if script.latest.uses_camera:
        ratings["vision"] = "4"
    sent = {
        "script_version": str(script.latest.pk),
        "newest": str(script.latest.pk),
        "call": str(uuid.uuid4()),
        "build": str(build.pk),
        "called_at": NOW,
        "camera_used": "yes" if script.latest.uses_camera else "no",
        "met_emma_before": "no",
        **ratings,
        **{f"place-{tag}": str(place) for place, tag in enumerate(problems, 1)},
        **changes,
    }
    return {name: value for name, value in sent.items() if value is not None}


def unrated(**changes: str) -> dict[str, Any]:
    return {**dict.fromkeys(DIMENSION_KEYS), **changes}


def file(client: Client, sent: dict[str, str], draft: uuid.UUID | None = None) -> HttpResponse:
    answer: HttpResponse = client.post(reverse("draft_file", args=[draft or uuid.uuid4()]), sent)
    return answer


def today() -> str:
    return f"{timezone.localtime():%Y-%m-%dT%H:%M}"
