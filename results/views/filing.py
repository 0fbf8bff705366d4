"""Filing a result: the form, its draft that is saved as you go, two tabs put together, and the filing itself."""

from __future__ import annotations

import uuid as uuids
from dataclasses import replace

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from emma_eval.accounts import resume
from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role, UserRequest, for_roles
from scripts_catalog import taxonomy
from scripts_catalog.models import Build, Script, ScriptVersion

from ..filing.correct_result import give_link_to_mates
from ..filing.file_result import (
    CallToldOtherwiseError,
    Filed,
    FiledOtherwiseError,
    ScriptFiledForCallError,
    file_result,
)
from ..filing.forms import NO, YES, ResultForm
from ..filing.merge_drafts import differences, merged
from ..filing.save_draft import (
    ChangedElsewhereError,
    FiledAlreadyError,
    changed_elsewhere,
    discard_draft,
    save_draft,
)
from ..filing.tell_call import call_held, results_of_call, titles_of
from ..filing.tell_drafts import other_drafts
from ..filing.typed import Typed, number_in, said, typed_in
from ..models import Call, Draft, Result
from .form_page import FormPage
from .saving import save
from .see_other import SeeOther
from .words import typed_of

# --- the form ----------------------------------------------------------------------------------


@never_cache
@for_roles(Role.TESTER)
def result_new(request: UserRequest) -> HttpResponse:
    """A fresh form; the browser takes a UUID of its own for it, or goes to the one made here."""
    slug = request.GET.get("script", "")
    if not slug:
        return _pick_a_script(request, uuids.uuid4(), is_new=True)
    call = _call_in(request)
    version = _version_run(request.user, slug, call)
    if any(result.script_id == slug for result in results_of_call(request.user, call)):
        messages.warning(request, f"“{version.title}” is filed for this call already. Pick another script.")
        return _pick_a_script(request, uuids.uuid4(), is_new=True)
    typed = _first_words(request.user, version, call)
    form = _form(request.user, version, typed)
    return _show(request, FormPage(form, str(uuids.uuid4()), is_new=True))


@never_cache
@for_roles(Role.TESTER)
@require_http_methods(["GET", "HEAD", "PUT", "DELETE", "POST"])
def draft(request: UserRequest, uuid: uuids.UUID) -> HttpResponseBase:
    """The form of one draft: show it, save it (PUT), throw it away (DELETE, or POST from the to-do page)."""
    if request.method == "PUT":
        return save(request, uuid)
    if request.method in {"DELETE", "POST"}:
        discard_draft(request.user, uuid)
        return HttpResponse(status=204) if request.method == "DELETE" else SeeOther(reverse("todo"))
    filed = Result.objects.visible_to(request.user).filter(tester=request.user, draft_uuid=uuid).first()
    if filed is not None:
        return render(request, "results/already_filed.html", {"result": filed, "uuid": uuid})
    return _show_draft(request, uuid)


def _show_draft(request: UserRequest, uuid: uuids.UUID) -> HttpResponse:
    kept = resume.take(request)
    found = Draft.objects.visible_to(request.user).filter(uuid=uuid).first()
    typed = typed_in(kept.dict()) if kept is not None else found.fields if found is not None else None
    version = _version_for(request, found, typed)
    if version is None:
        return _pick_a_script(request, uuid)
    words = typed if typed is not None else _first_words(request.user, version, _call_in(request))
    page = FormPage(
        _form(request.user, version, words),
        str(uuid),
        draft_version=found.version if found is not None else 0,
        saved_at=found.saved_at if found is not None else None,
        is_unsaved=kept is not None,
        is_merged="merged" in request.GET,
    )
    return _show(request, page)


def _version_for(request: UserRequest, found: Draft | None, typed: Typed | None) -> ScriptVersion | None:
    """The version that is being filed: as it stands in the draft, as asked for, or the script's latest."""
    named = (typed or {}).get("script_version") or request.GET.get("script_version")
    if named:
        return _version(request.user, named)
    slug = request.GET.get("script") or (found.script_id if found is not None else "")
    return _version_run(request.user, slug, _call_in(request)) if slug else None


def _version(user: User, pk: str) -> ScriptVersion:
    versions = ScriptVersion.objects.visible_to(user).select_related("script")
    return get_object_or_404(versions, pk=number_in(pk))


def _version_run(user: User, slug: str, call: uuids.UUID | None) -> ScriptVersion:
    """The version that was run on the call that the address names; otherwise the script's latest."""
    held = call_held(user, call)
    run = held.runs.filter(script__slug=slug).first() if held else None
    return _version(user, str(run.script_version_id)) if run else _latest_version(user, slug)


def _latest_version(user: User, slug: str) -> ScriptVersion:
    script = get_object_or_404(Script.objects.visible_to(user).select_related("latest"), slug=slug)
    if script.latest is None:
        raise Http404
    script.latest.script = script
    return script.latest


def _form(user: User, version: ScriptVersion, typed: Typed) -> ResultForm:
    return ResultForm(initial=typed, version_run=version, tester=user)


