"""The OpenAPI document, as drf-spectacular writes it of the endpoints there are; the same for everybody."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any


@cache
def document() -> dict[str, Any]:
    """Written once in a process: it is made of the code alone."""
    from drf_spectacular.generators import SchemaGenerator  # which only this page and its document need
    from drf_spectacular.renderers import OpenApiJsonRenderer

    written = OpenApiJsonRenderer().render(SchemaGenerator().get_schema(public=True), renderer_context={})  # type: ignore[no-untyped-call]
    found: dict[str, Any] = json.loads(written)
    return found


@cache
def document_as_json() -> tuple[bytes, str]:
    """The document as it is sent, and its ETag."""
    written = json.dumps(document(), ensure_ascii=False, separators=(",", ":")).encode()
    return written, f'"{hashlib.sha256(written).hexdigest()[:32]}"'
