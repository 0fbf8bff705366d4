"""The to-do page: what to run, calls that wait for their results, drafts, and calls that wait for a recording."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from emma_eval.accounts.roles import Role, UserRequest, for_roles

from ..comments.tell_threads import tell_threads
from ..filing.correct_result import Corrected, CorrectedElsewhereError, NotALinkError, ReviewedError, add_recording_link
from ..filing.forms import sentence
from ..filing.rules import Code, Fault, without_control_characters
from ..filing.tell_call import titles_of, waiting_calls
from ..filing.tell_drafts import tell_drafts
from ..filing.typed import number_in
from ..live_call.wait_for_results import calls_that_wait
from ..models import Draft, Result
from ..recordings.uploads.tell_uploads import uploads_there
from ..rounds.today import to_run
from .addresses import is_for_a_part
from .correcting import own_result

MOST_SHOWN = 200
LINKS_AT_FIRST = 10


@never_cache
@for_roles(Role.TESTER)
def todo(request: UserRequest) -> HttpResponse:
    """What this tester has left to do."""
    if request.method == "POST":
        return _add_link(request)
    return _show(request)


@never_cache
@for_roles(Role.TESTER)
@require_safe
def todo_today(request: UserRequest) -> HttpResponse:
    """One line of what to run, for pages that stand below rounds and fetch it by this address."""
    if not is_for_a_part(request):
        return redirect("todo")
    return render(request, "results/todo.html#today", {"to_run": to_run(request.user)})


def _show(request: UserRequest, typed: str = "", wrong: int = 0, words: str = "") -> HttpResponse:
    calls = waiting_calls(request.user, MOST_SHOWN)
    shows_all = bool(wrong) or request.GET.get("links") == "all"
    drafts = Draft.objects.visible_to(request.user).select_related("script__latest").order_by("-saved_at")
    context = {
        "to_run": to_run(request.user),
        "drafts": tell_drafts(drafts[:MOST_SHOWN]),
        "unfiled": calls_that_wait(request.user, MOST_SHOWN),
        "calls": calls if shows_all else calls[:LINKS_AT_FIRST],
        "waiting": len(calls),
        "uploads": uploads_there(request.user),
        "threads": tell_threads(request.user, only_new=True),
        "has_filed": Result.objects.visible_to(request.user).filter(tester=request.user).exists(),
        "typed": typed,
        "wrong": wrong,
        "words": words,
    }
    return render(request, "results/todo.html", context, status=422 if wrong else 200)


def _add_link(request: UserRequest) -> HttpResponse:
    result = own_result(request, number_in(request.POST.get("result")))
    link = without_control_characters(request.POST.get("recording_link", "")).strip()
    try:
        corrected = add_recording_link(request.user, result, link)
    except NotALinkError as refused:
        return _show(request, link, result.pk, _words(refused.fault))
    except (ReviewedError, CorrectedElsewhereError):
        messages.warning(request, "This result was reviewed or changed meanwhile. Open it to see what it says now.")
        return redirect("todo")
    messages.success(request, _added(result, corrected))
    return redirect(f"{reverse('todo')}?links=all#links" if request.GET.get("links") == "all" else "todo")


def _words(fault: Fault) -> str:
    return "Paste the link of the recording." if fault.code == Code.MISSING else sentence(fault)


def _added(result: Result, corrected: Corrected | None) -> str:
    shared = corrected.shared if corrected else ()
    return f"The recording link is added to {titles_of([result, *shared])}."
