"""What requests are made of, asked of our Django: who is signed in, which rows there are, how many queries it is."""

from __future__ import annotations

from django.conf import settings
from django.db import connection
from django.middleware.csrf import _get_new_csrf_string  # the cookie's own form of a token
from django.test import Client
from django.test.utils import CaptureQueriesContext

from emma_eval.accounts.models import User
from emma_eval.accounts.programs.scopes import Scope
from emma_eval.accounts.programs.tokens import make_token
from results.listing.keyset import PAGE_SIZE, Cursor
from results.listing.list_results import Sort
from results.models import Result
from scripts_catalog.models import Build, Script

from .data import EVAL_MEMBER, TESTER

BIGGEST, RAREST = "script-001", "script-199"


def facts() -> dict[str, str]:
    """A tester's session, and the keys of the script that is run most and of the current build."""
    tester = User.objects.get(email=TESTER)
    script = Script.objects.get(slug=BIGGEST)
    build = Build.objects.get(is_current=True)
    return {
        "session": session_of(TESTER),
        "evaluator": session_of(EVAL_MEMBER),
        "token": _token_of(tester),
        "csrf": _get_new_csrf_string(),
        "tester": str(tester.pk),
        "script": script.slug,
        "rare_script": RAREST,
        "script_version": str(script.latest_id),
        "build": str(build.pk),
        "build_key": build.sort_key,
    }


def _token_of(tester: User) -> str:
    _, sent = make_token(tester, "of the benchmark", [Scope.RESULTS_READ], days=1)
    return sent


def session_of(email: str) -> str:
    client = Client()
    client.force_login(User.objects.get(email=email))
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def queries_of(path: str, session: str, headers: dict[str, str]) -> list[str]:
    """The queries that a page takes, in the form in which they were run."""
    client = Client(HTTP_HOST="127.0.0.1", headers=headers)
    client.cookies[settings.SESSION_COOKIE_NAME] = session
    client.get(path)  # what is kept from one request to the next is there by now
    with CaptureQueriesContext(connection) as seen:
        answer = client.get(path)
    if answer.status_code != 200:
        raise ValueError(f"{path} answered {answer.status_code}")
    return [query["sql"] for query in seen]


def near_the_end() -> dict[str, str]:
    """Where the list continues with a page and one row left, newest first and by the rating of the content, as an
    address names that place. One more than a page: whether another follows is asked of the same rows, too."""
    seen = Result.objects.visible_to(User.objects.get(email=TESTER))
    places = {}
    for name, sort in (
        ("by_date", Sort("date", is_descending=True)),
        ("by_content", Sort("content", is_descending=False)),
    ):
        order = sort.order
        # The last rows that have a value: those without one come behind them.
        turned = order.turned().sort(seen, is_empty=False)
        value, pk = turned.values_list(order.column, "id")[PAGE_SIZE + 1]
        places[name] = order.write(Cursor(value, pk))
    return places
