"""Two builds beside each other."""

from __future__ import annotations

from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from emma_eval.accounts.roles import Role, UserRequest, for_roles
from emma_eval.scoring.intervals import FEWEST
from scripts_catalog import taxonomy

from ..dashboards.comparison import compare_builds
from ..dashboards.pick_builds import ComparisonForm
from ..listing.choices import choices_for
from .addresses import clean_address, is_for_a_part
from .tabs import tabs_of


@require_safe
@for_roles(Role.MANAGER, Role.EVAL_TEAM, Role.EVAL_LEAD)
@vary_on_headers("HX-Request")
def compare(request: UserRequest) -> HttpResponseBase:
    """Is one build better than another, and where? The whole page, or for htmx its figures."""
    is_for_the_figures = is_for_a_part(request)
    address = clean_address(request, "compare")
    if "" in request.GET.values() and not is_for_the_figures:
        return redirect(address)
    choices = choices_for(request.user)
    form = ComparisonForm(request.GET.dict(), choices)
    filters = form.filters()
    two = form.two(request.user)
    without_changed = form.is_unchanged_only
    compared = two and compare_builds(request.user, two, filters, choices.scripts, without_changed=without_changed)
    page = {
        "form": form,
        "tabs": tabs_of(request, form),
        "two": two,
        "compared": compared,
        "area": taxonomy.AREA_NAMES.get(filters.area, ""),
        "filters": filters,
        "without_changed": without_changed,
        "fewest": FEWEST,
    }
    if not is_for_the_figures:
        return render(request, "results/comparison.html", page)
    response = render(request, "results/comparison.html#figures", page)
    response["HX-Push-Url"] = address
    return response
