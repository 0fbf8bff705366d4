"""A recording: its page, the links by which it is played, and what people add to it while listening."""

from __future__ import annotations

import uuid as uuids
from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from emma_eval.accounts import throttle
from emma_eval.accounts.by_the_minute import at_most
from emma_eval.accounts.roles import OPENED_OR_SENT, UserRequest, for_members
from emma_eval.adapters.recordings import StoreError

from ..models import Recording, RecordingNote, RecordingState, Result
from ..recordings.making.try_again import try_again
from ..recordings.player.align_recording import TooFarError, align_recording
from ..recordings.player.captions import Cue, UnreadableCaptionsError
from ..recordings.player.clocks import read_clock
from ..recordings.player.correct_sides import correct_sides, may_differ
from ..recordings.player.give_links import give_links
from ..recordings.player.keep_captions import keep_captions, transcript_of
from ..recordings.player.note_on_recording import NOTED_BY_ONE, note_on_recording, withdraw_note
from ..recordings.player.playing_forms import AlignForm, CaptionsForm, NoteForm, SidesForm
from ..recordings.player.show_recording import Place, moments_of, show_recording
from ..recordings.rights import may_change, may_read_watches, may_remove
from ..recordings.uploads.copy_again import copy_again
from .addresses import is_for_a_part
from .see_other import SeeOther

TOO_MANY = "That was a lot within a few minutes. Your words are still here: add them a little later."
GONE = "This recording was removed meanwhile."
TRIED_LATER = "That was tried many times just now. It can be tried again a little later."
Act = Callable[..., HttpResponseBase]


def sent_to(find: Callable[[UserRequest, uuids.UUID], Recording], *, changes_it: bool = False) -> Callable[[Act], Act]:
    """What is sent to a recording that `find` finds. Its address, when opened, leads to the recording's own page.

    `changes_it`: only those send it who may change the recording.
    """

    def act_on(act: Act) -> Act:
        @wraps(act)
        def respond(request: UserRequest, uuid: uuids.UUID) -> HttpResponseBase:
            found = find(request, uuid)
            if request.method != "POST":
                return redirect(found)
            if changes_it and not may_change(request.user, found):
                raise PermissionDenied
            return act(request, found)

        return respond

    return act_on


def _seen(request: UserRequest, uuid: uuids.UUID) -> Recording:
    return get_object_or_404(Recording.objects.visible_to(request.user).select_related("tester"), pk=uuid)


def _playable(request: UserRequest, uuid: uuids.UUID) -> Recording:
    seen = Recording.objects.visible_to(request.user).playable().select_related("tester")
    return get_object_or_404(seen, pk=uuid)


@never_cache
@for_members
@require_safe
def recording(request: UserRequest, uuid: uuids.UUID) -> HttpResponse:
    """The recording's own page, whatever state it is in; for htmx, how far it is.

    On its own page nothing can have been typed while it waits: there it shows by itself once it is ready.
    """
    found = _seen(request, uuid)
    if not is_for_a_part(request):
        return _page(request, found)
    response = render(request, "results/player.html#waiting", {"recording": found})
    is_over = found.state not in {RecordingState.WORKING, RecordingState.RECEIVING}
    if is_over and urlsplit(request.headers.get("HX-Current-URL", "")).path == request.path:
        response["HX-Refresh"] = "true"
    return response


@never_cache
@for_members
@require_http_methods(OPENED_OR_SENT)
@at_most("links of recordings", "LINKS_A_MINUTE")
@sent_to(_playable)
def recording_links(request: UserRequest, found: Recording) -> HttpResponseBase:
    """Links that hold for some minutes, for the script of the player."""
    return JsonResponse(asdict(give_links(found, request.user)))


@never_cache
@for_members
@require_http_methods(OPENED_OR_SENT)
@sent_to(_playable, changes_it=True)
def recording_offset(request: UserRequest, found: Recording) -> HttpResponse:
    """Move all moments at once: by so much, or so that one of them stands where it was heard."""
    form = AlignForm(request.POST, found, moments_of(request.user, found))
    if not form.is_valid():
        return _changed(request, found, status=422, align_fault=_first_fault(form))
    try:
        align_recording(request.user, found, form.offset_ms)
    except TooFarError:
        return _changed(request, found, status=422, align_fault="No recording is that far off.")
    return _changed(request, found, words="The moments are moved, for everybody.")


@never_cache
@for_members
@require_http_methods(OPENED_OR_SENT)
@sent_to(_playable, changes_it=True)
def recording_sides(request: UserRequest, found: Recording) -> HttpResponse:
    """Say who is heard where, as whoever listens can tell."""
    form = SidesForm(request.POST)
    if not form.is_valid():
        return _page(request, found, status=422, sides_form=form)
    if correct_sides(request.user, found, form.cleaned_data["sides"]):
        messages.success(request, "It is kept who is heard where, and the figures are made again.")
    return SeeOther(f"{found.get_absolute_url()}#about-head")


