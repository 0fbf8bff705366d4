"""How long a sign-in lasts: twelve hours without a request, and seven days at most."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse

LONGEST_S = 7 * 24 * 3600
REFRESHED_EVERY_S = 600
BEGAN, SEEN = "signed_in_at", "seen_at"


def begin(request: HttpRequest) -> None:
    """A sign-in starts now."""
    request.session.set_expiry(settings.SESSION_COOKIE_AGE)
    request.session[BEGAN] = request.session[SEEN] = time.time()


def end_old_sessions(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Sign out whoever signed in too long ago; keep the session of all others alive while they work.

    The session is written at most every ten minutes, not at each request.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        now = time.time()
        began = request.session.get(BEGAN)
        if began is not None and now - began > LONGEST_S:
            logout(request)
        elif began is not None and now - request.session[SEEN] > REFRESHED_EVERY_S:
            request.session[SEEN] = now
        return get_response(request)

    return respond
