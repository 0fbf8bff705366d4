"""The pages of webhooks: one's own endpoints, their logs, and what is done to them by hand."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from emma_eval.accounts import throttle
from emma_eval.accounts.roles import OPENED_OR_SENT, Role, UserRequest, for_roles

from . import change_endpoint as act
from . import pause as pausing
from . import replay as by_hand
from .forms import EndpointForm, said_of
from .kinds import kinds_to_choose
from .models import Delivery, Endpoint
from .owners import OWNERS
from .show_log import show_log, summaries

SHOWN_ONCE = "shows_secret_of_endpoint"
TOO_MANY = "That was a lot by hand. Wait a few minutes, then go on."


@require_safe
@for_roles(*OWNERS)
def webhooks(request: UserRequest) -> HttpResponse:
    """One's own endpoints; for administrators also which others there are, by name and state alone."""
    own = list(Endpoint.objects.filter(owner=request.user))
    others = Endpoint.objects.exclude(owner=request.user).select_related("owner")
    context = {
        "rows": summaries(request.user, own),
        "others": others if request.user.has_role(Role.ADMINISTRATOR) else others.none(),
        "looks_after": request.user.has_role(Role.ADMINISTRATOR),
    }
    return render(request, "webhooks/webhooks.html", context)


@for_roles(*OWNERS)
def webhook_new(request: UserRequest) -> HttpResponse:
    owner_has = request.user.webhook_endpoints.count()
    form = EndpointForm(request.POST if request.method == "POST" else None, owner_has=owner_has)
    if form.is_valid():
        made = act.make_endpoint(request.user, form.particulars())
        request.session[SHOWN_ONCE] = made.pk
        messages.success(request, f"{made} is made. Keep its secret now: it is shown this once.")
        return redirect(made)
    return _form_page(request, form)


@never_cache
@require_safe
@for_roles(*OWNERS)
def webhook(request: UserRequest, pk: int) -> HttpResponse:
    """One endpoint with its log. Its secret is on this page once, right after it was made or rotated."""
    endpoint = _own(request, pk)
    before = request.GET.get("before", "")
    is_shown = request.session.get(SHOWN_ONCE) == endpoint.pk
    if is_shown:
        del request.session[SHOWN_ONCE]
    context = {
        "endpoint": endpoint,
        "secret": endpoint.secret if is_shown else "",
        "kinds": [kind for kind in kinds_to_choose() if kind.name in endpoint.kinds],
        "log": show_log(request.user, endpoint, int(before) if before.isdecimal() and len(before) < 19 else None),
        "is_first_page": not before,
        "kept_days": 30,
    }
    return render(request, "webhooks/webhook.html", context)


@for_roles(*OWNERS)
def webhook_edit(request: UserRequest, pk: int) -> HttpResponse:
    endpoint = _own(request, pk)
    form = EndpointForm(request.POST if request.method == "POST" else None, initial=said_of(endpoint))
    if form.is_valid():
        changed = act.change_endpoint(endpoint, form.particulars(), request.user)
        messages.success(request, f"{endpoint} is saved." if changed else "Nothing was changed.")
        return redirect(endpoint)
    return _form_page(request, form, endpoint)


def _form_page(request: UserRequest, form: EndpointForm, endpoint: Endpoint | None = None) -> HttpResponse:
    context = {"form": form, "endpoint": endpoint, "kinds": kinds_to_choose()}
    return render(request, "webhooks/webhook_form.html", context, status=422 if form.errors else 200)


@for_roles(*OWNERS)
@require_http_methods(OPENED_OR_SENT)
def webhook_test(request: UserRequest, pk: int) -> HttpResponse:
    endpoint = _own(request, pk)
    if request.method != "POST" or not _may_go_on(request):
        return redirect(endpoint)
    by_hand.send_test(endpoint)
    messages.success(request, "A test is on its way. What came of it stands in the log in a moment.")
    return redirect(endpoint)


@for_roles(*OWNERS)
@require_http_methods(OPENED_OR_SENT)
def webhook_replay(request: UserRequest, pk: int, delivery_pk: int) -> HttpResponse:
    endpoint = _own(request, pk)
    visible = Delivery.objects.visible_to(request.user).filter(endpoint=endpoint).select_related("endpoint")
    delivery = get_object_or_404(visible, pk=delivery_pk)
    if request.method != "POST" or not _may_go_on(request):
        return redirect(endpoint)
    if by_hand.replay(delivery):
        messages.success(request, "It is on its way once more, with the same id.")
    else:
        messages.info(request, "It is on its way already.")
    return redirect(endpoint)


@for_roles(*OWNERS)
@require_http_methods(OPENED_OR_SENT)
def webhook_pause(request: UserRequest, pk: int) -> HttpResponse:
    endpoint = _own(request, pk)
    if request.method != "POST":
        return redirect(endpoint)
    if pausing.pause(endpoint, request.user, "Paused by hand."):
        messages.success(request, f"{endpoint} is paused. What happens meanwhile is kept and sent when you resume it.")
    return redirect(endpoint)


@for_roles(*OWNERS)
@require_http_methods(OPENED_OR_SENT)
def webhook_resume(request: UserRequest, pk: int) -> HttpResponse:
    endpoint = _own(request, pk)
    if request.method != "POST":
        return redirect(endpoint)
    if pausing.resume(endpoint, request.user):
        messages.success(request, f"{endpoint} is told of events again, first of those that waited.")
    return redirect(endpoint)


@for_roles(*OWNERS)
@require_http_methods(OPENED_OR_SENT)
def webhook_rotate(request: UserRequest, pk: int) -> HttpResponse:
    endpoint = _own(request, pk)
    if request.method != "POST":
        return redirect(endpoint)
    act.rotate_secret(endpoint, request.user)
    request.session[SHOWN_ONCE] = endpoint.pk
    messages.success(request, "There is a new secret. Keep it now: it is shown this once.")
    return redirect(endpoint)


@for_roles(*OWNERS)
@require_http_methods(OPENED_OR_SENT)
def webhook_drop_old_secret(request: UserRequest, pk: int) -> HttpResponse:
    endpoint = _own(request, pk)
    if request.method != "POST":
        return redirect(endpoint)
    if act.drop_old_secret(endpoint, request.user):
        messages.success(request, "From now on only the new secret signs.")
    return redirect(endpoint)


@for_roles(*OWNERS)
@require_http_methods(OPENED_OR_SENT)
def webhook_remove(request: UserRequest, pk: int) -> HttpResponse:
    endpoint = _own(request, pk)
    if request.method != "POST":
        return redirect(endpoint)
    act.remove_endpoint(endpoint, request.user)
    messages.success(request, f"{endpoint} is removed, with its log.")
    return redirect("webhooks")


def _own(request: UserRequest, pk: int) -> Endpoint:
    return get_object_or_404(Endpoint, pk=pk, owner=request.user)


def _may_go_on(request: UserRequest) -> bool:
    """What is sent by hand is limited: each may have the site call anybody."""
    try:
        throttle.spend(by_hand.BY_HAND, str(request.user.pk))
    except throttle.TooManyError:
        messages.error(request, TOO_MANY)
        return False
    return True
