"""The one kind of view that programs come to. A room's endpoints are subclasses in its own `api`."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlencode

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ..models import ApiToken, User
from .kinds import Kind
from .scopes import Scope


class ProgramRequest(Request):
    """A request that a token opened."""

    user: User
    auth: ApiToken


class ProgramView(APIView):
    """`needs`: by method the scope that opens it; a method that is left out is open to every token. `answers`: by
    method what it refuses beside what any may, for the document.

    How it is opened, read and answered is set in the settings of Django REST framework, once for all.
    """

    http_method_names = ["get", "head", "put", "post", "patch", "delete"]
    needs: ClassVar[dict[str, Scope]] = {}
    answers: ClassVar[dict[str, list[Kind]]] = {}

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """What is for one token's owner is nobody else's to keep."""
        response.headers.setdefault("Cache-Control", "private, no-cache")
        response.headers["Vary"] = "Authorization"
        return super().finalize_response(request, response, *args, **kwargs)


def page_of_items(request: Request, items: list[dict[str, Any]], **places: str) -> Response:
    """A page of a list. `places`: the parameter that leads to the next or the previous page, if there is one."""
    return Response({"items": items, **{name: _link(request, places.get(name, "")) for name in ("next", "previous")}})


def _link(request: Request, place: str) -> str | None:
    """The address of this list at another place in it: what else it is asked stays."""
    if not place:
        return None
    name, _, value = place.partition("=")
    asked = {key: said for key, said in request.query_params.items() if key not in {"after", "before"}}
    return str(request.build_absolute_uri(f"{request.path}?{urlencode({**asked, name: value})}"))