def _call_in(request: UserRequest) -> uuids.UUID | None:
    """The call that the address names, for another script of it."""
    try:
        return uuids.UUID(request.GET.get("call", ""))
    except ValueError:
        return None


def _first_words(user: User, version: ScriptVersion, call: uuids.UUID | None) -> Typed:
    """What a fresh form says: the current build, now, the script's camera; or what the same call said before."""
    of_the_call = results_of_call(user, call)
    if of_the_call:
        known = typed_of(of_the_call[0])
        return {
            **{name: known[name] for name in ("call", "build", "called_at", "recording_link") if name in known},
            "met_emma_before": known["met_emma_before"],
            "camera_used": YES if version.uses_camera else NO,
        }
    held = call_held(user, call)
    build = (held.build if held else None) or Build.objects.current_build()
    has_met = Result.objects.filter(tester=user, never_started=False).exists()
    return {
        "call": str(held.uuid if held else uuids.uuid4()),
        **_first_time(version, held),
        "camera_used": YES if version.uses_camera else NO,
        **({"build": str(build.pk)} if build else {}),
        **({"met_emma_before": YES} if has_met else {}),
    }


def _first_time(version: ScriptVersion, held: Call | None) -> Typed:
    """When the call began, to the second, where that was told; otherwise now, unless now is too late."""
    if held and held.started_at:
        return {"called_at": f"{timezone.localtime(held.started_at):%Y-%m-%dT%H:%M:%S}"}
    return {} if version.script.retired_at else {"called_at": f"{timezone.localtime():%Y-%m-%dT%H:%M}"}


def _show(request: UserRequest, page: FormPage, status: int = 200) -> HttpResponse:
    """The form, with what is filed of its call and what else is begun of its script."""
    draft_uuid = uuids.UUID(page.uuid)
    page = replace(
        page,
        mates=results_of_call(request.user, page.call, besides=draft_uuid),
        other_drafts=other_drafts(request.user, page.version.script, besides=draft_uuid),
        held=call_held(request.user, page.call),
    )
    return render(request, "results/result_form.html", page.context(), status=status)


def _pick_a_script(request: UserRequest, uuid: uuids.UUID, *, is_new: bool = False) -> HttpResponse:
    scripts = Script.objects.visible_to(request.user).in_use().exclude(latest=None).select_related("latest")
    by_area = [
        (name, [script for script in scripts.order_by("latest__title") if script.area == area])
        for area, name in taxonomy.AREAS
    ]
    filed = {result.script_id: result for result in results_of_call(request.user, _call_in(request))}
    context = {
        "areas": [(name, _with_results(found, filed)) for name, found in by_area if found],
        "address": reverse("result_new") if is_new else reverse("draft", args=[uuid]),
        "call": request.GET.get("call", ""),
    }
    return render(request, "results/pick_script.html", context)


def _with_results(scripts: list[Script], filed: dict[str, Result]) -> list[tuple[Script, Result | None]]:
    """Each script with what is filed of it for the call in hand: it can't be filed for that call again."""
    return [(script, filed.get(script.slug)) for script in scripts]


# --- filing ------------------------------------------------------------------------------------


@never_cache
@resume.keeps_what_was_typed(back_to="draft")
@for_roles(Role.TESTER)
@require_http_methods(["GET", "HEAD", "POST"])
def draft_file(request: UserRequest, uuid: uuids.UUID) -> HttpResponse:
    """File the draft: once, however often it is asked for."""
    if request.method != "POST":
        return redirect("draft", uuid)
    version = _version(request.user, request.POST.get("script_version", ""))
    there = _own_draft(request.user, uuid, version.script)
    form = ResultForm(request.POST, version_run=version, tester=request.user)
    typed = typed_in(request.POST.dict())
    if not form.is_valid():
        return _show_faults(request, uuid, form, typed)
    if there is not None and changed_elsewhere(there, typed, based_on=number_in(request.POST.get("version"))):
        return _choose(request, uuid, typed, there, {})
    return _file(request, uuid, form)


def _own_draft(user: User, uuid: uuids.UUID, script: Script) -> Draft | None:
    """A tester's draft, mostly of this script. One that is kept from them at present waits as it is: nothing is
    written over it.
    """
    try:
        found = Draft.objects.get(tester=user, uuid=uuid)
    except Draft.DoesNotExist:
        return None
    if found.script_id == script.slug:
        found.script = script
    if not found.is_visible_to(user):
        raise Http404
    return found


def _show_faults(request: UserRequest, uuid: uuids.UUID, form: ResultForm, typed: Typed) -> HttpResponse:
    """The form with what is wrong; unless it was filed before, from another page."""
    filed = Result.objects.filter(tester=request.user, draft_uuid=uuid).first()
    if filed is not None:
        return _already_filed(request, filed, typed)
    page = FormPage(form, str(uuid), draft_version=number_in(request.POST.get("version")), is_unsaved=True)
    return _show(request, page, status=422)


def _show_at_odds(request: UserRequest, uuid: uuids.UUID, form: ResultForm, at_odds: Result) -> HttpResponse:
    """What is filed of the call forbids this: all that was typed stays, to be mended or filed as another call."""
    version = number_in(request.POST.get("version"))
    page = FormPage(form, str(uuid), draft_version=version, is_unsaved=True, at_odds=at_odds)
    return _show(request, page, status=422)


