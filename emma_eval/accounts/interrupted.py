"""Answers to a request whose sign-in is over, or whose page is older than the sign-in.

A person who asked for a page is sent to sign in and comes back to it. A script is told so with a status it can
act on, and never gets a sign-in page to put where a result was expected. Whatever was typed stays where it is.
"""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from . import resume


def signed_out(request: HttpRequest) -> HttpResponseBase:
    """Nobody is signed in: what to answer to a page, a fragment, a script, or a form that was sent."""
    if _is_from_htmx(request):
        return _notice_on_the_page(request, "signed_out", status=401)
    if _is_from_a_script(request):
        return JsonResponse({"error": "signed_out", "sign_in": _sign_in(request)}, status=401)
    kept_for = resume.keep(request)
    if kept_for is None and request.method == "POST" and resume.is_kept_here(request):
        return render(request, "accounts/signed_out.html", {"sign_in": _sign_in(request)}, status=401)
    return redirect(sign_in_for(kept_for or _page_of(request)))


def stale_page(request: HttpRequest) -> HttpResponseBase:
    """The form's CSRF token is not of this sign-in. Nothing was done; what was typed goes back into the form."""
    if _is_from_htmx(request):
        return _notice_on_the_page(request, "stale_page", status=403)
    if _is_from_a_script(request):
        return JsonResponse({"error": "stale_page"}, status=403)
    kept_for = resume.keep(request)
    return redirect(kept_for) if kept_for else render(request, "accounts/csrf_failure.html", status=403)


def _is_from_htmx(request: HttpRequest) -> bool:
    return "HX-Request" in request.headers and "HX-Boosted" not in request.headers


def _is_from_a_script(request: HttpRequest) -> bool:
    is_json = "application/json" in request.headers.get("Accept", "") or request.content_type == "application/json"
    return is_json or request.headers.get("Sec-Fetch-Dest") == "empty"


def _notice_on_the_page(request: HttpRequest, name: str, status: int) -> HttpResponse:
    """A notice above everything else, so that it takes the place of nothing that the person typed."""
    answer = render(request, f"accounts/interrupted.html#{name}", {"sign_in": reverse("account_login")}, status=status)
    answer["HX-Retarget"] = "#main"
    answer["HX-Reswap"] = "afterbegin"
    return answer


def _sign_in(request: HttpRequest) -> str:
    return sign_in_for(_page_of(request))


def sign_in_for(page: str | None) -> str:
    """The sign-in page, which leads on to that page."""
    sign_in = reverse("account_login")
    return f"{sign_in}?{urlencode({'next': page})}" if page else sign_in


def _page_of(request: HttpRequest) -> str:
    """The page that the person looks at: the address itself, or the page that a form was sent from."""
    if request.method in {"GET", "HEAD"} and not _is_from_a_script(request):
        return request.get_full_path()
    page = resume.our_page(request, request.headers.get("Referer", ""))
    return page._replace(scheme="", netloc="", fragment="").geturl() if page else reverse("home")
