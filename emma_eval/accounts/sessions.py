"""How long a sign-in lasts, and how it is ended: twelve hours without a request, seven days at most, or at once."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import logout
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from . import audit
from .models import User
from .second_step import BY_SIGN_ON
from .session_store import BEGAN, BROWSER, LONGEST_BROWSER, SEEN, Session

LONGEST_S = 7 * 24 * 3600
REFRESHED_EVERY_S = 600


def begin(request: HttpRequest) -> None:
    """A sign-in starts now."""
    request.session.set_expiry(settings.SESSION_COOKIE_AGE)
    request.session[BEGAN] = request.session[SEEN] = time.time()
    request.session[BROWSER] = request.headers.get("User-Agent", "").replace("\x00", "")[:LONGEST_BROWSER]


def say_by_sign_on(request: HttpRequest) -> None:
    """The sign-in that just began was by the organisation's sign-on, which asks for a second step itself."""
    request.session[BY_SIGN_ON] = True


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


@transaction.atomic
def end_one(user: User, name: str, by: User) -> bool:
    """Sign a person out of the browser whose session goes by this name. False where there is none."""
    found = next((session for session in Session.objects.of(user) if session.name == name), None)
    if found is None or not Session.objects.filter(pk=found.pk).delete()[0]:
        return False
    audit.record(by, "ended a session", about=user)
    return True


@transaction.atomic
def end_all(user: User, by: User | None, *, but: str | None = None) -> int:
    """Sign a person out of every browser, or of every one but that with the session key `but`; how many it were."""
    ended, _ = Session.objects.of(user).exclude(pk=but or "").delete()
    if ended:
        audit.record(by, "ended sessions", about=user, sessions=ended)
    return int(ended)
