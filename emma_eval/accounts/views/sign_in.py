"""allauth's views as this house shows them, and the page that an invitation opens."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from emma_eval.accounts import audit, link_in, throttle
from emma_eval.accounts.forms import AcceptForm
from emma_eval.accounts.invite import accept
from emma_eval.accounts.models import Invitation, digest_of

from .front import too_many

View = Callable[..., HttpResponseBase]


def as_ours(view: View) -> View:
    """A form of allauth's that has errors answers 422, one that was tried too often 429."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            response = view(request, *args, **kwargs)
        except throttle.TooManyError as limit:
            return too_many(request, limit.retry_at)
        form = (getattr(response, "context_data", None) or {}).get("form")
        if request.method != "POST" or response.status_code != 200 or form is None or not form.errors:
            return response
        if _was_tried_too_often(form):
            return too_many(request, timezone.now() + timedelta(minutes=10))
        response.status_code = 422
        return response

    return answer


def for_passwords(view: View) -> View:
    """The page is about passwords: it isn't there for those who sign in by the organisation's sign-on alone."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        only = settings.SIGN_ON is not None and settings.SIGN_ON.only
        if only or (request.user.is_authenticated and request.user.has_no_password_here):
            raise Http404
        return view(request, *args, **kwargs)

    return answer


def sign_in_page(view: View) -> View:
    """The page may show the button of sign-on; where there is nothing else, no password is taken."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "POST" and settings.SIGN_ON is not None and settings.SIGN_ON.only:
            raise Http404
        return view(request, *args, **kwargs)

    return answer


def _was_tried_too_often(form: Any) -> bool:
    errors = [error for of_field in form.errors.as_data().values() for error in of_field]
    return any(error.code in {"too_many_login_attempts", "rate_limited"} for error in errors)


@never_cache
@sensitive_post_parameters("password", "password_again")
def accept_invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Choose a name and a password, once; then the person is signed in."""
    invitation = Invitation.objects.open().filter(token_digest=digest_of(token)).select_related("user").first()
    if invitation is None:
        return render(request, "accounts/invitation_over.html", status=404)
    if request.user.is_authenticated:
        return render(request, "accounts/invitation_for_another.html", {"invitation": invitation}, status=409)
    if settings.SIGN_ON is not None and settings.SIGN_ON.only:
        return render(
            request, "accounts/accept_by_sign_on.html", {"invitation": invitation, "sign_on": settings.SIGN_ON}
        )
    form = AcceptForm(request.POST or None, user=invitation.user)
    if not form.is_valid():
        status = 422 if form.is_bound else 200
        return render(request, "accounts/accept.html", {"form": form, "invitation": invitation}, status=status)
    if not accept(invitation, form.cleaned_data["name"], form.cleaned_data["password"]):
        return render(request, "accounts/invitation_over.html", status=404)
    get_adapter(request).login(request, invitation.user)
    return redirect("home")


@never_cache
def open_link_in(request: HttpRequest, token: str) -> HttpResponse:
    """A link from `manage.py let_in`: a button that signs its person in, since looking at a link is not using it."""
    user = link_in.use(token) if request.method == "POST" else link_in.person_of(token)
    if user is None:
        return render(request, "accounts/link_in_over.html", status=404)
    if request.method != "POST":
        return render(request, "accounts/link_in.html", {"person": user})
    get_adapter(request).login(request, user)
    audit.record(user, "signed in by a link", about=user)
    return redirect("home")
