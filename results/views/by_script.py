"""What the scripts of pages send by themselves, and how it is refused: as JSON that the page can act on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.http import HttpResponseBase, JsonResponse
from django.utils import timezone

from emma_eval.accounts import throttle
from emma_eval.accounts.roles import UserRequest

from ..filing.typed import number_in
from ..told import MalformedError

View = Callable[..., HttpResponseBase]


@dataclass(frozen=True)
class Refusal:
    """How an error is answered. `error` is for the script; `words`, around those of the error, for the person."""

    status: int
    error: str
    words: str = "{}"


Refusals = Mapping[type[Exception], Refusal]


def refuse(status: int, error: str, words: str) -> JsonResponse:
    """`error` is for the script, `words` are for the person."""
    return JsonResponse({"error": error, "message": words}, status=status)


def refused_in_words(refusals: Refusals, *, too_many: str) -> Callable[[View], View]:
    """Answer each of these errors as it says, the most particular first; `too_many`: when a throttle has enough."""

    def refusing(view: View) -> View:
        @wraps(view)
        def respond(request: UserRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            try:
                return view(request, *args, **kwargs)
            except throttle.TooManyError as cause:
                answer = refuse(429, "too_many", too_many)
                answer.headers["Retry-After"] = str(max(1, round((cause.retry_at - timezone.now()).total_seconds())))
                return answer
            except tuple(refusals) as cause:
                refusal = next(refusals[kind] for kind in type(cause).__mro__ if kind in refusals)
                return refuse(refusal.status, refusal.error, refusal.words.format(cause))

        return respond

    return refusing


def told_in(request: UserRequest, most_bytes: int) -> object:
    """The JSON that was sent. Raises MalformedError for what is none, or more than this."""
    if number_in(request.headers.get("Content-Length")) > most_bytes:
        raise MalformedError("This is more than the page may tell at once.")
    try:
        return json.loads(request.body)
    except (ValueError, RecursionError) as cause:
        raise MalformedError("The site did not understand this.") from cause


def object_with_fields(body: bytes) -> dict[str, Any] | None:
    """What an autosave sent; None if it is anything else than an object whose `fields` are one, too."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return asked if isinstance(asked, dict) and isinstance(asked.get("fields"), dict) else None
