"""What the recorder of the live-call page asks: to begin, to tell of takes and chunks, to finish, and how it stands."""

from __future__ import annotations

import uuid as uuids
from dataclasses import asdict

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from emma_eval.accounts.by_the_minute import at_most
from emma_eval.accounts.roles import Role, UserRequest, for_roles
from emma_eval.adapters.recordings import StoreError

from ..models import Origin, Recording
from ..recordings.recorder.begin_recording import (
    OverError,
    RecordedElsewhereError,
    RefusedError,
    begin_recording,
    begin_take,
)
from ..recordings.recorder.finish_recording import finish_as_it_is, finish_recording
from ..recordings.recorder.keep_chunks import keep_chunks
from ..recordings.recorder.show_recordings import show_recordings
from ..recordings.recorder.telling import read_beginning, read_chunks, read_finish, read_take
from ..recordings.store import recordings_store
from ..told import MalformedError
from .addresses import is_for_a_part
from .by_script import Refusal, refused_in_words, told_in
from .calls import own_call

MOST_BYTES = 100_000  # of a batch of chunks, many times over
in_words = refused_in_words(
    {
        MalformedError: Refusal(422, "malformed"),
        RefusedError: Refusal(409, "refused"),
        RecordedElsewhereError: Refusal(409, "elsewhere"),
        OverError: Refusal(409, "over"),
        StoreError: Refusal(503, "store", "Where recordings are kept can't be reached just now. {}"),
    },
    too_many="You began many recordings just now. The next can begin a little later.",
)


@never_cache
@for_roles(Role.TESTER)
@require_http_methods(["GET", "HEAD", "POST"])
def recording_begin(request: UserRequest, uuid: uuids.UUID) -> HttpResponseBase:
    """Begin to record a call; asked for without sending anything, how the recordings of the call stand."""
    call = own_call(request, uuid)
    if request.method == "POST":
        return _begin(request, uuid)
    if not is_for_a_part(request):
        return redirect(call)
    shown = show_recordings(call, timezone.now())
    return render(request, "results/call.html#recordings", {"call": call, "recordings": shown})


@at_most("telling of a recording", "RECORDER_ASKS_A_MINUTE")
@in_words
def _begin(request: UserRequest, uuid: uuids.UUID) -> HttpResponse:
    recording = begin_recording(own_call(request, uuid), read_beginning(told_in(request, MOST_BYTES)), timezone.now())
    return JsonResponse({"state": recording.state})


@never_cache
@for_roles(Role.TESTER)
@require_POST
@at_most("telling of a recording", "RECORDER_ASKS_A_MINUTE")
@in_words
def recording_take(request: UserRequest, uuid: uuids.UUID) -> HttpResponse:
    """A take begins, or ends."""
    take = begin_take(own_recording(request, uuid), read_take(told_in(request, MOST_BYTES)), timezone.now())
    return JsonResponse({"take": take.number})


@never_cache
@for_roles(Role.TESTER)
@require_POST
@at_most("telling of a recording", "RECORDER_ASKS_A_MINUTE")
@in_words
def recording_chunks(request: UserRequest, uuid: uuids.UUID) -> HttpResponse:
    """Links for chunks that are announced, and which of those that were sent have arrived."""
    recording = own_recording(request, uuid)
    kept = keep_chunks(recording, read_chunks(told_in(request, MOST_BYTES)), recordings_store(), timezone.now())
    links = {number: {"url": link.url, "headers": dict(link.headers)} for number, link in kept.links.items()}
    return JsonResponse({"links": links, "arrived": kept.arrived, "refused": [asdict(each) for each in kept.refused]})


@never_cache
@for_roles(Role.TESTER)
@require_POST
def recording_finish(request: UserRequest, uuid: uuids.UUID) -> HttpResponseBase:
    """That is all: by the page that recorded; or by a plain form, with whatever has arrived."""
    recording = own_recording(request, uuid)
    if request.content_type == "application/json":
        return _finish(request, recording)
    try:
        finish_as_it_is(recording, recordings_store(), timezone.now())
    except StoreError as cause:
        messages.warning(request, f"Not finished: where recordings are kept can't be reached just now. {cause}")
    return redirect(reverse("call", args=[recording.call_uuid]))


@at_most("telling of a recording", "RECORDER_ASKS_A_MINUTE")
@in_words
def _finish(request: UserRequest, recording: Recording) -> HttpResponse:
    if read_finish(told_in(request, MOST_BYTES)):
        finished = finish_as_it_is(recording, recordings_store(), timezone.now())
    else:
        finished = finish_recording(recording, timezone.now())
    return JsonResponse({"state": finished.state, "missing": [asdict(each) for each in finished.missing]})


def own_recording(request: UserRequest, uuid: uuids.UUID) -> Recording:
    """One that this tester records, of a call of which nothing is kept from them at present."""
    mine = Recording.objects.visible_to(request.user).filter(tester=request.user, origin=Origin.RECORDED)
    return get_object_or_404(mine, pk=uuid)