def _file(request: UserRequest, uuid: uuids.UUID, form: ResultForm) -> HttpResponse:
    try:
        filed = file_result(request.user, uuid, form.filing, call_uuid=_call_of(request, form))
    except FiledOtherwiseError as otherwise:
        return _already_filed(request, otherwise.result, typed_in(request.POST.dict()))
    except CallToldOtherwiseError as told_otherwise:
        for field, words in told_otherwise.faults:
            form.add_error(field, words)
        return _show_at_odds(request, uuid, form, told_otherwise.result)
    except ScriptFiledForCallError as filed_for_call:
        twin = filed_for_call.result
        form.add_error(None, f"“{twin.script_version.title}” is filed for this call already: one call has one of each.")
        return _show_at_odds(request, uuid, form, twin)
    _say_filed(request, filed.result, form)
    _give_link_to(request, filed)
    return SeeOther(filed.result.get_absolute_url())


def _call_of(request: UserRequest, form: ResultForm) -> uuids.UUID | None:
    """The call that the form names, unless the tester says it was another call.

    Nobody asks whether the UUID is somebody else's too: the answer would tell of results that are hidden.
    """
    call: uuids.UUID | None = form.cleaned_data["call"]
    return None if "another_call" in request.POST else call


def _give_link_to(request: UserRequest, filed: Filed) -> None:
    got_it = give_link_to_mates(request.user, filed)
    if got_it:
        messages.success(request, f"The recording link was added to {titles_of(got_it)} too.")


def _say_filed(request: UserRequest, result: Result, form: ResultForm) -> None:
    notes = ["Filed."]
    if form.was_stuck_start_added:
        notes.append("“Stuck start, no audio or unresponsive” was put first among the problems.")
    has_none = not result.recording_link and not result.never_started  # or there is nothing to ask the database
    if has_none and Result.objects.waiting_for_link_of(request.user).filter(pk=result.pk).exists():
        notes.append("Its recording is still missing: upload it or give its link, here or on your to-do page.")
    messages.success(request, " ".join(notes))


def _already_filed(request: UserRequest, result: Result, typed: Typed) -> HttpResponse:
    """The draft was filed before: show where, and what this page says otherwise. Nothing is changed."""
    if not Result.objects.visible_to(request.user).filter(pk=result.pk).exists():
        raise Http404
    found = differences(request.user, said(typed), typed_of(result))
    if not found:
        return SeeOther(result.get_absolute_url())
    context = {"result": result, "uuid": result.draft_uuid, "differences": found}
    return render(request, "results/already_filed.html", context, status=409)


# --- two tabs ----------------------------------------------------------------------------------


@never_cache
@resume.keeps_what_was_typed(back_to="draft")
@for_roles(Role.TESTER)
@require_POST
def draft_merge(request: UserRequest, uuid: uuids.UUID) -> HttpResponse:
    """Put two tabs together, field by field, as the tester chooses."""
    mine = typed_in(request.POST.dict())
    version = _version(request.user, mine.get("script_version", ""))
    there = _own_draft(request.user, uuid, version.script)
    words, based_on = mine, 0
    if there is not None:
        choices = _choices(request, mine, there)
        found = differences(request.user, mine, there.fields, choices)
        if not all(each.chosen for each in found):
            return _choose(request, uuid, mine, there, choices)
        words, based_on = merged(mine, there.fields, found), there.version
    return _keep_merged(request, uuid, version, words, based_on)


def _choices(request: UserRequest, mine: Typed, there: Draft) -> dict[str, str]:
    """Field by field or one side whole; nothing, if the other tab has gone on since the choices were shown."""
    if number_in(request.POST.get("against")) != there.version:
        return {}
    if "whole" in request.POST:
        return {each.name: request.POST["whole"] for each in differences(request.user, mine, there.fields)}
    return request.POST.dict()


def _keep_merged(
    request: UserRequest, uuid: uuids.UUID, version: ScriptVersion, words: Typed, based_on: int
) -> HttpResponse:
    try:
        save_draft(request.user, uuid, version.script, words, based_on=based_on)
    except ChangedElsewhereError as changed:
        return _choose(request, uuid, words, changed.draft, {})
    except FiledAlreadyError as filed:
        return _already_filed(request, filed.result, words)
    messages.success(request, "Put together and saved. Check the form, then file it.")
    return SeeOther(f"{reverse('draft', args=[uuid])}?merged=1")


def _choose(request: UserRequest, uuid: uuids.UUID, mine: Typed, there: Draft, choices: dict[str, str]) -> HttpResponse:
    """What differs, each to be chosen; as a page, or as a part of the form's page."""
    context = {
        "uuid": uuid,
        "mine": mine,
        "there": there,
        "differences": differences(request.user, mine, there.fields, choices),
        "is_incomplete": bool(choices),
    }
    part = "#choices" if request.headers.get("X-Fragment") else ""
    return render(request, f"results/merge.html{part}", context, status=409)
