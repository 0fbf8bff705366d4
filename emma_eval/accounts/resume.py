"""What was typed into a form survives a sign-in.

A page with a long form is marked, and its form says whose it is:

    @keeps_what_was_typed()                  # outermost; back_to="draft" if the form stands at another address,
    @for_members                             # a URL name that takes the same arguments as this view
    def result_new(request):
        if request.method == "POST": ...
        typed = resume.take(request)         # a QueryDict, or None; once, and only for the person who typed it
        form = ResultForm(initial=typed.dict() if typed else {})

    <form method="post">{% csrf_token %}{% include "accounts/typed_by.html" %} ...

When the session is over, or the form's CSRF token is older than the sign-in, the fields of a full POST (no
files) are put into the session, on the server, for two hours; the person signs in if need be and lands on the
form again, where `take` hands the fields back with a notice. Nothing is ever executed: what comes back only
pre-fills the form, and the person sends it again. Fields without a `typed_by` are not kept, since nobody can
say whose they are; the same holds for what another site posts to us.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from urllib.parse import SplitResult, urlsplit

from allauth.account.adapter import get_adapter
from django.contrib import messages
from django.core.cache import cache
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.urls import reverse

OWNER_FIELD = "typed_by"
MOST_CHARACTERS = 200_000
LASTS_S = 2 * 3600
MOST_A_MINUTE = 20  # from one address: what is kept takes room, and nobody need be signed in to have it kept

_MARK = "what_was_typed_returns_to"
_SESSION_KEY = "typed"
_NOT_KEPT = frozenset({"csrfmiddlewaretoken", OWNER_FIELD})

View = Callable[..., HttpResponseBase]


@dataclass(frozen=True)
class _Typed:
    path: str
    typed_by: str
    at: float
    fields: dict[str, list[str]]


def keeps_what_was_typed(back_to: str = "") -> Callable[[View], View]:
    """Mark a view whose form is long enough to be worth keeping; see the head of this module."""

    def mark(view: View) -> View:
        setattr(view, _MARK, back_to)
        return view

    return mark


def is_kept_here(request: HttpRequest) -> bool:
    """Whether the view behind this request is marked."""
    return request.resolver_match is not None and hasattr(request.resolver_match.func, _MARK)


def keep(request: HttpRequest) -> str | None:
    """Keep the fields of a POST that can't be carried out now. The form's address, or None if nothing was kept."""
    if request.method != "POST" or not is_kept_here(request) or not _is_from_our_page(request):
        return None
    fields = {name: values for name, values in request.POST.lists() if name not in _NOT_KEPT}
    typed_by = request.POST.get(OWNER_FIELD, "")
    if not typed_by.isdecimal() or _size(fields) > MOST_CHARACTERS or not _is_seldom_enough(request):
        return None
    path = _form_of(request)
    request.session[_SESSION_KEY] = asdict(_Typed(path, typed_by, time.time(), fields))
    if not request.user.is_authenticated:
        request.session.set_expiry(LASTS_S)
    return path


def take(request: HttpRequest) -> QueryDict | None:
    """What this person typed into the form at this address before the interruption; once, then it is forgotten."""
    kept = request.session.get(_SESSION_KEY)
    if request.method != "GET" or not kept or kept["path"] != request.get_full_path():
        return None
    typed = _Typed(**request.session.pop(_SESSION_KEY))
    if typed.typed_by != str(request.user.pk) or time.time() - typed.at > LASTS_S:
        return None
    fields = QueryDict(mutable=True)
    for name, values in typed.fields.items():
        fields.setlist(name, values)
    messages.warning(request, "Here is what you typed before you had to sign in. Please check it and send it again.")
    return fields


def _form_of(request: HttpRequest) -> str:
    match = request.resolver_match
    assert match is not None  # noqa: S101  (only asked for a marked view)
    back_to = getattr(match.func, _MARK)
    return reverse(back_to, args=match.args, kwargs=match.kwargs) if back_to else request.get_full_path()


def _is_from_our_page(request: HttpRequest) -> bool:
    """Browsers name the origin of every cross-site POST, so what names another one, or hides it, is not ours."""
    origin = request.headers.get("Origin")
    return origin is None or our_page(request, origin) is not None


def our_page(request: HttpRequest, address: str) -> SplitResult | None:
    """The parts of an address of this site; None for another one's, and for what is no address at all."""
    try:
        page = urlsplit(address)
    except ValueError:
        return None
    return page if page.netloc == request.get_host() else None


def _size(fields: dict[str, list[str]]) -> int:
    return sum(len(name) + sum(map(len, values)) for name, values in fields.items())


def _is_seldom_enough(request: HttpRequest) -> bool:
    key = f"kept:{get_adapter(request).get_client_ip(request)}:{int(time.time() // 60)}"
    cache.add(key, 0, timeout=120)
    return cache.incr(key) <= MOST_A_MINUTE
