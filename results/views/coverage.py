"""Coverage: which scripts were run on a build, by whom, and which were not."""

from __future__ import annotations

from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from emma_eval.accounts.roles import Role, UserRequest, for_roles
from scripts_catalog.models import Build

from ..dashboards.asked import ANY_BUILD
from ..export.rights import EXPORTERS
from ..filing.typed import number_in
from ..listing.choices import Choices, choices_for
from ..listing.filter_form import PICK_ONE, BuildField, FilterForm, PickField
from ..models import Round
from ..rounds.coverage import read_coverage, rounds_on
from .addresses import clean_address, is_for_a_part
from .tabs import tabs_of

NO_ROUND = "none"


class CoverageForm(FilterForm):
    """The build, the area, and which of the build's rounds to hold it against."""

    def __init__(self, asked: dict[str, str], choices: Choices, rounds: list[Round], *, has_current: bool) -> None:
        super().__init__(asked, choices, only=("area",))
        unasked = "The current build" if has_current else "The newest build"
        unknown = f"There is no build of that name, so here is the {unasked[4:]}. {PICK_ONE}"
        if asked.get("build") == ANY_BUILD:
            unknown = f"Coverage is of one build at a time, so here is the {unasked[4:]}. {PICK_ONE}"
        build = BuildField(choices.builds, any_word=unasked, unknown=unknown)
        build.widget.attrs["aria-describedby"] = "filter-build-error"
        self.fields = {"build": build, **self.fields}
        if rounds:
            options = [(str(round_.pk), round_.name) for round_ in rounds]
            self.fields["round"] = PickField("Against the round", options, any_word="None", any_value=NO_ROUND)
            self.fields["round"].widget.attrs["aria-describedby"] = "filter-round-error"


@require_safe
@for_roles(Role.MANAGER, Role.EVAL_TEAM, Role.EVAL_LEAD)
@vary_on_headers("HX-Request")
def coverage(request: UserRequest) -> HttpResponseBase:
    """What was run on one build: the current one where none is named, else the newest."""
    is_for_the_figures = is_for_a_part(request)
    address = clean_address(request, "coverage")
    if "" in request.GET.values() and not is_for_the_figures:
        return redirect(address)
    build = _build(request.GET.get("build", ""))
    rounds = rounds_on(request.user, build) if build else []
    has_current = build is not None and Build.objects.current_build() is not None
    form = CoverageForm(_asked(request, rounds), choices_for(request.user), rounds, has_current=has_current)
    area = form.filters().area
    round_ = next((each for each in rounds if str(each.pk) == form.cleaned_data.get("round")), None)
    page = {
        "form": form,
        "tabs": tabs_of(request, form),
        "build": build,
        "area": area,
        "coverage": read_coverage(request.user, build, area, round_) if build else None,
        "other_rounds": [each for each in rounds if each.closed_at is None and each != round_] if round_ else [],
        "today": timezone.localdate(),
        "can_export": request.user.has_role(*EXPORTERS),
    }
    if not is_for_the_figures:
        return render(request, "results/coverage.html", page)
    response = render(request, "results/coverage.html#figures", page)
    response["HX-Push-Url"] = address
    return response


def _asked(request: UserRequest, rounds: list[Round]) -> dict[str, str]:
    """What was asked, with what the page falls back to: an open round of the build, if there is one."""
    asked = request.GET.dict()
    first = next((round_ for round_ in rounds if round_.closed_at is None), None)
    keys = {str(round_.pk) for round_ in rounds}
    if asked.get("round") != NO_ROUND and str(number_in(asked.get("round"))) not in keys:
        asked["round"] = str(first.pk) if first else NO_ROUND
    return asked


def _build(name: str) -> Build | None:
    """A build that isn't there is answered with the one of a page that names none."""
    return Build.objects.named(name) or Build.objects.current_build() or Build.objects.first()
