"""Correcting a filed result, and the to-do page: drafts to go on with, results that wait for a recording link."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache

from emma_eval.accounts import resume
from emma_eval.accounts.roles import Role, UserRequest, for_roles

from ..correct_result import CorrectedElsewhereError, NotALinkError, ReviewedError, add_recording_link, correct_result
from ..forms import ResultForm, sentence
from ..merge_drafts import differences
from ..models import Draft, Result
from ..rules import Code, Fault, without_control_characters
from ..typed import number_in, typed_in
from .form_page import FormPage
from .words import typed_of

MOST_SHOWN = 200


@never_cache
@resume.keeps_what_was_typed()
@for_roles(Role.TESTER)
def result_edit(request: UserRequest, pk: int) -> HttpResponse:
    """The form of a filed result, for its tester, until it is reviewed."""
    result = _own_result(request, pk)
    if result.reviewed_at is not None:
        return render(request, "results/reviewed.html", {"result": result}, status=409)
    kept = resume.take(request)
    form = ResultForm(
        request.POST or None,
        initial=typed_in(kept.dict()) if kept is not None else typed_of(result),
        version_run=result.script_version,
        tester_id=request.user.pk,
        as_filed=result,
    )
    if not form.is_bound:
        return _show(request, result, form, number_in(kept.get("version") if kept else "") or result.version)
    based_on = number_in(request.POST.get("version"))
    return _correct(request, result, form, based_on) if form.is_valid() else _show(request, result, form, based_on, 422)


def _own_result(request: UserRequest, pk: int) -> Result:
    found = Result.objects.visible_to(request.user).select_related("script", "script_version__script", "build")
    result = get_object_or_404(found, pk=pk)
    if result.tester_id != request.user.pk:
        raise PermissionDenied
    return result


def _show(request: UserRequest, result: Result, form: ResultForm, version: int, status: int = 200) -> HttpResponse:
    page = FormPage(form, str(result.draft_uuid), result_version=version)
    return render(request, "results/result_form.html", {**page.context(), "result": result}, status=status)


def _correct(request: UserRequest, result: Result, form: ResultForm, based_on: int) -> HttpResponse:
    try:
        change = correct_result(request.user, result, form.filing, based_on=based_on)
    except ReviewedError:
        return render(request, "results/reviewed.html", {"result": result}, status=409)
    except CorrectedElsewhereError as elsewhere:
        return _changed_meanwhile(request, elsewhere.result, form)
    messages.success(request, "The correction is saved." if change else "Nothing was changed: it says so already.")
    return redirect(result)


def _changed_meanwhile(request: UserRequest, now: Result, form: ResultForm) -> HttpResponse:
    """Another tab has corrected it: all that was typed stays, with what the result says now beside it."""
    for each in differences(typed_in(request.POST.dict()), typed_of(now)):
        says = "; ".join(each.theirs) or "nothing"
        field = each.field if each.field in form.fields else None
        form.add_error(field, f"{each.label}: another tab changed this to “{says}”. Save again to keep yours.")
    return _show(request, now, form, now.version, status=409)


@never_cache
@for_roles(Role.TESTER)
def todo(request: UserRequest) -> HttpResponse:
    """What this tester has left to do."""
    if request.method == "POST":
        return _add_link(request)
    return _show_todo(request)


def _show_todo(request: UserRequest, typed: str = "", wrong: int = 0, words: str = "") -> HttpResponse:
    drafts = Draft.objects.visible_to(request.user).select_related("script__latest").order_by("-saved_at")
    context = {
        "drafts": drafts[:MOST_SHOWN],
        "results": Result.objects.visible_to(request.user)
        .waiting_for_link_of(request.user)
        .select_related("script_version", "build")
        .order_by("-called_at", "-id")[:MOST_SHOWN],
        "typed": typed,
        "wrong": wrong,
        "words": words,
    }
    return render(request, "results/todo.html", context, status=422 if wrong else 200)


def _add_link(request: UserRequest) -> HttpResponse:
    result = _own_result(request, number_in(request.POST.get("result")))
    link = without_control_characters(request.POST.get("recording_link", "")).strip()
    try:
        add_recording_link(request.user, result, link)
    except NotALinkError:
        words = sentence(Fault("recording_link", Code.NOT_A_LINK)) if link else "Paste the link of the recording."
        return _show_todo(request, link, result.pk, words)
    except (ReviewedError, CorrectedElsewhereError):
        messages.warning(request, "This result was reviewed or changed meanwhile. Open it to see what it says now.")
        return redirect("todo")
    messages.success(request, "The recording link is added.")
    return redirect("todo")
