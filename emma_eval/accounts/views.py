"""The front door and the pages for what went wrong."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render

from . import interrupted
from .roles import Role, UserRequest, for_signed_in


@for_signed_in
def home(request: UserRequest) -> HttpResponse:
    """Everyone starts where their work is."""
    if request.user.has_role(Role.TESTER):
        return redirect("scripts")
    if request.user.has_role(Role.MANAGER, Role.EVAL_TEAM):
        return redirect("dashboard")
    return redirect("scripts")


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "accounts/forbidden.html", status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "accounts/not_found.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/server_error.html", status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    """The page is older than the sign-in."""
    return interrupted.stale_page(request)
