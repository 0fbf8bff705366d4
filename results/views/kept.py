"""What comes and goes by a link to the folder of recordings. Where recordings are kept in a bucket, nothing does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import BoundedSemaphore

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from emma_eval.adapters.recordings import MismatchError, NotKeptError, StoreError, StoreFullError
from emma_eval.adapters.recordings_folder import FolderStore
from emma_eval.adapters.recordings_links import ForgedLinkError, OverLinkError, Right

from ..recordings.store import folder_of_this_site
from ..serve_file import Served, serve_file

SHOWN_AS_THEY_ARE = ("audio/", "video/", "image/jpeg", "image/png", "image/webp", "application/json", "text/vtt")

_places = BoundedSemaphore(settings.KEPT_AT_ONCE)


class NoPlaceError(Exception):
    """As many send something at this moment as may."""


@csrf_exempt  # the link is the right, and no cookie adds to it
@require_http_methods(["GET", "HEAD", "PUT"])
def kept(request: HttpRequest, token: str) -> HttpResponseBase:
    """Give or take the one object of this link, to whoever holds it, while it holds."""
    store = folder_of_this_site()
    if store is None:
        raise Http404
    try:
        right = store.right(token)
    except ForgedLinkError as told:
        return _said(403, str(told))
    except OverLinkError as told:
        return _said(410, str(told))
    if (request.method == "PUT") == (right.act == "get"):
        return _said(403, "This link is for something else.")
    return _take(request, store, right) if request.method == "PUT" else _give(request, store, right)


def _give(request: HttpRequest, store: FolderStore, right: Right) -> HttpResponseBase:
    try:
        file = store.opened(right.key)
    except StoreError as told:
        return _said(_status_of(told), str(told))
    about = os.fstat(file.fileno())
    served = Served(
        size=about.st_size,
        content_type=_harmless(right.media_type),
        etag=f"{about.st_mtime_ns:x}-{about.st_size:x}",
        modified_at=datetime.fromtimestamp(about.st_mtime, UTC),
        name=right.saved_as,
    )
    return serve_file(request, file, served)


def _harmless(media_type: str) -> str:
    """Nothing that a browser would take for a page of ours."""
    return media_type if media_type.startswith(SHOWN_AS_THEY_ARE) else "application/octet-stream"


def _take(request: HttpRequest, store: FolderStore, right: Right) -> HttpResponse:
    """Read only what was announced, in small pieces: whatever else comes is refused unread."""
    refused = _unlike_announced(request, right)
    if refused is not None:
        return refused
    try:
        with _a_place():
            etag = store.receive(right, request)
    except NoPlaceError:
        busy = _said(503, "Many recordings are being sent at this moment: send it again a little later.")
        busy.headers["Retry-After"] = "2"
        return busy
    except StoreError as told:
        return _said(_status_of(told), str(told))
    return HttpResponse(headers={"ETag": f'"{etag}"', "Cache-Control": "no-store"})


@contextmanager
def _a_place() -> Iterator[None]:
    """Whoever sends over a thin line keeps a thread for as long. The other threads are for everybody's pages."""
    if not _places.acquire(blocking=False):
        raise NoPlaceError
    try:
        yield
    finally:
        _places.release()


def _unlike_announced(request: HttpRequest, right: Right) -> HttpResponse | None:
    length = request.META.get("CONTENT_LENGTH") or ""
    if not (length.isascii() and length.isdecimal()):
        return _said(411, "Say how long it is.")
    if int(length) > right.size:
        return _said(413, "This is longer than was announced.")
    if int(length) < right.size:
        return _said(422, "This is shorter than was announced.")
    if right.media_type and request.META.get("CONTENT_TYPE") != right.media_type:
        return _said(403, "This is of another type than was announced.")
    return None


def _status_of(told: StoreError) -> int:
    if isinstance(told, MismatchError):
        return 422
    if isinstance(told, NotKeptError):
        return 404
    return 507 if isinstance(told, StoreFullError) else 503


def _said(status: int, words: str) -> HttpResponse:
    headers = {"Cache-Control": "no-store"}
    return HttpResponse(f"{words}\n", status=status, content_type="text/plain; charset=utf-8", headers=headers)
