"""Errors as a program reads them: `application/problem+json`, whatever went wrong and wherever."""

from __future__ import annotations

import math
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from rest_framework import exceptions
from rest_framework.response import Response

from .kinds import Kind, problem_of

MEDIA_TYPE = "application/problem+json"
PLACE = "/api/"
PAGES = (PLACE, "/api")


class ProblemError(exceptions.APIException):
    """A request that is refused, with all that is said of it."""

    def __init__(self, kind: Kind, detail: str = "", headers: dict[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail or kind.value.words)
        self.kind = kind
        self.headers = headers or {}
        self.body = problem_of(kind, detail, **more)


class TooManyRequestsError(ProblemError):
    """The limit is reached; in so many seconds the next request is free."""

    def __init__(self, wait_s: float) -> None:
        seconds = max(1, math.ceil(wait_s))
        super().__init__(Kind.TOO_MANY, f"Wait {seconds} seconds.", {"Retry-After": str(seconds)})


KIND_OF = {
    Http404: Kind.NOT_FOUND,
    exceptions.NotFound: Kind.NOT_FOUND,
    PermissionDenied: Kind.NOT_ALLOWED,
    exceptions.PermissionDenied: Kind.NOT_ALLOWED,
    exceptions.ParseError: Kind.NOT_UNDERSTOOD,
    exceptions.MethodNotAllowed: Kind.WRONG_METHOD,
    exceptions.NotAcceptable: Kind.NOT_ACCEPTABLE,
    exceptions.UnsupportedMediaType: Kind.NOT_JSON,
}


def answer_problem(error: Exception, context: dict[str, Any]) -> Response | None:
    """The answer to an exception in a view of programs; None for what is our own fault, which Django answers."""
    if isinstance(error, ProblemError):
        said = error
    elif type(error) in KIND_OF:
        said = ProblemError(KIND_OF[type(error)])
    else:
        return None
    return Response(said.body, said.kind.value.status, headers=said.headers, content_type=MEDIA_TYPE)


def is_for_programs(request: HttpRequest) -> bool:
    """Whether a program asks: everything under /api/ but the page that tells people of it."""
    return request.path_info.startswith(PLACE) and request.path_info not in PAGES


def plain_problem(kind: Kind) -> HttpResponse:
    """The same where no view was come to: an address of nobody, a request that can't be read, a fault of ours."""
    answer = JsonResponse(problem_of(kind), status=kind.value.status, content_type=MEDIA_TYPE)
    answer["Cache-Control"] = "no-store"
    return answer
