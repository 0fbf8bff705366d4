"""What the scripts of pages send by themselves, and how it is refused: as JSON that the page can act on."""

from __future__ import annotations

import json
from typing import Any

from django.http import JsonResponse


def refuse(status: int, error: str, words: str) -> JsonResponse:
    """`error` is for the script, `words` are for the person."""
    return JsonResponse({"error": error, "message": words}, status=status)


def object_with_fields(body: bytes) -> dict[str, Any] | None:
    """What an autosave sent; None if it is anything else than an object whose `fields` are one, too."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return asked if isinstance(asked, dict) and isinstance(asked.get("fields"), dict) else None
