"""A session of `requests`, which allauth speaks, that sends by the one way out.

What the provider's own document names (where tokens and keys are) is looked at like any address: a provider that was
taken over can't have us ask inside. The provider itself may be inside, since the operator named it.
"""

from __future__ import annotations

import io
from typing import Any
from urllib.parse import urlsplit

import requests
from django.conf import settings
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict

from emma_eval.adapters.errors import NeighbourError
from emma_eval.adapters.outgoing import Answer, Limits, Outgoing

PATIENCE_S = 5.0


def way_out(patience_s: float) -> Outgoing:
    """The way to the provider of the settings, each question within so many seconds."""
    limits = Limits(connect_s=patience_s, read_s=patience_s, whole_s=patience_s)
    allow = settings.OUTGOING_ALLOW
    if settings.SIGN_ON is not None:
        allow = allow.and_host(urlsplit(settings.SIGN_ON.issuer).hostname or "")
    return Outgoing(allow, limits)


def guard(session: requests.Session) -> requests.Session:
    """The same session, with nothing of the environment: no proxy, no key of a file; and no redirect is followed."""
    session.trust_env = False
    session.max_redirects = 0
    for scheme in ("https://", "http://"):
        session.mount(scheme, _Guarded())
    return session


class _Guarded(BaseAdapter):
    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        body = request.body or b""
        try:
            answer = way_out(kwargs.get("timeout") or PATIENCE_S).send(
                request.method or "GET",
                request.url or "",
                headers={name: _text(said) for name, said in request.headers.items()},
                body=_text(body).encode(),
            )
        except NeighbourError as cause:
            raise requests.ConnectionError(str(cause), request=request) from cause
        return _as_requests(request, answer)

    def close(self) -> None:
        """Nothing is kept open."""


def _text(said: Any) -> str:
    return said.decode() if isinstance(said, bytes) else str(said)


def _as_requests(request: requests.PreparedRequest, answer: Answer) -> requests.Response:
    made = requests.Response()
    made.status_code = answer.status
    made.headers = CaseInsensitiveDict(answer.headers)
    made.encoding = requests.utils.get_encoding_from_headers(made.headers)
    made.raw = io.BytesIO(answer.body)
    made.url = request.url or ""
    made.request = request
    return made
