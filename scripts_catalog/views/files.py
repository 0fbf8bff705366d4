"""Scripts as a YAML file: export, and import in two steps (look, then apply)."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from emma_eval.accounts.roles import Role, UserRequest, for_roles

from ..catalogue_file import CatalogueError, Entry, read
from ..export_scripts import export_scripts
from ..forms import ImportForm, areas_for
from ..import_scripts import Plan, PlanChangedError, import_scripts, plan_import

PAGE = "scripts_catalog/scripts_import.html"


@for_roles(Role.EVAL_TEAM)
def scripts_export(request: UserRequest) -> HttpResponse:
    response = HttpResponse(export_scripts(request.user), content_type="application/yaml; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="scripts-{timezone.localdate():%Y-%m-%d}.yaml"'
    return response


@for_roles(Role.EVAL_TEAM)
def scripts_import(request: UserRequest) -> HttpResponse:
    """An upload is shown as a plan; the plan is applied when it comes back with its digest."""
    form = ImportForm(request.POST if request.method == "POST" else None, request.FILES or None)
    if not form.is_valid():
        return render(request, PAGE, {"form": form}, status=422 if form.is_bound else 200)
    try:
        entries = read(form.cleaned_data["text"], areas_for(request.user))
        if form.cleaned_data["digest"]:
            return _apply(request, form, entries)
        return _show(request, form, plan_import(entries, request.user))
    except CatalogueError as cause:
        return render(request, PAGE, {"form": ImportForm(), "wrongs": cause.wrongs}, status=422)


def _show(request: UserRequest, form: ImportForm, plan: Plan, *, has_changed: bool = False) -> HttpResponse:
    context = {"form": form, "plan": plan, "text": form.cleaned_data["text"], "has_changed": has_changed}
    return render(request, PAGE, context, status=409 if has_changed else 200)


def _apply(request: UserRequest, form: ImportForm, entries: list[Entry]) -> HttpResponse:
    try:
        plan = import_scripts(entries, form.cleaned_data["digest"], by=request.user)
    except PlanChangedError:
        return _show(request, form, plan_import(entries, request.user), has_changed=True)
    count = len(plan.to_do)
    messages.success(request, f"{count} script{'' if count == 1 else 's'} published.")
    return redirect("scripts")
