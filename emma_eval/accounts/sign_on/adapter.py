"""allauth's own calls to the provider go out by the one way out of this site, too."""

from __future__ import annotations

from typing import Any

from allauth.socialaccount.adapter import DefaultSocialAccountAdapter


class SignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    def get_requests_session(self) -> Any:
        from .session import guard  # what it needs weighs on every process that has no sign-on

        return guard(super().get_requests_session())
