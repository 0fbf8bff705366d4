"""The tokens of programs: one's own, and for administrators everybody's; and the page that tells of the interface."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.http import parse_etags
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from emma_eval.accounts import throttle
from emma_eval.accounts.models import ApiToken
from emma_eval.accounts.programs.document import document_as_json
from emma_eval.accounts.programs.kinds import Kind
from emma_eval.accounts.programs.reference import pieces_of, reference
from emma_eval.accounts.programs.token_form import TokenForm
from emma_eval.accounts.programs.tokens import MADE_BY_ONE, make_token, revoke_token
from emma_eval.accounts.roles import OPENED_OR_SENT, Role, UserRequest, for_members
from emma_eval.accounts.second_step import lacks_second_step, lead_to_second_step

A_PAGE = 100
SHOWN_AFTER_ITS_END = timedelta(days=30)


@never_cache
@for_members
def programs(request: UserRequest) -> HttpResponse:
    """One's tokens, and the form that makes another. What was made is shown in this one answer and nowhere else."""
    if request.method == "POST" and lacks_second_step(request):
        return lead_to_second_step(request)
    form = TokenForm(request.POST if request.method == "POST" else None, owner=request.user)
    if not form.is_valid():
        return _show(request, form=form, status=422 if form.is_bound else 200)
    try:
        throttle.spend(MADE_BY_ONE, str(request.user.pk))
    except throttle.TooManyError:
        form.add_error(None, "You made many tokens within the last hour. Make the next one later.")
        return _show(request, form=form, status=429)
    made, sent = make_token(request.user, form.cleaned_data["name"], form.picked(), days=form.cleaned_data["days"])
    return _show(request, form=TokenForm(owner=request.user), made=made, sent=sent)


def _show(request: UserRequest, status: int = 200, **shown: Any) -> HttpResponse:
    now = timezone.now()
    recent = Q(revoked_at=None) | Q(revoked_at__gt=now - SHOWN_AFTER_ITS_END)
    own = ApiToken.objects.filter(recent, owner=request.user, expires_at__gt=now - SHOWN_AFTER_ITS_END)
    others = _others(request)
    context = {
        "tokens": own,
        "now": now,
        "lacks_second_step": lacks_second_step(request),
        "looks_after": others is not None,
        "others": list(others[:A_PAGE]) if others is not None else [],
        "next_before": _next_before(others),
        "origin": settings.ORIGIN,
        **shown,
    }
    return render(request, "accounts/programs.html", context, status=status)


def _others(request: UserRequest) -> QuerySet[ApiToken] | None:
    """Everybody else's tokens, for administrators; the newest first, from the place that the address names."""
    if not request.user.has_role(Role.ADMINISTRATOR) or lacks_second_step(request):
        return None
    found = ApiToken.objects.exclude(owner=request.user).select_related("owner").order_by("-pk")
    before = request.GET.get("before", "")
    return found.filter(pk__lt=int(before)) if before.isdecimal() and len(before) < 19 else found


def _next_before(others: QuerySet[ApiToken] | None) -> int | None:
    keys = list(others.values_list("pk", flat=True)[: A_PAGE + 1]) if others is not None else []
    return keys[A_PAGE - 1] if len(keys) > A_PAGE else None


@for_members
@require_http_methods(OPENED_OR_SENT)
def program_revoke(request: UserRequest, pk: int) -> HttpResponse:
    """Revoke one of one's own tokens; administrators, anybody's."""
    tokens = ApiToken.objects.select_related("owner")
    if not request.user.has_role(Role.ADMINISTRATOR):
        tokens = tokens.filter(owner=request.user)
    token = get_object_or_404(tokens, pk=pk)
    if request.method != "POST":
        return redirect("programs")
    if token.owner_id != request.user.pk and lacks_second_step(request):
        return lead_to_second_step(request)
    if revoke_token(token, request.user):
        messages.success(request, f"“{token.name}” is revoked: it opens nothing from now on.")
    else:
        messages.info(request, f"“{token.name}” was revoked already.")
    return redirect("programs")


@require_safe
@for_members
def interface(request: UserRequest) -> HttpResponse:
    """What programs can ask for, read off the document."""
    context = {
        "reference": reference(),
        "kinds": [(kind, pieces_of(kind.value.words)) for kind in Kind],
        "origin": settings.ORIGIN,
        "limit": settings.API_REQUESTS_A_MINUTE,
    }
    return render(request, "accounts/interface.html", context)


@require_safe
def interface_document(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document. It is made of the code alone and says nothing of this site, so everybody may read it."""
    written, etag = document_as_json()
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        answer: HttpResponse = HttpResponseNotModified()
    else:
        answer = HttpResponse(written, content_type="application/json")
    answer["ETag"] = etag
    answer["Cache-Control"] = "public, max-age=300"
    return answer
