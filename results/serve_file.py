"""Answer with a file of ours: whole, or the part that a player or a download that broke off asks for.

A part is at most 2 MiB and is read before it is answered, so somebody who takes it slowly holds neither the file
nor a thread: four slow readers of a long recording delay nobody. RFC 9110 lets a server answer a shorter part
than was asked for; players and download programs then ask for the next.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import IO

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header, http_date, parse_http_date_safe

MOST_IN_A_PART = 2 * 1024 * 1024
_RANGE = re.compile(r"bytes[ \t]*=[ \t]*(?:([0-9]{1,19})-([0-9]{0,19})|-([0-9]{1,19}))[ \t]*", re.IGNORECASE)


class NothingThereError(Exception):
    """The part that was asked for lies beyond the end of the file."""


@dataclass(frozen=True)
class Served:
    """A file as it is served. `etag` must change whenever the bytes do. A file with a `name` is saved, not shown."""

    size: int
    content_type: str
    etag: str
    modified_at: datetime
    name: str = ""

    @property
    def quoted_etag(self) -> str:
        return f'"{self.etag}"'


@dataclass(frozen=True)
class Part:
    """Some bytes of a file: the first and the last of them."""

    first: int
    last: int

    @property
    def length(self) -> int:
        return self.last - self.first + 1


def serve_file(request: HttpRequest, file: IO[bytes], served: Served) -> HttpResponseBase:
    """Answer GET and HEAD with the file, which is closed with the answer."""
    seconds = int(served.modified_at.timestamp())
    unmet = get_conditional_response(request, served.quoted_etag, seconds)
    if unmet is not None:  # they have it already, or want another one
        file.close()
        return unmet
    try:
        part = _part_asked_for(request, served)
    except NothingThereError:
        file.close()
        response: HttpResponseBase = HttpResponse(status=416)
        response["Content-Range"] = f"bytes */{served.size}"
        return response
    response = _part_of(file, part, served) if part else _whole(request, file, served)
    response["Accept-Ranges"] = "bytes"
    response["ETag"] = served.quoted_etag
    response["Last-Modified"] = http_date(served.modified_at.timestamp())
    response["Cache-Control"] = "private, no-cache"
    if served.name:
        response["Content-Disposition"] = content_disposition_header(True, served.name) or "attachment"
    return response


def _whole(request: HttpRequest, file: IO[bytes], served: Served) -> HttpResponseBase:
    if request.method == "HEAD":
        file.close()
        response: HttpResponseBase = HttpResponse(content_type=served.content_type)
    else:
        response = FileResponse(file, content_type=served.content_type)
        del response["Content-Disposition"]  # it has told what the file is called on our disk
    response["Content-Length"] = str(served.size)
    return response


def _part_of(file: IO[bytes], part: Part, served: Served) -> HttpResponse:
    with file:
        file.seek(part.first)
        response = HttpResponse(file.read(part.length), status=206, content_type=served.content_type)
    response["Content-Range"] = f"bytes {part.first}-{part.last}/{served.size}"
    response["Content-Length"] = str(part.length)
    return response


def _part_asked_for(request: HttpRequest, served: Served) -> Part | None:
    """The part to answer; None for the whole file: no range, several, one that can't be read, or of another file."""
    said = _RANGE.fullmatch(request.headers.get("Range", ""))
    if request.method != "GET" or said is None or not _is_of_this_file(request, served):
        return None
    if said[3]:
        first, last = max(served.size - int(said[3]), 0), served.size - 1
        is_empty = int(said[3]) == 0
    else:
        first, last = int(said[1]), int(said[2] or served.size)
        is_empty = False
        if said[2] and last < first:
            return None
    if is_empty or first >= served.size:
        raise NothingThereError
    return Part(first, min(last, served.size - 1, first + MOST_IN_A_PART - 1))


def _is_of_this_file(request: HttpRequest, served: Served) -> bool:
    """Whether the range is about the bytes that there are now: If-Range names them by their tag or their time."""
    named = request.headers.get("If-Range", "").strip()
    if not named or named.startswith(('"', "W/")):
        return named in {"", served.quoted_etag}
    said = parse_http_date_safe(named)
    return said is not None and said == int(served.modified_at.timestamp())
