"""The front door and the pages for what went wrong."""

from __future__ import annotations

import math
from datetime import datetime

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import timezone

from emma_eval.accounts import interrupted
from emma_eval.accounts.programs.kinds import Kind
from emma_eval.accounts.programs.problems import is_for_programs, plain_problem
from emma_eval.accounts.roles import Role, UserRequest, for_signed_in


@for_signed_in
def home(request: UserRequest) -> HttpResponse:
    """Everyone starts where their work is."""
    if request.user.has_role(Role.TESTER):
        return redirect("scripts")
    if request.user.has_role(Role.EVAL_TEAM, Role.EVAL_LEAD):
        return redirect("review_queue")
    if request.user.has_role(Role.MANAGER):
        return redirect("dashboard")
    if request.user.has_role(Role.ADMINISTRATOR):
        return redirect("people")
    return render(request, "accounts/no_role.html", status=403)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Written without looking at the request: what can't be read of it can't be looked at here either."""
    if is_for_programs(request):
        return plain_problem(Kind.NOT_UNDERSTOOD)
    return HttpResponse(render_to_string("accounts/bad_request.html"), status=400)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "accounts/forbidden.html", status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if is_for_programs(request):
        return plain_problem(Kind.NOT_FOUND)
    return render(request, "accounts/not_found.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Written without looking at the request: whoever is signed in may be what can't be found out at present."""
    if is_for_programs(request):
        return plain_problem(Kind.OUR_FAULT)
    return HttpResponse(render_to_string("accounts/server_error.html"), status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    """The page is older than the sign-in."""
    return interrupted.stale_page(request)


def too_many(request: HttpRequest, retry_at: datetime | None = None) -> HttpResponse:
    """Something was tried too often; says when to try again, where that is known."""
    wait_s = max(1, math.ceil((retry_at - timezone.now()).total_seconds())) if retry_at else 60
    context = {"retry_at": retry_at, "minutes": math.ceil(wait_s / 60)}
    answer = render(request, "accounts/too_many.html", context, status=429)
    answer["Retry-After"] = str(wait_s)
    return answer
