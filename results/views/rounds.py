"""Rounds: the list, one with its coverage, and planning, changing and closing one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import OPENED_OR_SENT, Role, UserRequest, for_roles
from scripts_catalog.models import Build

from ..filing.typed import number_in
from ..models import Round, RoundQuerySet
from ..rounds.plan_round import ChangedMeanwhileError, as_seen, change_round, close_round, plan_round, reopen_round
from ..rounds.progress import progress_of
from ..rounds.round_form import MOST_RUNS, RUNS_AT_FIRST, RoundForm, copied, filled

PLANNERS = (Role.EVAL_TEAM, Role.EVAL_LEAD, Role.MANAGER)
CLOSED_A_PAGE = 30


@require_safe
@for_roles(*PLANNERS)
def rounds(request: UserRequest) -> HttpResponse:
    """Open rounds with how far they are, the most pressing first, then closed ones, the latest first."""
    known = _known(request.user)
    closed = known.exclude(closed_at=None).order_by("-closed_at", "-pk")
    before = number_in(request.GET.get("before"))
    if before:
        closed = closed.filter(closed_at__lt=get_object_or_404(known, pk=before).closed_at)
    shown = list(closed[: CLOSED_A_PAGE + 1])
    context = {
        "open": [] if before else progress_of(request.user, known.open().most_pressing_first()),
        "closed": progress_of(request.user, shown[:CLOSED_A_PAGE]),
        "older": shown[CLOSED_A_PAGE - 1].pk if len(shown) > CLOSED_A_PAGE else None,
        "is_first_page": not before,
    }
    return render(request, "results/rounds.html", context)


@require_safe
@for_roles(*PLANNERS)
def round_page(request: UserRequest, pk: int) -> HttpResponse:
    """One round against what was run: wanted, done, by how many people, missing."""
    found = get_object_or_404(_known(request.user), pk=pk)
    return render(request, "results/round.html", {"progress": progress_of(request.user, [found])[0], "round": found})


@for_roles(*PLANNERS)
def round_new(request: UserRequest) -> HttpResponseBase:
    """Plan a round; `?like=` begins with the scripts of an earlier one."""
    if request.method == "POST" and not _is_help(request):
        form = RoundForm(request.user, request.POST)
        if form.is_valid():
            made = plan_round(request.user, form.plan())
            messages.success(request, f"The round “{made}” is planned. Testers see it on their To do page.")
            return redirect(made)
        return _show_form(request, form)
    if request.method == "POST":
        return _show_form(request, RoundForm(request.user, initial=_helped(request)))
    current = Build.objects.current_build()
    initial: dict[str, Any] = {"build": current.pk if current else None}
    like = _round_named(request.user, request.GET.get("like"))
    return _show_form(
        request, RoundForm(request.user, initial=copied(request.user, initial, like) if like else initial)
    )


@for_roles(*PLANNERS)
def round_edit(request: UserRequest, pk: int) -> HttpResponseBase:
    """Change a round."""
    found = get_object_or_404(_known(request.user), pk=pk)
    if request.method == "POST" and not _is_help(request):
        form = RoundForm(request.user, request.POST, round_=found)
        if form.is_valid():
            try:
                is_changed = change_round(request.user, found, form.plan(), opened_as=request.POST.get("opened_as", ""))
            except ChangedMeanwhileError:
                form.refuse_change()
                return _show_form(request, form, _known(request.user).get(pk=pk), has_changed=True)
            messages.success(request, "The round is changed." if is_changed else "Nothing was changed.")
            return redirect(found)
        return _show_form(request, form, found)
    typed = _helped(request) if request.method == "POST" else RoundForm.typed_of(request.user, found)
    return _show_form(request, RoundForm(request.user, initial=typed, round_=found), found)


@for_roles(*PLANNERS)
@require_http_methods(OPENED_OR_SENT)
def round_close(request: UserRequest, pk: int) -> HttpResponseBase:
    """Close a round, or open it again."""
    found = get_object_or_404(_known(request.user), pk=pk)
    if request.method != "POST":
        return redirect(found)
    if request.POST.get("act") == "reopen":
        if reopen_round(request.user, found):
            messages.success(request, "The round is open again.")
    elif close_round(request.user, found):
        messages.success(request, "The round is closed: testers are no longer asked for its runs.")
    return redirect(found)


def _known(user: User) -> RoundQuerySet:
    return Round.objects.visible_to(user).select_related("build", "begun_by")


def _round_named(user: User, key: str | None) -> Round | None:
    return _known(user).filter(pk=number_in(key)).first()


def _is_help(request: UserRequest) -> bool:
    """Whether a button was pressed that fills in numbers: nothing is checked or saved by it."""
    return "fill" in request.POST or "copy" in request.POST


def _helped(request: UserRequest) -> dict[str, Any]:
    typed = request.POST.dict()
    if "copy" in request.POST:
        earlier = _round_named(request.user, typed.get("earlier"))
        return copied(request.user, typed, earlier) if earlier else typed
    return filled(request.user, typed, typed["fill"], _each(request))


def _each(request: UserRequest) -> int:
    """How many runs a press fills in."""
    return min(number_in(request.POST.get("each")) or RUNS_AT_FIRST, MOST_RUNS)


def _show_form(
    request: UserRequest, form: RoundForm, found: Round | None = None, *, has_changed: bool = False
) -> HttpResponse:
    """`has_changed`: what was opened is not what stands there now; who saves again has been told so."""
    opened_as = "" if has_changed else request.POST.get("opened_as", "")
    context = {
        "form": form,
        "round": found,
        "opened_as": found and (opened_as or as_seen(request.user, found)),
        "has_changed": has_changed,
        "has_builds": Build.objects.exists(),
        "can_register": request.user.has_role(Role.EVAL_TEAM),
        "each": _each(request),
        "earlier": [each for each in _known(request.user)[:CLOSED_A_PAGE] if found is None or each.pk != found.pk],
    }
    return render(request, "results/round_form.html", context, status=422 if form.errors else 200)
