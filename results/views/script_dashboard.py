"""The dashboard of one script."""

from __future__ import annotations

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from emma_eval.accounts.roles import UserRequest, for_roles
from scripts_catalog.models import Script

from ..dashboards.asked import read_asked
from ..dashboards.counting import Counting
from ..dashboards.known import read_known
from ..dashboards.one_script import build_script_dashboard
from .dashboard import DASHBOARD_ROLES, answer, form_of, page_of, without_empty

FIELDS = ("build", "returning", "period", "from", "to", "tags")


@require_safe
@for_roles(*DASHBOARD_ROLES)
@vary_on_headers("HX-Request")
def script_dashboard(request: UserRequest, slug: str) -> HttpResponseBase:
    """The same figures for one script; 404 for one that isn't there and for one that this person may not know of."""
    seen = Script.objects.visible_to(request.user).exclude(latest=None).select_related("latest")
    script = get_object_or_404(seen, slug=slug)
    if redirected := without_empty(request):
        return redirected
    known = read_known(request.user, with_scripts=False)
    form = form_of(request, known, FIELDS)
    asked = read_asked(form.filters().but(script=script.slug), request.GET.dict())
    counting = Counting(request.user, asked.filters)
    title = script.latest.title if script.latest else script.slug
    page = {
        **page_of(request, form, asked, known),
        "script": script,
        "figures": build_script_dashboard(counting, asked, known, title),
    }
    return answer(request, "results/script_dashboard.html", page)
