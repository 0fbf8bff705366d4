"""Remove a recording, after a page that says what goes and what stays; and who watched it."""

from __future__ import annotations

import uuid as uuids

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from emma_eval.accounts.roles import OPENED_OR_SENT, Role, UserRequest, for_roles

from ..models import Recording, RecordingState
from ..recordings.removal.removal_form import RemovalForm
from ..recordings.removal.remove_recording import remove_recording
from ..recordings.rights import LOOKING_AFTER, may_remove

REMOVED = "The recording is removed. Nobody can play it any more."
REMOVED_BEFORE = "The recording was removed before."
A_PAGE = 100


@never_cache
@for_roles(Role.TESTER, *LOOKING_AFTER)
@require_http_methods(OPENED_OR_SENT)
def recording_remove(request: UserRequest, uuid: uuids.UUID) -> HttpResponse:
    """For whoever looks after it; to others who see it, it is as if there were no such page."""
    recording = _seen(request, uuid)
    if not may_remove(request.user, recording):
        raise Http404
    form = RemovalForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        is_new = remove_recording(recording, request.user, form.cleaned_data["reason"], form.cleaned_data["words"])
        messages.success(request, REMOVED if is_new else REMOVED_BEFORE)
        return redirect(recording)
    is_removed = recording.state == RecordingState.REMOVED
    context = {"recording": recording, "is_removed": is_removed, "form": form}
    return render(request, "results/recording_remove.html", context, status=422 if form.errors else 200)


@never_cache
@require_safe
@for_roles(*LOOKING_AFTER)
def recording_watches(request: UserRequest, uuid: uuids.UUID) -> HttpResponse:
    """Who was given it to watch, the latest first; also of one that is removed."""
    recording = _seen(request, uuid)
    sittings = list(recording.watches.select_related("by").order_by("-began_at")[: A_PAGE + 1])
    context = {"recording": recording, "sittings": sittings[:A_PAGE], "are_more": len(sittings) > A_PAGE}
    return render(request, "results/recording_watches.html", context)


def _seen(request: UserRequest, uuid: uuids.UUID) -> Recording:
    seen = Recording.objects.visible_to(request.user).select_related("tester", "removed_by")
    return get_object_or_404(seen, pk=uuid)
