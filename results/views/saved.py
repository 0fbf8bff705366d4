"""Saved views: the list, keeping a page under a name, changing and removing one, and its digest beforehand."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from emma_eval.accounts.roles import OPENED_OR_SENT, UserRequest, for_members, for_roles

from ..digest.due import week_due, week_told_of
from ..digest.read_digest import read_digest
from ..digest.write_letter import write_letter
from ..listing.choices import choices_for
from ..models import SavedView
from ..saved_views.addresses import OF_DASHBOARDS, Address, known_part, read_address
from ..saved_views.list_views import in_words, list_views, own_view
from ..saved_views.save_view import (
    CannotBeMailedError,
    NameTakenError,
    TooManyViewsError,
    change_view,
    remove_view,
    save_view,
)
from ..saved_views.view_form import ViewForm


@require_safe
@for_members
def views(request: UserRequest) -> HttpResponse:
    """One's own views and those that the team shares."""
    return render(request, "results/views.html", {"views": list_views(request.user)})


@for_members
def view_new(request: UserRequest) -> HttpResponseBase:
    """Keep a page of ours with its filters; an address that is none leads to the list."""
    said = request.POST if request.method == "POST" else request.GET
    asked = read_address(said.get("page", ""), said.get("query", ""))
    address = known_part(request.user, asked) if asked else None
    if address is None:
        messages.warning(request, "That page can't be saved as a view.")
        return redirect("views")
    form = ViewForm(address, request.POST if request.method == "POST" else None)
    if form.is_valid() and _is_done(
        form, lambda: save_view(request.user, address, form.said(), timezone.now()) is not None
    ):
        messages.success(request, f"The view “{form.said().name}” is saved.")
        return redirect("views")
    return _show_form(request, form, address)


@for_members
def view_edit(request: UserRequest, pk: int) -> HttpResponseBase:
    """Rename one's own view, share it, have it mailed; not any more, too."""
    view, address = _own(request, pk)
    form = ViewForm(address, request.POST if request.method == "POST" else None, initial=ViewForm.typed_of(view))
    if form.is_valid() and _is_done(form, lambda: change_view(view, form.said(), timezone.now())):
        messages.success(request, f"The view “{form.said().name}” is saved.")
        return redirect("views")
    return _show_form(request, form, address, view)


@for_members
@require_http_methods(OPENED_OR_SENT)
def view_remove(request: UserRequest, pk: int) -> HttpResponseBase:
    view, _ = _own(request, pk)
    if request.method != "POST":
        return redirect("view_edit", view.pk)
    remove_view(view)
    messages.success(request, f"The view “{view.name}” is removed.")
    return redirect("views")


@require_safe
@for_roles(*OF_DASHBOARDS)
def view_digest(request: UserRequest, pk: int) -> HttpResponse:
    """The latest digest of a view, as it would be mailed now."""
    view, _ = _own(request, pk)
    said = read_digest(view, week_told_of(week_due(timezone.now())))
    if said is None:
        raise Http404
    return render(request, "results/view_digest.html", {"view": view, "letter": write_letter(said)})


def _own(request: UserRequest, pk: int) -> tuple[SavedView, Address]:
    found = own_view(request.user, pk)
    if found is None:
        raise Http404
    return found


def _is_done(form: ViewForm, act: Callable[[], bool]) -> bool:
    """Do it; where it is refused, the form says why."""
    try:
        act()
    except NameTakenError:
        form.refuse_name()
    except CannotBeMailedError:
        form.refuse_mail()
    except TooManyViewsError:
        form.refuse_another()
    return not form.errors


def _show_form(request: UserRequest, form: ViewForm, address: Address, view: SavedView | None = None) -> HttpResponse:
    context = {
        "form": form,
        "address": address,
        "view": view,
        "words": in_words(address, choices_for(request.user)),
    }
    return render(request, "results/view_form.html", context, status=422 if form.errors else 200)
