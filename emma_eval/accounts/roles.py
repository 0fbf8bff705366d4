"""Who may open a page."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

from . import interrupted
from .role import Role
from .second_step import lacks_second_step, lead_to_second_step

if TYPE_CHECKING:
    from .models import User

__all__ = ["OPENED_OR_SENT", "Role", "UserRequest", "for_members", "for_roles", "for_signed_in"]


# Of an address where something is done by POST alone: whoever opens it (a page reloaded, a bookmark, a way back after a
# sign-in) is led to the page on which it is done, and nothing happens.
OPENED_OR_SENT = ["GET", "HEAD", "POST"]


class UserRequest(HttpRequest):
    """A request of somebody who is signed in."""

    user: User


View = Callable[Concatenate[UserRequest, ...], HttpResponseBase]


def for_signed_in(view: View) -> Callable[..., HttpResponseBase]:
    """The page is for everyone who is signed in; others sign in first, and lose nothing they typed."""

    @wraps(view)
    def guarded(request: UserRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return interrupted.signed_out(request)
        return view(request, *args, **kwargs)

    return guarded


def for_roles(*roles: Role) -> Callable[[View], Callable[..., HttpResponseBase]]:
    """The page is for these roles alone: others who are signed in get 403, all others sign in first.

    Administrators may have to set up two-step sign-in before they use a page that is theirs and not everybody's.
    """

    is_for_administrators = Role.ADMINISTRATOR in roles and len(roles) < len(Role)

    def decorate(view: View) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def guarded(request: UserRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.has_role(*roles):
                raise PermissionDenied
            if is_for_administrators and lacks_second_step(request):
                return lead_to_second_step(request)
            return view(request, *args, **kwargs)

        return for_signed_in(guarded)

    return decorate


def for_members(view: View) -> Callable[..., HttpResponseBase]:
    """The page is for everyone who holds any role."""
    return for_roles(*Role)(view)
