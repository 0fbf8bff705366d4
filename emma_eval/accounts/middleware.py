"""What the browser may switch on for our pages."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

NOTHING_ALLOWED = "camera=(), microphone=(), geolocation=(), display-capture=(), payment=(), usb=()"


def permissions_policy(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Every page is refused camera, microphone and the like."""

    def respond(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Permissions-Policy", NOTHING_ALLOWED)
        return response

    return respond
