"""Two-step sign-in of administrators, where this site demands it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect

from .role import Role

if TYPE_CHECKING:
    from .roles import UserRequest

BY_SIGN_ON = "by_sign_on"
FIRST_SET_UP = "Administrators here sign in with two steps. Set up the second one, then these pages open."


def lacks_second_step(request: UserRequest) -> bool:
    """Whether an administrator signed in with a password alone; the organisation's sign-on asks for its own steps."""
    if not settings.MFA_FOR_ADMINISTRATORS or not request.user.has_role(Role.ADMINISTRATOR):
        return False
    from allauth.mfa.models import Authenticator  # the models of this app import this module

    apps = Authenticator.objects.filter(user=request.user, type=Authenticator.Type.TOTP)
    return not request.session.get(BY_SIGN_ON) and not apps.exists()


def lead_to_second_step(request: UserRequest) -> HttpResponse:
    """A page leads to where it is set up; nothing else can be done with what was sent."""
    if request.method != "GET" or "HX-Request" in request.headers:
        raise PermissionDenied
    messages.warning(request, FIRST_SET_UP)
    return redirect("mfa_activate_totp")
