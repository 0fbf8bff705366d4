"""What recordings say themselves, beside the ratings of Listening & timing: a part of both dashboards, and a page."""

from __future__ import annotations

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from emma_eval.accounts.roles import UserRequest, for_roles
from scripts_catalog.models import Script

from ..dashboards.asked import read_asked
from ..dashboards.counting import Counting
from ..dashboards.heard import read_heard, reasons_of
from ..dashboards.heard_rows import list_calls
from ..dashboards.known import read_known
from .addresses import is_for_a_part
from .dashboard import DASHBOARD_ROLES, form_of, without_empty

FIELDS = ("build", "area", "returning", "period", "from", "to", "tags")


@require_safe
@for_roles(*DASHBOARD_ROLES)
@vary_on_headers("HX-Request")
def heard_calls(request: UserRequest) -> HttpResponseBase:
    """The figures by build, of all scripts or of one; 404 for one that this person may not know of.

    With `calls`, the name of a build, its recorded calls are listed below by pages, by the figure that `by` names.
    """
    if redirected := without_empty(request):
        return redirected
    script = _script(request)
    known = read_known(request.user, with_scripts=False)
    form = form_of(request, known, FIELDS)
    slug = script.slug if script else ""
    asked = read_asked(form.filters().but(script=slug), request.GET.dict())
    counting = Counting(request.user, asked.filters)
    heard = read_heard(counting, asked.filters.build)
    page = {
        "script": script,
        "filters": asked.filters,
        "query": f"{asked.query()}{f'&script={slug}' if slug else ''}",
        "heard": heard,
        "reasons": reasons_of(heard),
        "calls": list_calls(counting, heard, *(request.GET.get(each, "") for each in ("calls", "by", "page"))),
    }
    return render(request, f"results/heard_calls.html{'#by_build' if is_for_a_part(request) else ''}", page)


def _script(request: UserRequest) -> Script | None:
    slug = request.GET.get("script", "")
    if not slug:
        return None
    return get_object_or_404(Script.objects.visible_to(request.user).select_related("latest"), slug=slug)
