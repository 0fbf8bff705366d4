"""Sessions that know whose they are, so that they can be listed and ended. Ended is deleted: the next request of that
browser finds nothing. No request asks anything more than with sessions that don't know it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessionStore
from django.contrib.sessions.base_session import AbstractBaseSession, BaseSessionManager
from django.db import models
from django.utils import timezone
from django.utils.crypto import salted_hmac

BEGAN, SEEN, BROWSER = "signed_in_at", "seen_at", "browser"
LONGEST_BROWSER = 300


class SessionQuerySet(models.QuerySet["Session"]):
    def of(self, user: models.Model) -> SessionQuerySet:
        """The sign-ins of a person that are not over."""
        return self.filter(user=user.pk, expire_date__gt=timezone.now())


class SessionManager(BaseSessionManager["Session"].from_queryset(SessionQuerySet)):  # type: ignore[misc]
    pass


class Session(AbstractBaseSession):
    """One browser. Beside what Django keeps: who is signed in there, since when, and in what."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="sessions")
    began_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True, help_text="Within ten minutes; not written at each request.")
    browser = models.CharField(max_length=LONGEST_BROWSER, blank=True, help_text="As it names itself.")

    objects: ClassVar[SessionManager] = SessionManager()

    class Meta:
        app_label = "accounts"

    def __str__(self) -> str:
        return f"session of {self.user_id or 'nobody'}"

    @classmethod
    def get_session_store_class(cls) -> type[SessionStore]:
        return SessionStore

    @property
    def name(self) -> str:
        """What a page may call this session by: its key opens it, so that is on no page."""
        return name_of(self.session_key)


def name_of(session_key: str) -> str:
    return salted_hmac("emma_eval.accounts.session", session_key, algorithm="sha256").hexdigest()[:32]


class SessionStore(DatabaseSessionStore):
    # Of this name, since Django signs what is in a session with it: sessions of Django's own store stay readable.
    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        """The row to save; what it says besides is read off the session, so it can't say anything else."""
        made: Session = super().create_model_instance(data)  # type: ignore[assignment]
        user_id = data.get(SESSION_KEY)
        made.user_id = int(user_id) if user_id else None
        made.began_at, made.seen_at = _time(data.get(BEGAN)), _time(data.get(SEEN))
        made.browser = str(data.get(BROWSER, ""))[:LONGEST_BROWSER]
        return made


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
