"""Pages of the catalogue."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from emma_eval.accounts.roles import UserRequest, for_members

from .models import Script


@for_members
def scripts(request: UserRequest) -> HttpResponse:
    found = Script.objects.visible_to(request.user).in_use().select_related("latest").order_by("area", "slug")
    return render(request, "scripts_catalog/scripts.html", {"scripts": found})
