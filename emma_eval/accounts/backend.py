"""Who is behind a sign-in: asked anew at each request, with all that the request may need to know of them."""

from __future__ import annotations

from allauth.account.auth_backends import AuthenticationBackend

from .models import User


class Backend(AuthenticationBackend):  # type: ignore[misc]
    """allauth's way of signing in, and one query for the person, their roles and their training."""

    def get_user(self, user_id: int) -> User | None:
        user = User.objects.with_rights(user_id)
        return user if user is not None and self.user_can_authenticate(user) else None
