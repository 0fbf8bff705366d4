"""How a list that is filtered by its address is asked for: whole or for htmx a part, and without empty fields."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse


def is_for_a_part(request: HttpRequest) -> bool:
    """htmx asks for a part, except when the browser goes back to a page that it must show whole."""
    return "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers


def clean_address(request: HttpRequest, url_name: str) -> str:
    """This page's address without the fields that a form sends empty."""
    return f"{reverse(url_name)}{clean_query(request)}"


def clean_query(request: HttpRequest) -> str:
    """What follows the path of this page, without the fields that a form sends empty; nothing if nothing is left."""
    query = urlencode({name: value for name, value in request.GET.dict().items() if value})
    return f"?{query}" if query else ""
