"""Every way in which a request of a program can go wrong, with the words of it (RFC 9457).

The `type` of an error leads to its place on the page of the interface, which shows this very list.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


@dataclass(frozen=True)
class Told:
    """What is always said of one kind: its status, its title, and what to do about it."""

    status: int
    title: str
    words: str


class Kind(Enum):
    """By the name that stands in `type`, with hyphens."""

    NOT_UNDERSTOOD = Told(400, "The request can't be read", "Send one JSON object in UTF-8, of the size it says.")
    NO_TOKEN = Told(
        401,
        "No token that opens this",
        "Send a token that is in force as `Authorization: Bearer emma_…`. Who made it sees on the page Programs "
        "whether it expired or was revoked.",
    )
    NOT_ALLOWED = Told(
        403, "The token may not do this", "Its scopes, or the roles that its owner holds now, don't cover it."
    )
    NOT_FOUND = Told(404, "Nothing is here", "It never was, or the token's owner may not know of it.")
    WRONG_METHOD = Told(405, "This method does nothing here", "The header Allow lists those that do.")
    NOT_ACCEPTABLE = Told(406, "Only JSON is answered here", "Accept `application/json`.")
    CONFLICT = Told(
        409, "Something else stands there already", "Nothing was changed. `result`, `round` or `name` says what."
    )
    CHANGED_MEANWHILE = Told(
        412, "It was changed since you read it", "Nothing was changed. Read it again and send its new ETag."
    )
    TOO_LARGE = Told(413, "The request is too large", "At most 200,000 bytes are read.")
    NOT_JSON = Told(415, "Only JSON is read here", "Send `Content-Type: application/json`.")
    NOT_RIGHT = Told(422, "Something in it is not right", "`errors` lists every fault, with where it stands.")
    SAY_WHICH = Told(
        428, "Say which version you read", "A correction needs the header If-Match, with the ETag that you read."
    )
    TOO_MANY = Told(429, "Too many requests", "Wait for as many seconds as the header Retry-After says.")
    OUR_FAULT = Told(500, "Something went wrong on our side", "Whether it was carried out is not sure: ask again.")

    @property
    def code(self) -> str:
        return self.name.lower().replace("_", "-")

    @property
    def type(self) -> str:
        return f"/api/#{self.code}"


def problem_of(kind: Kind, detail: str = "", **more: Any) -> dict[str, Any]:
    """The body of an error."""
    told = kind.value
    return {"type": kind.type, "title": told.title, "status": told.status, "detail": detail or told.words, **more}
