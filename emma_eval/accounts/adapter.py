"""How allauth behaves in this house."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context as context_of_allauth
from django.conf import settings
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme

from . import audit, sessions, throttle
from .models import User

# What allauth would mail to the person about; here it is written into the audit trail.
AUDITED = {
    "account/email/password_changed": "changed a password",
    "account/email/password_set": "set a password",
    "account/email/password_reset": "set a new password by a link",
    "mfa/email/totp_activated": "switched on two-step sign-in",
    "mfa/email/totp_deactivated": "switched off two-step sign-in",
    "mfa/email/recovery_codes_generated": "made new recovery codes",
}
NEW_PASSWORD = {name for name in AUDITED if name.startswith("account/email/password_")}


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts are by invitation, passwords can't be guessed by trying, and mail goes through the outbox."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": "The e-mail address or the password is wrong.",
        "enter_current_password": "This is not your present password.",
        "incorrect_password": "The password is wrong.",
        "too_many_login_attempts": "Too many tries. Wait ten minutes and try again.",
        "rate_limited": "Too many tries. Wait a minute and try again.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def is_safe_url(self, url: str) -> bool:
        """Whether a sign-in may lead on there: to paths of this site, and to its one address."""
        site = urlsplit(settings.ORIGIN)
        is_ours = url_has_allowed_host_and_scheme(url, allowed_hosts={site.netloc})
        return is_ours and urlsplit(url).scheme in {"", site.scheme}

    def authenticate(self, request: HttpRequest, **credentials: Any) -> Any:
        """Count the try before the password is looked at; only a wrong one stays counted."""
        attempts = throttle.spend_both(
            (throttle.SIGN_IN, credentials.get("email", "")),
            (throttle.SIGN_IN_FROM, self.get_client_ip(request)),
        )
        user = super().authenticate(request, **credentials)
        if user is not None:
            for attempt in attempts:
                attempt.delete()
        return user

    def login(self, request: HttpRequest, user: User) -> None:
        super().login(request, user)
        sessions.begin(request)

    def send_notification_mail(
        self, template_prefix: str, user: User, context: dict[str, Any] | None = None, email: str | None = None
    ) -> None:
        action = AUDITED.get(template_prefix)
        if action is None:
            audit.record(user, "changed the sign-in", about=user, what=template_prefix)
        else:
            audit.record(user, action, about=user)
        if template_prefix == "account/email/password_reset":
            throttle.forget(throttle.SIGN_IN, user.email)
        if template_prefix in NEW_PASSWORD:
            sessions.end_all(user, user, but=context_of_allauth.request.session.session_key)
