"""The four roles, and who may open a page."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

if TYPE_CHECKING:
    from .models import User


class Role(StrEnum):
    """Each is a group of the same name; a person may hold several. Training is a dated grant beside them."""

    TESTER = "tester"
    EVAL_TEAM = "eval team"
    MANAGER = "manager"
    ADMINISTRATOR = "administrator"


class UserRequest(HttpRequest):
    """A request of somebody who is signed in."""

    user: User


View = Callable[Concatenate[UserRequest, ...], HttpResponseBase]


def for_roles(*roles: Role) -> Callable[[View], Callable[..., HttpResponseBase]]:
    """The page is for these roles alone: others who are signed in get 403, all others the sign-in page."""

    def decorate(view: View) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def guarded(request: UserRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.has_role(*roles):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return login_required(guarded)

    return decorate


def for_members(view: View) -> Callable[..., HttpResponseBase]:
    """The page is for everyone who holds any role."""
    return for_roles(*Role)(view)
