"""Where somebody is signed in, and how that is ended."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from emma_eval.accounts import sessions
from emma_eval.accounts.browsers import browsers_of
from emma_eval.accounts.roles import UserRequest, for_signed_in


@for_signed_in
@never_cache
def signed_in(request: UserRequest) -> HttpResponse:
    rows = browsers_of(request.user, request.session.session_key)
    return render(request, "accounts/signed_in.html", {"rows": rows})


@for_signed_in
@require_POST
def end_session(request: UserRequest) -> HttpResponse:
    """Sign out of one other browser; this one has its own button for that."""
    if sessions.end_one(request.user, request.POST.get("session", ""), request.user):
        messages.success(request, "That browser is signed out.")
    else:
        messages.info(request, "That browser was signed out already.")
    return redirect("signed_in")


@for_signed_in
@require_POST
def end_other_sessions(request: UserRequest) -> HttpResponse:
    sessions.end_all(request.user, request.user, but=request.session.session_key)
    messages.success(request, "You are signed in here alone.")
    return redirect("signed_in")
