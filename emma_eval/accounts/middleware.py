"""What the browser may switch on for our pages, and what no page looks at."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse

NOTHING_ALLOWED = "camera=(), microphone=(), geolocation=(), display-capture=(), payment=(), usb=()"


def permissions_policy(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Every page is refused camera, microphone and the like."""

    def respond(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Permissions-Policy", NOTHING_ALLOWED)
        return response

    return respond


def no_null_characters(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """An address with a null character is nobody's: PostgreSQL takes none, so no view is to search for one."""

    def respond(request: HttpRequest) -> HttpResponse:
        query = request.META.get("QUERY_STRING", "")
        if "\x00" in request.path_info or "\x00" in query or "%00" in query:
            raise BadRequest("a null character in the address")
        return get_response(request)

    return respond
