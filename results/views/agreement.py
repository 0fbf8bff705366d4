"""Do our testers agree?"""

from __future__ import annotations

from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from emma_eval.accounts.roles import Role, UserRequest, for_roles
from scripts_catalog.models import Build

from ..dashboards.agreement import tell_agreement
from ..dashboards.pick_builds import BuildForm
from ..listing.choices import choices_for
from .addresses import clean_address, is_for_a_part
from .tabs import tabs_of


@require_safe
@for_roles(Role.MANAGER, Role.EVAL_TEAM, Role.EVAL_LEAD)
@vary_on_headers("HX-Request")
def agreement(request: UserRequest) -> HttpResponseBase:
    """How far testers agree, and where not: the whole page, or for htmx its figures."""
    is_for_the_figures = is_for_a_part(request)
    address = clean_address(request, "agreement")
    if "" in request.GET.values() and not is_for_the_figures:
        return redirect(address)
    choices = choices_for(request.user)
    form = BuildForm(request.GET.dict(), choices)
    asked = form.filters().build
    build = Build.objects.filter(name=asked).first() if asked else Build.objects.current_build()
    page = {
        "form": form,
        "tabs": tabs_of(request, form),
        "agreed": tell_agreement(request.user, choices.scripts, build or Build.objects.first()),
    }
    if not is_for_the_figures:
        return render(request, "results/testers_agreement.html", page)
    response = render(request, "results/testers_agreement.html#figures", page)
    response["HX-Push-Url"] = address
    return response
