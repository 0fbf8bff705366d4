"""The four roles, and who may open a page."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

from . import interrupted

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


def for_signed_in(view: View) -> Callable[..., HttpResponseBase]:
    """The page is for everyone who is signed in; others sign in first, and lose nothing they typed."""

    @wraps(view)
    def guarded(request: UserRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return interrupted.signed_out(request)
        return view(request, *args, **kwargs)

    return guarded


def for_roles(*roles: Role) -> Callable[[View], Callable[..., HttpResponseBase]]:
    """The page is for these roles alone: others who are signed in get 403, all others sign in first."""

    def decorate(view: View) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def guarded(request: UserRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.has_role(*roles):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return for_signed_in(guarded)

    return decorate


def for_members(view: View) -> Callable[..., HttpResponseBase]:
    """The page is for everyone who holds any role."""
    return for_roles(*Role)(view)
