"""The dashboard of managers, the eval team and its lead: all scripts together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from emma_eval.accounts.roles import Role, UserRequest, for_roles
from emma_eval.scoring.intervals import FEWEST
from scripts_catalog import taxonomy

from ..dashboards.asked import ANY_BUILD, SORTS, Asked, LineSort, Over, read_asked
from ..dashboards.counting import Counting
from ..dashboards.known import Known, read_known
from ..dashboards.overview import build_dashboard
from ..listing.filter_form import FilterForm
from ..listing.filters import Filters
from ..listing.periods import Period
from .addresses import clean_query, is_for_a_part
from .heads import Head, head_of
from .tabs import tabs_of

DASHBOARD_ROLES = (Role.MANAGER, Role.EVAL_TEAM, Role.EVAL_LEAD)
FIELDS = ("build", "area", "returning", "period", "from", "to", "tags")
HEADS = {"script": "Script", "runs": "Runs", **{dimension.key: dimension.name for dimension in taxonomy.DIMENSIONS}}


@require_safe
@for_roles(*DASHBOARD_ROLES)
@vary_on_headers("HX-Request")
def dashboard(request: UserRequest) -> HttpResponseBase:
    """Counts and means of what was filed, each linking to its rows: the whole page, or for htmx its figures."""
    if redirected := without_empty(request):
        return redirected
    known = read_known(request.user)
    form = form_of(request, known, FIELDS)
    asked = read_asked(form.filters(), request.GET.dict())
    page = {
        **page_of(request, form, asked, known),
        "area": taxonomy.AREA_NAMES.get(asked.filters.area, ""),
        "heads": _heads(asked),
        "script_query": asked.but(sort=LineSort()).narrowed(area="").query(),
        "figures": build_dashboard(Counting(request.user, asked.filters), asked, known),
    }
    return answer(request, "results/dashboard.html", page)


def _heads(asked: Asked) -> list[Head]:
    sort = asked.sort
    return [
        head_of(
            *(key, HEADS[key], asked.but(sort=sort.by(key)).query()),
            is_sorted=key == sort.key,
            is_descending=sort.is_descending,
        )
        for key in SORTS
    ]


# --- what the dashboard of one script does in the same way ---


@dataclass(frozen=True)
class Choice:
    """A link that changes one thing of what is asked for."""

    label: str
    query: str
    is_chosen: bool


def without_empty(request: UserRequest) -> HttpResponseBase | None:
    """A form sends its empty fields too: the page's own address has none."""
    if "" not in request.GET.values() or is_for_a_part(request):
        return None
    return redirect(f"{request.path}{clean_query(request)}")


def form_of(request: UserRequest, known: Known, fields: tuple[str, ...]) -> FilterForm:
    """The filters. Where no build is named, people want to know about the current one, if there is one."""
    asked = request.GET.dict()
    build = asked.get("build") or (known.current.name if known.current else ANY_BUILD)
    return FilterForm({**asked, "build": build}, known.choices(), only=fields, any_build=ANY_BUILD)


def page_of(request: UserRequest, form: FilterForm, asked: Asked, known: Known) -> dict[str, Any]:
    """What both pages show around their figures."""
    filters = asked.filters
    return {
        "form": form,
        "tabs": tabs_of(request, form),
        "asked": asked,
        "filters": filters,
        "period": Period(filters.period).label.lower() if filters.period else "",
        "current": known.current,
        "is_current": known.current is not None and filters.build == known.current.name,
        "is_narrowed": filters.but(tags="filed") != Filters(build=filters.build, script=filters.script),
        "presets": _presets(asked, known),
        "overs": [Choice(f"By {over}", asked.but(over=over).query(), over == asked.over) for over in Over],
        "builds_before": _build_before(known, filters.build),
        "fewest": FEWEST,
        "worst": taxonomy.SCALE[0][1],
        "best": taxonomy.SCALE[-1][1],
    }


def _presets(asked: Asked, known: Known) -> list[Choice]:
    """What is asked for most, each one press away."""
    today = timezone.localdate()
    everything = asked.filters.but(build="", first_day=None, last_day=None)
    choices = [
        *([("Current build", everything.but(build=known.current.name))] if known.current else []),
        *((period.label, everything.during(period, today)) for period in (Period.THIS_MONTH, Period.LAST_MONTH)),
        ("Everything", everything),
    ]
    found = []
    for label, filters in choices:
        narrowed = asked.but(filters=filters)
        found.append(Choice(label, narrowed.query(), narrowed == asked))
    return found


def _build_before(known: Known, build: str) -> str:
    """The name of the build before this one; empty where there is none."""
    names = [each.name for each in known.builds]
    return names[names.index(build) + 1] if build in names[:-1] else ""


def answer(request: UserRequest, template: str, page: dict[str, Any]) -> HttpResponse:
    """The whole page, or its figures alone, with the address under which they are found again."""
    if not is_for_a_part(request):
        return render(request, template, page)
    response = render(request, f"{template}#figures", page)
    response["HX-Push-Url"] = f"{request.path}{clean_query(request)}"
    return response
