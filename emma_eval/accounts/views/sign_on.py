"""Sign-on: away to the organisation's provider by a button, and back with who somebody is."""

from __future__ import annotations

import logging

from allauth.account.adapter import get_adapter
from allauth.account.utils import get_next_redirect_url
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from emma_eval.accounts import interrupted, sessions, throttle
from emma_eval.accounts.sign_on.configured import SignOn

from .front import too_many

logger = logging.getLogger(__name__)


@never_cache
@require_POST
def begin(request: HttpRequest) -> HttpResponseBase:
    """Send the browser to the provider, by a page: a redirect of a form would have to stay within our form policy."""
    from emma_eval.accounts.sign_on import provider  # what it needs weighs on every process that has no sign-on

    sign_on = _configured()
    came_from = get_next_redirect_url(request)
    try:
        throttle.spend(throttle.SIGN_ON, get_adapter(request).get_client_ip(request))
        address = provider.begin(request, sign_on, came_from)
    except throttle.TooManyError as limit:
        return too_many(request, limit.retry_at)
    except provider.ProviderError as fault:
        return _unavailable(request, sign_on, fault, came_from)
    return render(request, "accounts/sign_on_away.html", {"address": address, "sign_on": sign_on})


@never_cache
@require_GET
def come_back(request: HttpRequest) -> HttpResponseBase:
    """The browser comes back from the provider: signed in, not signed in, or not to be signed in here."""
    from emma_eval.accounts.sign_on import let_in, provider

    sign_on = _configured()
    begun = provider.begun(request, sign_on)
    if begun is None:
        return render(request, "accounts/sign_on_again.html", {"sign_on": sign_on}, status=400)
    if request.GET.get("error") == "access_denied":
        messages.info(request, f"You did not sign in with {sign_on.name}.")
        return redirect(interrupted.sign_in_for(begun.came_from))
    try:
        user = let_in.let_in(provider.claims_of(request, sign_on, begun), sign_on)
    except provider.ProviderError as fault:
        return _unavailable(request, sign_on, fault, begun.came_from)
    except let_in.RefusedError:
        return render(request, "accounts/sign_on_refused.html", {"sign_on": sign_on}, status=403)
    if not user.is_active:
        return redirect("account_inactive")
    get_adapter(request).login(request, user)
    sessions.say_by_sign_on(request)
    return redirect(begun.came_from or "home")


def _configured() -> SignOn:
    if settings.SIGN_ON is None:
        raise Http404
    found: SignOn = settings.SIGN_ON
    return found


def _unavailable(request: HttpRequest, sign_on: SignOn, fault: Exception, came_from: str | None) -> HttpResponse:
    """The reason is for whoever runs this site; nobody who signs in can do anything about it."""
    logger.warning("sign-on failed: %s", fault)
    context = {"sign_on": sign_on, "again": interrupted.sign_in_for(came_from)}
    return render(request, "accounts/sign_on_unavailable.html", context, status=502)
