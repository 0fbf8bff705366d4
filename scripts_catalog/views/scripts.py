"""The Scripts tab, a script, its older versions and what changed between them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from emma_eval.accounts.roles import Role, UserRequest, for_members

from ..compare_versions import Change, compare_versions
from ..find_scripts import find_scripts
from ..forms import FilterForm, areas_for
from ..models import Build, RunCount, Script, ScriptVersion, Site

CHANGES_A_PAGE = 20


@for_members
def scripts(request: UserRequest) -> HttpResponse:
    """By area, narrowed by the address. htmx asks for the list alone."""
    is_writer = request.user.has_role(Role.EVAL_TEAM)
    form = FilterForm(request.GET, areas=areas_for(request.user), may_see_retired=is_writer)
    wanted = form.wanted()
    build = Build.objects.current_build()
    shelves = find_scripts(request.user, wanted, build)
    context = {
        "form": form,
        "wanted": wanted.in_address(),
        "build": build,
        "shelves": shelves,
        "found": sum(len(shelf.scripts) for shelf in shelves),
        "is_writer": is_writer,
        "may_file": request.user.has_role(Role.TESTER),
    }
    page = "scripts_catalog/scripts.html"
    response = render(request, f"{page}#fragment" if request.headers.get("HX-Request") else page, context)
    response["HX-Replace-Url"] = f"{request.path}?{urlencode(wanted.in_address())}".rstrip("?")
    response["Vary"] = "HX-Request"
    return response


def known_script(request: UserRequest, slug: str) -> Script:
    """The script, or 404 for one that isn't there and for one that this person may not know of."""
    known = Script.objects.visible_to(request.user).exclude(latest=None).select_related("latest__edited_by")
    return get_object_or_404(known, slug=slug)


@for_members
def script(request: UserRequest, slug: str) -> HttpResponse:
    """What to do, the steps, what 5 and 1 look like: read on a phone right before a call."""
    found = known_script(request, slug)
    build = Build.objects.current_build()
    version = found.latest
    assert version is not None  # noqa: S101 (known_script leaves those without a version out)
    context = {
        "script": found,
        "version": version,
        "number": version.number_for(request.user),
        "build": build,
        "new_call": uuid.uuid4(),  # so that a button that is pressed twice begins one call
        "call_link": Site.objects.call_link_for(build),
        "may_file": request.user.has_role(Role.TESTER) and not found.retired_at,
        "runs": RunCount.objects.visible_to(request.user).filter(script=found).by_build(),
        "is_writer": request.user.has_role(Role.EVAL_TEAM),
        "has_dashboard": request.user.has_role(Role.MANAGER, Role.EVAL_TEAM, Role.EVAL_LEAD),
    }
    return render(request, "scripts_catalog/script.html", context)


@for_members
def script_version(request: UserRequest, slug: str, number: int) -> HttpResponse:
    found = known_script(request, slug)
    version = get_object_or_404(ScriptVersion.objects.known_as(number, request.user), script=found)
    context = {"script": found, "version": version, "number": number, "is_latest": version.pk == found.latest_id}
    return render(request, "scripts_catalog/script_version.html", context)


@dataclass(frozen=True)
class Step:
    """One version in the history, and what it changed from the one before; nothing for the first one."""

    version: ScriptVersion
    number: int
    note: str
    changes: list[Change]


def _history(versions: list[ScriptVersion], request: UserRequest) -> list[Step]:
    """Neighbours as this person knows them are compared, so that no gap tells of a version kept from them.

    The note of a version that follows a hidden one is left out: it was written about what is hidden. Where
    nothing differs from the last open version, the later one stands as it reads, as a first version does.
    """
    steps = []
    for version, before in zip(versions, [*versions[1:], None], strict=True):
        follows = before is not None and before.number == version.number - 1
        changes = compare_versions(before.wording, version.wording) if before else []
        note = version.change_note if follows else ""
        steps.append(Step(version, version.number_for(request.user), note, changes))
    return steps


@for_members
def script_changes(request: UserRequest, slug: str) -> HttpResponse:
    """The versions, newest first, each with what it changed."""
    found = known_script(request, slug)
    known: QuerySet[ScriptVersion] = ScriptVersion.objects.visible_to(request.user).filter(script=found)
    before = request.GET.get("before", "")
    if before.isdecimal() and len(before) < 10:
        number = "number" if request.user.is_trained else "open_number"
        known = known.filter(**{f"{number}__lt": int(before)})
    versions = list(known.select_related("edited_by").order_by("-number")[: CHANGES_A_PAGE + 1])
    steps = _history(versions, request)[:CHANGES_A_PAGE]
    older = steps[-1].number if len(versions) > CHANGES_A_PAGE else None
    context = {"script": found, "version": found.latest, "steps": steps, "older": older}
    return render(request, "scripts_catalog/script_changes.html", context)
