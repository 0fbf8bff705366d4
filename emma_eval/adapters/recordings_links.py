"""Links to recordings in a folder of ours: what one allows stands in it, signed, as a bucket's presigned links do.

A token allows one act on one object for some minutes, and nothing to whoever changes a letter of it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

MOST_CHARACTERS = 4000
_PURPOSE = b"emma eval: link to a recording: "


class LinkError(Exception):
    """A link that opens nothing; its text is for people."""


class ForgedLinkError(LinkError):
    """Nobody here signed it."""


class OverLinkError(LinkError):
    """It was signed here and has had its time."""


@dataclass(frozen=True)
class Right:
    """What a link allows. `act` is get, put or part; what a link to send does not announce may not be sent."""

    act: str
    key: str
    until: int
    media_type: str = ""
    saved_as: str = ""
    size: int = 0
    sha256: str = ""
    upload_id: str = ""
    number: int = 0


def sign(right: Right, secret: str) -> str:
    said = {name: value for name, value in asdict(right).items() if value}
    body = _written(json.dumps(said, separators=(",", ":"), ensure_ascii=False).encode())
    return f"{body}.{_written(_seal(body, secret))}"


def read(token: str, secrets: Sequence[str], now_s: float) -> Right:
    """What the token allows now; signed by any of these secrets."""
    body, _, sealed = token.partition(".")
    if len(token) > MOST_CHARACTERS or not any(_is_sealed(body, sealed, secret) for secret in secrets):
        raise ForgedLinkError("This link was not made here.")
    right = Right(**json.loads(_read(body)))
    if right.until < now_s:
        raise OverLinkError("This link is over: reload the page for a new one.")
    return right


def _is_sealed(body: str, sealed: str, secret: str) -> bool:
    """Letter by letter: the same seal written otherwise is another one."""
    return hmac.compare_digest(sealed.encode(), _written(_seal(body, secret)).encode())


def _seal(body: str, secret: str) -> bytes:
    return hmac.new(hashlib.sha256(_PURPOSE + secret.encode()).digest(), body.encode(), hashlib.sha256).digest()


def _written(said: bytes) -> str:
    return base64.urlsafe_b64encode(said).decode().rstrip("=")


def _read(said: str) -> bytes:
    return base64.urlsafe_b64decode(said + "=" * (-len(said) % 4))
