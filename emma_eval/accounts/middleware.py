"""What the browser may switch on for our pages, and what no page looks at or waits for."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth import SESSION_KEY
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from .programs.problems import is_for_programs

NOTHING_ALLOWED = "camera=(), microphone=(), geolocation=(), display-capture=(), payment=(), usb=()"
OPENED_BY_LINK = "/kept/"  # signed links to recordings: who holds one need not be signed in, nor stay so
TO_RECORD = "camera=(), microphone=(self), geolocation=(), display-capture=(self), payment=(), usb=()"
LARGEST_OF_STRANGERS = 2_000_000  # bytes; less than the proxies take in whole before they pass it on


def permissions_policy(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Every page is refused camera, microphone and the like; but for what a page says itself, as the live-call page."""

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


def no_large_body_of_strangers(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Only who is signed in has a sheet to upload. Nobody else's is read: it could come as slowly as they like.

    What programs and links bring is looked at where their token is known, and is bounded there.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        is_large = not length.isdecimal() or int(length) > LARGEST_OF_STRANGERS
        is_looked_at_there = is_for_programs(request) or request.path_info.startswith(OPENED_BY_LINK)
        if is_large and not is_looked_at_there and SESSION_KEY not in request.session:
            return redirect("account_login")
        return get_response(request)

    return respond
