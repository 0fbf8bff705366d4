"""The browsers that somebody is signed in with, in words that their owner recognises."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from . import sessions
from .models import User
from .session_store import Session, name_of


@dataclass(frozen=True)
class Browser:
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


def browsers_of(user: User, session_key: str | None) -> list[Browser]:
    """The browser of that session first, then those seen last."""
    this = name_of(session_key or "")
    rows = [_row(session, this) for session in Session.objects.of(user).order_by("-seen_at", "session_key")]
    return sorted(rows, key=lambda row: not row.is_this)


def _row(session: Session, this: str) -> Browser:
    browser = browser_in_words(session.browser)
    return Browser(session.name, browser, session.began_at, session.seen_at, is_this=session.name == this)


def browser_in_words(says: str) -> str:
    """Such as "Firefox on Windows"; the tables of all browsers are read when they are first needed."""
    from ua_parser import parse

    found = parse(says)
    browser = found.user_agent.family if found.user_agent else ""
    system = found.os.family if found.os else ""
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or "A browser that doesn't say its name"
