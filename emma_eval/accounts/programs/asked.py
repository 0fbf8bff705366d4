"""What a program asks of a list in the address. Nobody looks at a form, so what is not understood is refused."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter

from .body import Faults

MOST_ROWS, USUAL_ROWS = 100, 50
# No address is read with a null character in it, and a parameter without a value is left out.
TEXT = {"type": "string", "minLength": 1, "pattern": "^[^\\u0000]*$"}
PAGE_SIZE = OpenApiParameter(
    *("page_size", {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "default": USUAL_ROWS}),
    description="How many rows a page has.",
)


def faults_of_names(params: QueryDict, known: Container[str]) -> Faults:
    """Names that mean nothing here, and those that come twice or without a value."""
    faults: Faults = {}
    for name, values in params.lists():
        if name not in known:
            faults[name] = ["There is no such parameter."]
        elif len(values) > 1 or not values[0]:
            faults[name] = ["Give it once, with a value."]
    return faults


def faults_of_size(params: QueryDict) -> Faults:
    size = params.get("page_size", "1")
    is_right = size.isascii() and size.isdigit() and len(size) < 4 and 1 <= int(size) <= MOST_ROWS
    return {} if is_right else {"page_size": [f"Ask for 1 to {MOST_ROWS} rows."]}


def page_size(params: QueryDict) -> int:
    """How many rows a page is to have, once it has no fault."""
    return int(params.get("page_size", USUAL_ROWS))


def one_of(*values: str) -> dict[str, Any]:
    """The shape of a parameter that is one of these words."""
    return {"type": "string", "enum": list(values)}


def asks(name: str, shape: Any, words: str) -> OpenApiParameter:
    """A parameter of the address, for the document."""
    return OpenApiParameter(name, shape, OpenApiParameter.QUERY, description=words)
