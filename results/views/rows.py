"""The list of results and the page of one."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from emma_eval.accounts.roles import Role, UserRequest, for_members
from scripts_catalog import taxonomy

from ..comments.show_thread import show_thread
from ..export.rights import EXPORTERS
from ..listing.chips import chips_of
from ..listing.choices import choices_for
from ..listing.filter_form import FilterForm
from ..listing.list_results import Asked, list_results, read_asked
from ..models import GoldAnswer, Result
from ..recordings.player.show_recording import recordings_beside
from ..review.gold import may_become_gold
from ..review.show_reviews import show_reviews
from ..show_result import show_result
from ..tickets.show_tickets import FOLLOWERS, tickets_of
from .addresses import clean_address, is_for_a_part
from .heads import Head, head_of
from .playing import begins_at


@require_safe
@for_members
@vary_on_headers("HX-Request")
def results(request: UserRequest) -> HttpResponseBase:
    """The Results tab: the whole page, or for htmx its rows."""
    is_for_the_rows = is_for_a_part(request)
    address = clean_address(request, "results")
    if "" in request.GET.values() and not is_for_the_rows:
        return redirect(address)
    choices = choices_for(request.user)
    form = FilterForm(request.GET, choices)
    asked = read_asked(form.filters(), request.GET.dict())
    page = {
        "form": form,
        "asked": asked,
        "chips": chips_of(asked, choices),
        "heads": _heads(asked),
        "listing": list_results(request.user, asked),
        "can_file": request.user.has_role(Role.TESTER),
        "can_export": request.user.has_role(*EXPORTERS),
    }
    if not is_for_the_rows:
        return render(request, "results/results.html", page)
    response = render(request, "results/results.html#rows", page)
    response["HX-Push-Url"] = address
    return response


def _heads(asked: Asked) -> list[Head]:
    labels = {"date": "Date", "script": "Script", "build": "Build"}
    labels.update({dimension.key: dimension.name for dimension in taxonomy.DIMENSIONS})
    sort = asked.sort
    return [
        head_of(
            *(key, label, Asked(asked.filters, sort.by(key)).query()),
            is_sorted=key == sort.key,
            is_descending=sort.is_descending,
        )
        for key, label in labels.items()
    ]


@never_cache  # its player holds links that open something for whoever finds the page
@require_safe
@for_members
def result(request: UserRequest, pk: int) -> HttpResponse:
    """One result, everything as filed; what may not be seen is not there."""
    seen = Result.objects.visible_to(request.user).select_related("script", "script_version", "build", "tester")
    shown = show_result(request.user, get_object_or_404(seen, pk=pk))
    page = {
        "shown": shown,
        "result": shown.result,
        "recordings": recordings_beside(request.user, shown.result),
        "begins_at": begins_at(request),
        "reviews": show_reviews(request.user, shown.result),
        "thread": show_thread(request.user, shown.result),
        "tickets": tickets_of(request.user, shown.result),
        **_of_leads(request, shown.result),
        "may_link": request.user.has_role(*FOLLOWERS),
    }
    return render(request, "results/result.html", page)


def _of_leads(request: UserRequest, result: Result) -> dict[str, object]:
    """Whether it is gold: nobody else's page knows."""
    if not request.user.has_role(Role.EVAL_LEAD):
        return {}
    gold = GoldAnswer.objects.filter(result=result).first()
    return {"is_lead": True, "gold": gold, "may_be_gold": may_become_gold(result)}