@never_cache
@for_members
@require_http_methods(OPENED_OR_SENT)
@sent_to(_seen, changes_it=True)
def recording_try_again(request: UserRequest, found: Recording) -> HttpResponse:
    """Have one that failed made ready once more, or copied from its link where it never came here."""
    try:
        is_tried = try_again(found) or copy_again(found, request.user)
    except throttle.TooManyError:
        messages.warning(request, TRIED_LATER)
        return redirect(found)
    if is_tried:
        messages.info(request, "It is tried again.")
    return redirect(found)


@never_cache
@for_members
@require_http_methods(OPENED_OR_SENT)
@sent_to(_playable)
def recording_notes(request: UserRequest, found: Recording) -> HttpResponse:
    """Add a note to a place of the recording."""
    form = NoteForm(request.POST, found)
    if not form.is_valid():
        return _changed(request, found, status=422, note_form=form)
    try:
        throttle.spend(NOTED_BY_ONE, str(request.user.pk))
    except throttle.TooManyError:
        form.add_error("words", TOO_MANY)
        return _changed(request, found, status=429, note_form=form)
    if note_on_recording(request.user, found, form.cleaned_data["at"], form.cleaned_data["words"]) is None:
        raise Http404
    return _changed(request, found, words="Your note is kept.")


@never_cache
@for_members
@require_http_methods(OPENED_OR_SENT)
def recording_note_withdraw(request: UserRequest, uuid: uuids.UUID, pk: int) -> HttpResponse:
    """Take one's own note back; another's is as if it were not there."""
    found = _playable(request, uuid)
    note = get_object_or_404(RecordingNote, pk=pk, recording=found, by=request.user)
    if request.method != "POST":
        return redirect(found)
    withdraw_note(request.user, note)
    return _changed(request, found, words="Your note is withdrawn.")


@never_cache
@for_members
@require_http_methods(OPENED_OR_SENT)
def recording_captions(request: UserRequest, uuid: uuids.UUID) -> HttpResponse:
    """The transcript, to read; its tester and the eval team put one there."""
    found = _playable(request, uuid)
    if request.method != "POST":
        return _show_captions(request, found, CaptionsForm())
    if not may_change(request.user, found):
        raise PermissionDenied
    form = CaptionsForm(request.POST, request.FILES)
    if not form.is_valid():
        return _show_captions(request, found, form, 422)
    try:
        is_kept = keep_captions(request.user, found, form.cleaned_data["file"])
    except StoreError as fault:
        form.add_error("file", str(fault))
        return _show_captions(request, found, form, 503)
    if is_kept:
        messages.success(request, f"The transcript is kept: {len(form.cues):,} cues.")
    else:
        messages.warning(request, GONE)
    return SeeOther(found.get_absolute_url())


def _show_captions(request: UserRequest, found: Recording, form: CaptionsForm, status: int = 200) -> HttpResponse:
    cues, fault = _cues_of(found)
    context = {
        "recording": found,
        "form": form,
        "cues": cues,
        "fault": fault,
        "may_change": may_change(request.user, found),
    }
    return render(request, "results/captions.html", context, status=status)


def _cues_of(found: Recording) -> tuple[list[Cue], str]:
    try:
        return transcript_of(found), ""
    except StoreError as fault:
        return [], str(fault)
    except UnreadableCaptionsError as fault:
        return [], str(fault)


# --- what they share ---------------------------------------------------------------------------


def begins_at(request: UserRequest) -> Place | None:
    """Where `?t=` asks to begin: 83, 83.5 or 1:23."""
    at_ms = read_clock(request.GET.get("t", ""))
    return None if at_ms is None else Place(at_ms)


def _first_fault(form: AlignForm) -> str:
    return str(next(iter(form.errors.values()))[0])


def _changed(request: UserRequest, found: Recording, *, status: int = 200, **shown: Any) -> HttpResponse:
    """What stands beside the player as it is now: for htmx in place, else by the recording's own page."""
    if is_for_a_part(request):
        context = {"player": show_recording(request.user, found, **shown)}
        return render(request, "results/player.html#beside", context, status=status)
    if status != 200:
        return _page(request, found, status=status, **shown)
    messages.success(request, shown["words"])
    return SeeOther(f"{found.get_absolute_url()}#beside")


def _page(
    request: UserRequest, found: Recording, *, status: int = 200, sides_form: SidesForm | None = None, **shown: Any
) -> HttpResponse:
    results = Result.objects.visible_to(request.user).filter(tester=found.tester_id, call_uuid=found.call_uuid)
    context = {
        "player": show_recording(request.user, found, **shown),
        "recording": found,
        "sides_form": _sides_form(request, found, sides_form),
        "may_remove": may_remove(request.user, found),
        "reads_watches": may_read_watches(request.user),
        "begins_at": begins_at(request),
        "results": results.select_related("script_version", "build").order_by("id"),
    }
    return render(request, "results/recording.html", context, status=status)


def _sides_form(request: UserRequest, found: Recording, sent: SidesForm | None) -> SidesForm | None:
    if sent is not None or not (may_change(request.user, found) and may_differ(found)):
        return sent
    return SidesForm(initial={"sides": found.sides})
