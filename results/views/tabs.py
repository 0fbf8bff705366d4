"""The tabs of the dashboard pages: each leads to its page with what is asked for here, as far as it knows of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest
from django.urls import reverse

from ..dashboards.asked import ANY_BUILD
from ..saved_views.addresses import PAGES

LABELS = {
    "dashboard": "Ratings and problems",
    "compare": "Compare builds",
    "coverage": "Coverage",
    "agreement": "Agreement",
}
CARRIED = ("build", "area", "tags", "returning", "period", "from", "to")
OF_ONE_BUILD = frozenset({"compare", "coverage", "agreement"})


@dataclass(frozen=True)
class Tab:
    """`current`: what aria-current says of it; empty for a page that this is not."""

    label: str
    href: str
    current: str


def tabs_of(request: HttpRequest, form: forms.Form) -> list[Tab]:
    """What was not understood here is carried nowhere."""
    here = request.resolver_match.url_name if request.resolver_match else ""
    said = {key: request.GET[key] for key in CARRIED if request.GET.get(key) and key not in form.errors}
    return [Tab(label, _href(name, said), _current(name, here or "")) for name, label in LABELS.items()]


def _href(name: str, said: Mapping[str, str]) -> str:
    known = {key: value for key, value in said.items() if key in PAGES[name].keys}
    if name in OF_ONE_BUILD and known.get("build") == ANY_BUILD:
        del known["build"]
    return f"{reverse(name)}{'?' if known else ''}{urlencode(known)}"


def _current(name: str, here: str) -> str:
    if name == here:
        return "page"
    return "true" if (name, here) == ("dashboard", "script_dashboard") else ""
