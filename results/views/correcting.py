"""Correcting a filed result, in the form that it was filed with."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache

from emma_eval.accounts import resume
from emma_eval.accounts.roles import Role, UserRequest, for_roles

from ..filing.correct_result import Corrected, CorrectedElsewhereError, ReviewedError, correct_result
from ..filing.forms import ResultForm
from ..filing.merge_drafts import differences
from ..filing.tell_call import call_held, results_of_call, titles_of
from ..filing.typed import number_in, typed_in
from ..models import Result
from .form_page import FormPage
from .words import typed_of


@never_cache
@resume.keeps_what_was_typed()
@for_roles(Role.TESTER)
def result_edit(request: UserRequest, pk: int) -> HttpResponse:
    """The form of a filed result, for its tester, until it is reviewed."""
    result = own_result(request, pk)
    if result.reviewed_at is not None:
        return render(request, "results/reviewed.html", {"result": result}, status=409)
    kept = resume.take(request)
    form = ResultForm(
        request.POST or None,
        initial=typed_in(kept.dict()) if kept is not None else typed_of(result),
        version_run=result.script_version,
        tester=request.user,
        as_filed=result,
    )
    if not form.is_bound:
        version = number_in(kept.get("version") if kept else "") or result.version
        return _show(request, result, form, version, is_unsaved=kept is not None)
    based_on = number_in(request.POST.get("version"))
    return _correct(request, result, form, based_on) if form.is_valid() else _show(request, result, form, based_on, 422)


def own_result(request: UserRequest, pk: int) -> Result:
    """The result, if this person filed it; nobody else corrects it."""
    found = Result.objects.visible_to(request.user).select_related("script", "script_version__script", "build")
    result = get_object_or_404(found, pk=pk)
    if result.tester_id != request.user.pk:
        raise PermissionDenied
    return result


def _show(
    request: UserRequest, result: Result, form: ResultForm, version: int, status: int = 200, *, is_unsaved: bool = True
) -> HttpResponse:
    """The form; `is_unsaved` where it holds what was typed and not what is filed."""
    mates = results_of_call(request.user, result.call_uuid, besides=result.draft_uuid)
    held = call_held(request.user, result.call_uuid)
    page = FormPage(form, str(result.draft_uuid), result_version=version, is_unsaved=is_unsaved, mates=mates, held=held)
    return render(request, "results/result_form.html", {**page.context(), "result": result}, status=status)


def _correct(request: UserRequest, result: Result, form: ResultForm, based_on: int) -> HttpResponse:
    try:
        corrected = correct_result(request.user, result, form.filing, based_on=based_on)
    except ReviewedError:
        return render(request, "results/reviewed.html", {"result": result}, status=409)
    except CorrectedElsewhereError as elsewhere:
        return _changed_meanwhile(request, elsewhere.result, form)
    messages.success(request, _said(corrected))
    return redirect(result)


def _said(corrected: Corrected | None) -> str:
    """What was changed, on this result and on the others of its call."""
    if corrected is None:
        return "Nothing was changed: it says so already."
    said = ["The correction is saved."]
    if corrected.shared:
        many = f"{len(corrected.shared)} other result{'s' if len(corrected.shared) > 1 else ''} of this call"
        said.append(f"What you changed about the call was changed on {many} too: {titles_of(corrected.shared)}.")
    if corrected.reviewed:
        stay = "have been reviewed, so they stay" if len(corrected.reviewed) > 1 else "has been reviewed, so it stays"
        said.append(f"{titles_of(corrected.reviewed)} {stay} as filed.")
    return " ".join(said)


def _changed_meanwhile(request: UserRequest, now: Result, form: ResultForm) -> HttpResponse:
    """Another tab has corrected it: all that was typed stays, with what the result says now beside it."""
    typed = {**typed_in(request.POST.dict()), "script_version": str(now.script_version_id)}
    for each in differences(request.user, typed, typed_of(now)):
        says = "; ".join(each.theirs) or "nothing"
        form.add_error(each.field, f"{each.label}: another tab changed this to “{says}”. Save again to keep yours.")
    return _show(request, now, form, now.version, status=409)
