"""Who is behind a sign-in: asked anew at each request, with all that the request may need to know of them."""

from __future__ import annotations

from typing import cast

from allauth.account.auth_backends import AuthenticationBackend

from .addresses import address_of
from .models import User


class Backend(AuthenticationBackend):  # type: ignore[misc]
    """allauth's way of signing in, and one query for the person, their roles and their training."""

    def _authenticate_by_email(self, email: str, password: str) -> User | None:
        """The account of exactly this address: a database that ignores case takes other letters for ours, too."""
        user = User.objects.filter(email=address_of(email)).first()
        return cast("User | None", self._check_password(user, password))

    def get_user(self, user_id: int) -> User | None:
        user = User.objects.with_rights(user_id)
        return user if user is not None and self.user_can_authenticate(user) else None
