"""Writing scripts in the site: new ones, new versions, retiring."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from emma_eval.accounts.roles import Role, UserRequest, for_roles

from ..compare_versions import compare_versions
from ..forms import EditScriptForm, NewScriptForm, ScriptForm, areas_for
from ..models import Script, ScriptVersion
from ..publish_version import SlugTakenError, StaleError, publish_script, publish_version
from ..retire_script import bring_back_script, retire_script
from .scripts import known_script

PAGE = "scripts_catalog/script_form.html"


def _page(request: UserRequest, form: ScriptForm, script: Script | None = None, **more: Any) -> HttpResponse:
    """The form; with a preview of what was typed where that was asked for and is right."""
    status = 422 if form.errors else 200
    if form.is_bound and not form.errors and "preview" in request.POST:
        more["preview"] = ScriptVersion(**form.wording().columns())
    return render(request, PAGE, {"form": form, "script": script, **more}, status=more.get("status", status))


@for_roles(Role.EVAL_TEAM)
def script_new(request: UserRequest) -> HttpResponse:
    form = NewScriptForm(request.POST if request.method == "POST" else None, areas=areas_for(request.user))
    if form.is_valid() and "preview" not in request.POST:
        try:
            version = publish_script(form.cleaned_data["slug"], form.wording(), by=request.user)
        except SlugTakenError:
            form.refuse_slug()
        else:
            messages.success(request, f"“{version.title}” is published.")
            return redirect(version.script)
    return _page(request, form)


@for_roles(Role.EVAL_TEAM)
def script_edit(request: UserRequest, slug: str) -> HttpResponse:
    """The next version. It is published only over the version that the editor read."""
    script = known_script(request, slug)
    areas = areas_for(request.user)
    if request.method != "POST":
        typed = {**ScriptForm.typed_of(script.latest), "started_from": script.latest_id} if script.latest else {}
        return _page(request, EditScriptForm(initial=typed, areas=areas), script)
    form = EditScriptForm(request.POST, areas=areas)
    if not form.is_valid() or "preview" in request.POST:
        return _page(request, form, script)
    return _publish(request, form, script)


def _publish(request: UserRequest, form: EditScriptForm, script: Script) -> HttpResponse:
    started_from, note = form.cleaned_data["started_from"], form.cleaned_data["change_note"]
    try:
        version = publish_version(script, form.wording(), by=request.user, started_from=started_from, note=note)
    except Script.DoesNotExist as cause:
        raise Http404 from cause
    except StaleError as stale:
        return _stale(request, form, script, stale.latest)
    if version is None:
        messages.info(request, "Nothing was changed, so there is no new version.")
    else:
        messages.success(request, f"Version {version.number_for(request.user)} is published.")
    return redirect(script)


def _stale(request: UserRequest, form: EditScriptForm, script: Script, latest: ScriptVersion) -> HttpResponse:
    """Both texts, side by side; what was typed stays, and publishing again is now a choice made knowingly."""
    typed = request.POST.copy()
    typed["started_from"] = str(latest.pk)
    again = EditScriptForm(typed, areas=areas_for(request.user))
    again.is_valid()
    differences = compare_versions(latest.wording, form.wording())
    return _page(request, again, script, stale=latest, differences=differences, status=409)


@require_POST
@for_roles(Role.EVAL_TEAM)
def script_retire(request: UserRequest, slug: str) -> HttpResponse:
    """Take it out of the lists, or (with to=use) bring it back."""
    script = known_script(request, slug)
    if request.POST.get("to") == "use":
        if bring_back_script(script, request.user):
            messages.success(request, "The script is back on the Scripts tab.")
    elif retire_script(script, request.user):
        messages.success(request, "The script is retired. Its results stay, and it can be brought back.")
    return redirect(script)
