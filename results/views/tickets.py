"""Tickets elsewhere: the list, linking one, and one with the builds since."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from emma_eval.accounts.roles import Role, UserRequest, for_roles
from emma_eval.scoring.intervals import FEWEST
from scripts_catalog.models import Build, sort_key_of

from ..filing.typed import number_in
from ..models import Result
from ..tickets.link_ticket import close_ticket, link_ticket, reopen_ticket
from ..tickets.show_tickets import FOLLOWERS, list_tickets, seen_ticket, show_tickets
from ..tickets.ticket_form import TicketForm


@require_safe
@for_roles(*FOLLOWERS)
def tickets(request: UserRequest) -> HttpResponse:
    """Open tickets, or those that were closed."""
    are_closed = request.GET.get("show") == "closed"
    page = list_tickets(request.user, are_closed=are_closed, before=number_in(request.GET.get("before")))
    return render(request, "results/tickets.html", {"page": page, "are_closed": are_closed})


@never_cache
@for_roles(*FOLLOWERS)
def ticket_new(request: UserRequest) -> HttpResponse:
    """Link a ticket to a result (`?result=`), or to a problem (`?tag=`, `?script=`, `?build=`)."""
    result = _result_of(request)
    form = TicketForm(request.POST or None, user=request.user, result=result, initial=_initial(request))
    if form.is_valid():
        ticket = link_ticket(request.user, form.cleaned_data["link"], form.cleaned_data["title"], form.about())
        messages.success(request, "The ticket is linked.")
        return redirect(result.get_absolute_url() if result else ticket)
    context = {
        "form": form,
        "result": result,
        "has_builds": result is not None or Build.objects.exists(),
        "can_register": request.user.has_role(Role.EVAL_TEAM),
    }
    return render(request, "results/ticket_new.html", context, status=422 if form.errors else 200)


def _result_of(request: UserRequest) -> Result | None:
    """The result that the address names; 404 for one that may not be seen."""
    if "result" not in request.GET:
        return None
    seen = Result.objects.visible_to(request.user).select_related("script", "script_version", "build")
    return get_object_or_404(seen, pk=number_in(request.GET["result"]))


def _initial(request: UserRequest) -> dict[str, str]:
    """What the address suggests; builds go by their names there. The current build where it names none."""
    current = Build.objects.current_build()
    build = sort_key_of(request.GET.get("build", "")) or (current.sort_key if current else "")
    return {"tag": request.GET.get("tag", ""), "script": request.GET.get("script", ""), "build": build}


@never_cache
@for_roles(*FOLLOWERS)
def ticket(request: UserRequest, pk: int) -> HttpResponse:
    """One ticket with the builds since; by POST it is closed or opened again."""
    found = get_object_or_404(seen_ticket(request.user), pk=pk)
    if request.method == "POST":
        if request.POST.get("act") == "reopen":
            reopen_ticket(request.user, found)
        else:
            close_ticket(request.user, found)
        return redirect(found)
    shown = show_tickets(request.user, [found])[0]
    return render(request, "results/ticket.html", {"shown": shown, "fewest": FEWEST})
