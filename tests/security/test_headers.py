"""What every answer carries, whatever it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from tests import make

pytestmark = pytest.mark.django_db
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "media-src": "'self' blob:",
    "connect-src": "'self'",
    "manifest-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "form-action": "'self'",
}
NOT_FOR_US = ("camera", "microphone", "geolocation", "display-capture", "payment", "usb")


def policy_of(answer: Any) -> dict[str, str]:
    parts = (part.strip().partition(" ") for part in answer["Content-Security-Policy"].split(";"))
    return {name: sources for name, _, sources in parts}


def broken(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError("on purpose")


def answers(client: Client, user: User, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """One answer of every kind, by what it is."""
    found = {
        "a page without a sign-in": client.get("/account/login/"),
        "a redirect": client.get("/scripts/"),
        "health": client.get("/healthz"),
        "readiness": client.get("/readyz"),
        "a static file": _static_file(),
        "a missing static file": client.get("/static/css/none.css"),
        "a script that is signed out": client.get("/scripts/", headers={"Accept": "application/json"}),
        "a fragment that is signed out": client.get("/scripts/", headers={"HX-Request": "true"}),
        "an unknown host": client.get("/", headers={"Host": "elsewhere.example"}),
    }
    client.force_login(user)
    found |= {
        "a page": client.get("/scripts/"),
        "a fragment": client.get("/results/", headers={"HX-Request": "true"}),
        "nothing there": client.get("/nothing-here/"),
        "forbidden": client.get("/audit/"),
        "a wrong method": client.delete("/results/"),
        "a form with errors": client.post("/account/password/change/", {}),
        "a download": make.client_of(make.user("e@example.test", Role.EVAL_TEAM)).get("/scripts/export/"),
        "a stale token": _without_token(user),
    }
    found["an error of ours"] = _error(user, monkeypatch)
    return found


def _static_file() -> Any:
    """The files are looked up when the first request comes, so a client of its own."""
    (settings.STATIC_ROOT / "probe.css").write_text("main {}")
    return Client().get("/static/probe.css")


def _without_token(user: User) -> Any:
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    return client.post("/account/password/change/", {})


def _error(user: User, monkeypatch: pytest.MonkeyPatch) -> Any:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    monkeypatch.setattr(User, "has_role", broken)
    answer = client.get("/scripts/")
    monkeypatch.undo()
    return answer


STATUSES = {
    "a page without a sign-in": 200,
    "a redirect": 302,
    "health": 200,
    "readiness": 200,
    "a static file": 200,
    "a missing static file": 404,
    "a script that is signed out": 401,
    "a fragment that is signed out": 401,
    "an unknown host": 400,
    "a page": 200,
    "a fragment": 200,
    "nothing there": 404,
    "forbidden": 403,
    "a wrong method": 405,
    "a form with errors": 422,
    "a download": 200,
    "a stale token": 403,
    "an error of ours": 500,
}


def test_every_kind_of_answer_carries_the_same_guards(
    client: Client, tester: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = answers(client, tester, monkeypatch)
    assert {kind: answer.status_code for kind, answer in found.items()} == STATUSES
    for kind, answer in found.items():
        assert policy_of(answer) == POLICY, kind
        assert "Content-Security-Policy-Report-Only" not in answer, kind
        assert answer["X-Content-Type-Options"] == "nosniff", kind
        assert answer["Referrer-Policy"] == "same-origin", kind
        assert answer["Cross-Origin-Opener-Policy"] == "same-origin", kind
        assert all(f"{feature}=()" in answer["Permissions-Policy"] for feature in NOT_FOR_US), kind


def test_nothing_is_framed(client: Client) -> None:
    answer = client.get("/account/login/")
    assert answer["X-Frame-Options"] == "DENY"
    assert policy_of(answer)["frame-ancestors"] == "'none'"


def test_the_pages_of_an_account_are_not_kept_by_the_browser(client: Client, tester: User) -> None:
    assert "no-store" in client.get("/account/login/")["Cache-Control"]
    assert "no-store" in client.get("/invitations/made-up/")["Cache-Control"]


def test_an_error_of_ours_tells_nothing_of_the_house(tester: User, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = _error(tester, monkeypatch)
    assert "Something went wrong on our side" in answer.text
    assert "on purpose" not in answer.text
    assert "Traceback" not in answer.text


# --- over https --------------------------------------------------------------------------------

ASK = """
import json, django
django.setup()
from django.conf import settings
from django.test.utils import setup_test_environment
from django.db import connection
connection.creation.create_test_db(verbosity=0)
from django.test import Client
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
User.objects.create_user("tess@example.test", "a-long-enough-password")
client = Client()
client.defaults.update({"HTTP_HOST": "emma.example.org", "HTTP_X_FORWARDED_PROTO": "https", "wsgi.url_scheme": "https"})
client.get("/account/login/")
answer = client.post("/account/login/", {"login": "tess@example.test", "password": "a-long-enough-password"})
cookies = {name: {key: str(morsel[key]) for key in ("secure", "httponly", "samesite", "path", "domain")}
           for name, morsel in client.cookies.items()}
print(json.dumps({"headers": dict(answer.headers), "cookies": cookies, "status": answer.status_code}))
"""


@pytest.fixture(scope="module")
def over_https(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The site as a process that is told to be served over https, asked to sign somebody in."""
    return json.loads(_run(tmp_path_factory.mktemp("https"), "-c", ASK).splitlines()[-1])  # type: ignore[no-any-return]


def _run(var: Path, *arguments: str) -> str:
    environment = {
        "PATH": os.environ["PATH"],
        "EMMA_VAR": str(var),
        "EMMA_SECRET_KEY": "0123456789" * 6 + "abcdefghij",
        "EMMA_ORIGIN": "https://emma.example.org",
        "EMMA_BEHIND_PROXY": "true",
        "DJANGO_SETTINGS_MODULE": "emma_eval.settings",
    }
    (var / "static").mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=settings.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_over_https_browsers_are_told_to_stay_there(over_https: dict[str, Any]) -> None:
    assert over_https["status"] == 302
    strict = over_https["headers"]["Strict-Transport-Security"]
    assert strict == "max-age=31536000; includeSubDomains; preload"


@pytest.mark.parametrize("name", ["__Host-session", "__Host-csrf"])
def test_over_https_cookies_belong_to_this_host_alone(over_https: dict[str, Any], name: str) -> None:
    cookie = over_https["cookies"][name]
    assert (cookie["secure"], cookie["path"], cookie["domain"], cookie["samesite"]) == ("True", "/", "", "Lax")


def test_the_session_is_out_of_reach_for_scripts(over_https: dict[str, Any]) -> None:
    assert over_https["cookies"]["__Host-session"]["httponly"] == "True"


def test_the_check_before_deployment_has_nothing_to_say(tmp_path: Path) -> None:
    said = _run(tmp_path, "manage.py", "check", "--deploy", "--fail-level", "WARNING")
    assert "no issues" in said
