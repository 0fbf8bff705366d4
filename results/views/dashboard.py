"""The dashboard of managers and the eval team."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from emma_eval.accounts.roles import Role, UserRequest, for_roles
from scripts_catalog import taxonomy
from scripts_catalog.models import Build

from ..dashboards.overview import FEWEST, LineSort, build_dashboard
from ..listing.choices import choices_for
from ..listing.filter_form import FilterForm
from ..listing.filters import Filters
from .addresses import clean_address, is_for_a_part
from .heads import Head, head_of

FIELDS = ("build", "area", "from", "to")
ANY_BUILD = "any"
HEADS = {"script": "Script", "runs": "Runs", **{dimension.key: dimension.name for dimension in taxonomy.DIMENSIONS}}


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
    current = Build.objects.current_build()
    form = FilterForm(_with_a_build(request.GET.dict(), current), choices, only=FIELDS, any_build=ANY_BUILD)
    filters, sort = form.filters(), _read_sort(request.GET)
    page = {
        "form": form,
        "filters": filters,
        "is_current": current is not None and filters.build == current.name,
        "area": taxonomy.AREA_NAMES.get(filters.area, ""),
        "is_narrowed": filters != Filters(build=filters.build),
        "every_build": _query(filters.but(build=""), sort),
        "sort": sort,
        "heads": _heads(filters, sort),
        "fewest": FEWEST,
        "worst": taxonomy.SCALE[0][1],
        "best": taxonomy.SCALE[-1][1],
        "figures": build_dashboard(request.user, filters, choices.scripts, sort),
    }
    if not is_for_the_figures:
        return render(request, "results/dashboard.html", page)
    response = render(request, "results/dashboard.html#figures", page)
    response["HX-Push-Url"] = address
    return response


def _with_a_build(asked: dict[str, str], current: Build | None) -> dict[str, str]:
    """What was asked. Where no build is named, people want to know about the current one, if there is one."""
    build = asked.get("build") or (current.name if current else ANY_BUILD)
    return {**asked, "build": build}


def _read_sort(params: Mapping[str, str]) -> LineSort:
    """The sort that an address names; any other is by title, which the heads of the table show."""
    key = params.get("sort", "")
    return LineSort(key, params.get("direction") == "desc") if key in HEADS else LineSort()


def _heads(filters: Filters, sort: LineSort) -> list[Head]:
    return [
        head_of(
            *(key, label, _query(filters, sort.by(key))),
            is_sorted=key == sort.key,
            is_descending=sort.is_descending,
        )
        for key, label in HEADS.items()
    ]


def _query(filters: Filters, sort: LineSort) -> str:
    """This page with these filters; it names its build in any case, since without one it shows the current one."""
    return urlencode({**filters.params(), "build": filters.build or ANY_BUILD, **sort.params()})
