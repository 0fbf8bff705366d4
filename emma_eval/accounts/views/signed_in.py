"""Where somebody is signed in, and how that is ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from emma_eval.accounts import sessions
from emma_eval.accounts.browsers import browser_in_words
from emma_eval.accounts.roles import UserRequest, for_signed_in
from emma_eval.accounts.session_store import Session, name_of


@dataclass(frozen=True)
class Row:
    """One browser that somebody is signed in with."""

    name: str
    browser: str
    began_at: datetime | None
    seen_at: datetime | None
    is_this: bool

    @property
    def is_in_use(self) -> bool:
        """Seen lately; how lately is not known any better, since it is not written at each request."""
        newest = timezone.now() - timedelta(seconds=sessions.REFRESHED_EVERY_S)
        return self.seen_at is not None and self.seen_at > newest


@for_signed_in
@never_cache
def signed_in(request: UserRequest) -> HttpResponse:
    """This browser first, then those seen last."""
    this = name_of(request.session.session_key or "")
    rows = [_row(session, this) for session in Session.objects.of(request.user).order_by("-seen_at", "session_key")]
    rows.sort(key=lambda row: not row.is_this)
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


def _row(session: Session, this: str) -> Row:
    browser = browser_in_words(session.browser)
    return Row(session.name, browser, session.began_at, session.seen_at, is_this=session.name == this)
