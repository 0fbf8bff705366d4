"""The site of the provider: `python -m tests.accounts.provider FOLDER` prints its address and serves it.

Its people and what it says of them stand in FOLDER/people.json, read anew at each sign-in: a name, and the claims.
Everybody's password is the same. This module is imported once the settings of __main__ are in force.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt
from oauth2_provider.models import Application
from oauth2_provider.oauth2_validators import OAuth2Validator

from . import PASSWORD

SIGN_IN = """<!doctype html><html lang="en"><title>The provider</title><h1>The provider</h1><form method="post">
<label>Name <input name="name"></label> <label>Password <input name="password" type="password"></label>
<button>Let me in</button></form></html>"""


def people() -> dict[str, dict[str, Any]]:
    return json.loads(Path(settings.PEOPLE).read_text())  # type: ignore[no-any-return]


class Validator(OAuth2Validator):  # type: ignore[misc]
    oidc_claim_scope = None  # everything is said to whoever may ask at all

    def get_additional_claims(self, request: Any) -> dict[str, Any]:
        said = people()[request.user.username]
        return {name: claim for name, claim in said.items() if claim is not None}


@csrf_exempt
def sign_in(request: HttpRequest) -> HttpResponse:
    name = request.POST.get("name", "")
    if request.method != "POST" or name not in people() or request.POST.get("password") != PASSWORD:
        return HttpResponse(SIGN_IN)
    login(request, User.objects.get_or_create(username=name)[0])
    return redirect(request.GET["next"])


@csrf_exempt
def register(request: HttpRequest) -> HttpResponse:
    """Where the site of the test may be come back to."""
    Application.objects.update(redirect_uris=request.POST["redirect_uri"])
    return HttpResponse("registered")


urlpatterns = [
    path("sign-in/", sign_in),
    path("register/", register),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
]
