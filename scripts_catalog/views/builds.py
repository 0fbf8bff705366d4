"""Builds of Emma, and the link that opens her."""

from __future__ import annotations

from dataclasses import asdict

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from emma_eval.accounts.roles import Role, UserRequest, for_roles

from ..forms import EditBuildForm, NewBuildForm, SiteForm
from ..models import Build, RunCount, Site
from ..register_build import BuildExistsError, Particulars, change_build, make_build_current, register_build
from ..set_call_link import set_call_link


@for_roles(Role.EVAL_TEAM)
def builds(request: UserRequest) -> HttpResponse:
    """The list, with the site's own call link under it."""
    site = Site.objects.first()
    form = SiteForm(
        request.POST if request.method == "POST" else None, initial={"call_link": site.call_link if site else ""}
    )
    if form.is_valid():
        if set_call_link(form.cleaned_data["call_link"], request.user):
            messages.success(request, "The call link of the site is saved.")
        return redirect("builds")
    runs = {row.sort_key: row.runs for row in RunCount.objects.visible_to(request.user).by_build()}
    rows = [(build, runs.get(build.sort_key, 0)) for build in Build.objects.all()]
    context = {"rows": rows, "form": form}
    return render(request, "scripts_catalog/builds.html", context, status=422 if form.errors else 200)


def _particulars(form: EditBuildForm) -> Particulars:
    return Particulars(**{name: form.cleaned_data[name] for name in Particulars.__dataclass_fields__})


@for_roles(Role.EVAL_TEAM)
def build_new(request: UserRequest) -> HttpResponse:
    form = NewBuildForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        name, make_current = form.cleaned_data["name"], form.cleaned_data["is_current"]
        try:
            build = register_build(name, _particulars(form), make_current=make_current, by=request.user)
        except BuildExistsError:
            form.refuse_name()
        else:
            messages.success(request, f"Build {build} is registered.")
            return redirect("builds")
    return render(request, "scripts_catalog/build_form.html", {"form": form}, status=422 if form.errors else 200)


@for_roles(Role.EVAL_TEAM)
def build_edit(request: UserRequest, pk: int) -> HttpResponse:
    build = get_object_or_404(Build, pk=pk)
    said = asdict(Particulars(build.released_on, build.note, build.call_link))
    form = EditBuildForm(request.POST if request.method == "POST" else None, initial=said)
    if form.is_valid():
        changed = change_build(build, _particulars(form), by=request.user)
        messages.success(request, f"Build {build} is saved." if changed else "Nothing was changed.")
        return redirect("builds")
    context = {"form": form, "build": build}
    return render(request, "scripts_catalog/build_form.html", context, status=422 if form.errors else 200)


@require_POST
@for_roles(Role.EVAL_TEAM)
def build_make_current(request: UserRequest, pk: int) -> HttpResponse:
    build = get_object_or_404(Build, pk=pk)
    if make_build_current(build, request.user):
        messages.success(request, f"Build {build} is the current one: new results start with it.")
    return redirect("builds")
