"""Uploading a recording: the page of a call, and what its script asks. The file's bytes go to the store, not here."""

from __future__ import annotations

import uuid as uuids
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from emma_eval.accounts.by_the_minute import at_most
from emma_eval.accounts.roles import OPENED_OR_SENT, Role, UserRequest, for_roles
from emma_eval.adapters.recordings import MismatchError, NotKeptError, StoreError

from ..models import MOST_RECORDING_BYTES, Origin, Recording
from ..recordings.known_call import is_known_call, is_own_call
from ..recordings.uploads.begin_upload import (
    MOST_OPEN,
    TOLD_SIDES,
    TYPES,
    Begun,
    NotTakenError,
    begin_upload,
)
from ..recordings.uploads.drop_upload import drop_upload
from ..recordings.uploads.finish_upload import AnotherFileError, OverError, PartsMissingError, finish_upload
from ..recordings.uploads.keep_parts import keep_parts
from ..recordings.uploads.tell_uploads import calls_without_recording, recordings_there, show_call_of, uploads_there
from ..recordings.uploads.telling import read_announced, read_digest, read_parts
from ..told import MalformedError
from .by_script import Refusal, refuse, refused_in_words, told_in

MOST_BYTES = 100_000  # of a batch of parts, many times over
OVER = "The site no longer has this upload. Choose the file again to begin anew."
ANOTHER = (
    "Another file was sent under this one’s name, from another tab. Close the other tab and choose the file again."
)
NOT_WHOLE = "Parts of the file did not arrive as they were sent. They are sent again."
STORE = "Where recordings are kept can’t be reached just now."

in_words = refused_in_words(
    {
        NotTakenError: Refusal(422, "not_taken"),
        MalformedError: Refusal(422, "malformed", "{} Reload the page and choose the file again."),
        MismatchError: Refusal(409, "over", OVER),
        NotKeptError: Refusal(410, "over", OVER),
        StoreError: Refusal(503, "store", f"{STORE} {{}}"),
    },
    too_many="You began many uploads just now. The next can begin a little later.",
)


@never_cache
@for_roles(Role.TESTER)
@require_http_methods(["GET", "HEAD", "POST"])
def upload_new(request: UserRequest) -> HttpResponseBase:
    """The page of a call to upload a recording to; without one, the calls that wait for theirs."""
    call = _call_named(request)
    if request.method == "POST":
        return _begin(request, call)
    context: dict[str, Any] = {
        "endings": list(TYPES),
        "sides": [(sides.value, words) for sides, words in TOLD_SIDES.items()],
        "most_bytes": MOST_RECORDING_BYTES,
        "most_open": MOST_OPEN,
        "uploads": uploads_there(request.user, call),
    }
    if call is None:
        context["calls"] = calls_without_recording(request.user)
    else:
        context |= {"call": show_call_of(request.user, call), "there": recordings_there(request.user, call)[:5]}
    return render(request, "results/upload.html", context)


def _call_named(request: UserRequest) -> uuids.UUID | None:
    """The call of the address. One that is not this tester's, or not theirs to know at present, is not found."""
    named = request.GET.get("call", "")
    if not named:
        return None
    try:
        call = uuids.UUID(named)
    except ValueError:
        raise Http404 from None
    is_theirs = is_own_call if request.method == "POST" else is_known_call
    if not is_theirs(request.user, call):
        raise Http404
    return call


@at_most("uploading", "PARTS_ASKED_A_MINUTE")
@in_words
def _begin(request: UserRequest, call: uuids.UUID | None) -> HttpResponse:
    if call is None:
        raise Http404
    begun = begin_upload(request.user, call, read_announced(told_in(request, MOST_BYTES)))
    return JsonResponse(_told(begun), status=201 if begun.is_new else 200)


def _told(begun: Begun) -> dict[str, object]:
    upload = begun.upload
    return {
        "recording": str(upload.recording_id),
        "part_size": upload.part_size,
        "part_count": upload.part_count,
        "arrived": {part.number: part.sha256 for part in begun.arrived},
        "parts": reverse("upload_parts", args=[upload.recording_id]),
        "finish": reverse("upload_finish", args=[upload.recording_id]),
        "drop": reverse("upload_drop", args=[upload.recording_id]),
    }


@never_cache
@for_roles(Role.TESTER)
@require_POST
@at_most("uploading", "PARTS_ASKED_A_MINUTE")
@in_words
def upload_parts(request: UserRequest, uuid: uuids.UUID) -> HttpResponse:
    """Links for the parts that are asked for; what arrived is noted."""
    recording = own_upload(request, uuid)
    told = read_parts(told_in(request, MOST_BYTES))
    if not hasattr(recording, "upload"):
        return refuse(410, "over", OVER)
    links = keep_parts(recording.upload, told.asked, told.arrived)
    return JsonResponse(
        {"links": {each.number: {"url": each.link.url, "headers": dict(each.link.headers)} for each in links}}
    )


@never_cache
@for_roles(Role.TESTER)
@require_POST
@at_most("uploading", "PARTS_ASKED_A_MINUTE")
@in_words
def upload_finish(request: UserRequest, uuid: uuids.UUID) -> HttpResponse:
    """All parts were sent: look whether they arrived, and hand the file over."""
    recording = own_upload(request, uuid)
    try:
        finish_upload(recording, read_digest(told_in(request, MOST_BYTES)))
    except PartsMissingError as missing:
        return JsonResponse({"error": "missing", "message": NOT_WHOLE, "numbers": missing.numbers}, status=409)
    except AnotherFileError:
        return refuse(409, "another", ANOTHER)
    except OverError:
        return refuse(410, "over", OVER)
    messages.success(request, "The recording is here. It is being made ready to be played.")
    return JsonResponse({"page": recording.get_absolute_url()})


@never_cache
@for_roles(Role.TESTER)
@require_http_methods(OPENED_OR_SENT)
def upload_drop(request: UserRequest, uuid: uuids.UUID) -> HttpResponse:
    """Give an upload up: from its page, which asks before, or from a list, by a page that asks."""
    recording = own_upload(request, uuid)
    back = f"{reverse('upload_new')}?call={recording.call_uuid}"
    if request.method != "POST":
        open_ones = [each for each in uploads_there(request.user, recording.call_uuid) if each.recording == recording]
        if not open_ones:
            return redirect(recording)
        return render(request, "results/upload_drop.html", {"upload": open_ones[0], "back": back})
    try:
        is_dropped = hasattr(recording, "upload") and drop_upload(recording.upload)
    except StoreError as cause:
        messages.warning(request, f"Not removed: {STORE} {cause}")
        return redirect(back)
    words = "The upload was removed. Nothing of it is kept." if is_dropped else "The upload was finished before."
    messages.success(request, words)
    return redirect(back)


def own_upload(request: UserRequest, uuid: uuids.UUID) -> Recording:
    """One that this tester uploads, of a call of which nothing is kept from them at present."""
    mine = Recording.objects.visible_to(request.user).standing().filter(tester=request.user, origin=Origin.UPLOADED)
    return get_object_or_404(mine.select_related("upload", "tester"), pk=uuid)
