"""The dashboard of managers and the eval team."""

from __future__ import annotations

from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from emma_eval.accounts.roles import Role, UserRequest, for_roles
from scripts_catalog import taxonomy

from ..dashboard import FEWEST, build_dashboard
from ..listing.choices import choices_for
from ..listing.filter_form import FilterForm
from .addresses import clean_address, is_for_a_part

FIELDS = ("build", "area", "from", "to")


@require_safe
@for_roles(Role.MANAGER, Role.EVAL_TEAM)
@vary_on_headers("HX-Request")
def dashboard(request: UserRequest) -> HttpResponseBase:
    """Counts and means of what was filed, each linking to its rows: the whole page, or for htmx its figures."""
    is_for_the_figures = is_for_a_part(request)
    address = clean_address(request, "dashboard")
    if "" in request.GET.values() and not is_for_the_figures:
        return redirect(address)
    choices = choices_for(request.user)
    form = FilterForm(request.GET, choices, only=FIELDS)
    filters = form.filters()
    page = {
        "form": form,
        "filters": filters,
        "fewest": FEWEST,
        "worst": taxonomy.SCALE[0][1],
        "best": taxonomy.SCALE[-1][1],
        "figures": build_dashboard(request.user, filters, choices.scripts),
    }
    if not is_for_the_figures:
        return render(request, "results/dashboard.html", page)
    response = render(request, "results/dashboard.html#figures", page)
    response["HX-Push-Url"] = address
    return response
