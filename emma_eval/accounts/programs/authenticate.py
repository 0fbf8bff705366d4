"""Who a program speaks for. A token alone opens this door, never a cookie, so nobody's browser can be made to."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from allauth.account.adapter import get_adapter
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from ..models import ApiToken, User, digest_of
from .kinds import Kind
from .problems import ProblemError
from .scopes import ROLES_OF, Scope
from .throttle import count_stranger, count_use
from .tokens import LOOKS_LIKE_ONE

if TYPE_CHECKING:
    from rest_framework.views import APIView  # which reads this module itself, as the settings say

REALM = 'Bearer realm="Emma Eval"'


class Bearer(BaseAuthentication):
    """The token's owner, with the rights of this very moment."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken]:
        try:
            user, token = _come_in(request.headers.get("Authorization", ""))
        except ProblemError:
            count_stranger(str(get_adapter(request).get_client_ip(request)))
            raise
        count_use(token)
        return user, token

    def authenticate_header(self, request: Request) -> str:
        return REALM


def _come_in(said: str) -> tuple[User, ApiToken]:
    if not said:
        raise _refused("Send a token: `Authorization: Bearer emma_…`.", challenge=REALM)
    scheme, _, sent = said.partition(" ")
    if scheme.lower() != "bearer" or not LOOKS_LIKE_ONE.fullmatch(sent.strip()):
        raise _refused("This is no token of this site: they are sent as `Authorization: Bearer emma_…`.")
    token = ApiToken.objects.filter(digest=digest_of(sent.strip())).first()
    if token is None:
        raise _refused("This token opens nothing.")
    _check_it_is_in_force(token)
    user = User.objects.with_rights(token.owner_id)
    if user is None or not user.is_active or not user.roles:
        raise _refused("The owner of this token has no access to this site at present.")
    return user, token


def _check_it_is_in_force(token: ApiToken) -> None:
    """Who has a token may know what became of it; who has none learns nothing of any."""
    if token.revoked_at is not None:
        raise _refused("This token was revoked.")
    if token.expires_at <= timezone.now():
        raise _refused("This token has expired. Its owner makes a new one on the page Programs.")


def _refused(detail: str, challenge: str = f'{REALM}, error="invalid_token"') -> ProblemError:
    return ProblemError(Kind.NO_TOKEN, detail, {"WWW-Authenticate": challenge})


class HoldsScope(BasePermission):
    """The scope that the view needs for this method, on the token, and a role that it is for, of its owner now."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        user, token = cast("tuple[User, ApiToken]", (request.user, request.auth))
        scope: Scope | None = getattr(view, "needs", {}).get("GET" if request.method == "HEAD" else request.method)
        if scope is None:  # open to every token, or a method that nothing answers to
            return True
        missing = f'{REALM}, error="insufficient_scope", scope="{scope}"'
        if scope not in token.scopes:
            detail = f"The token was not made for {scope}."
            raise ProblemError(Kind.NOT_ALLOWED, detail, {"WWW-Authenticate": missing}, scope=str(scope))
        if not user.has_role(*ROLES_OF[scope]):
            roles = " or ".join(sorted(ROLES_OF[scope]))
            detail = f"{scope} is for the role {roles}, which the owner of the token does not hold now."
            raise ProblemError(Kind.NOT_ALLOWED, detail, scope=str(scope))
        return True
