"""Every endpoint x everybody's programs x every method, and the Safety canary by tokens."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from copy import deepcopy
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from emma_eval.accounts.programs.scopes import Scope
from emma_eval.accounts.roles import Role
from results.dashboards.grouped import By
from results.models import Call, Result, Round, Source, Ticket
from scripts_catalog import taxonomy
from scripts_catalog.models import Script, ScriptVersion
from tests.programs import Program

from .access import address
from .endpoints import ENDPOINTS, LEADING, Endpoint
from .test_access import missing
from .world import ANONYMOUS, NO_ROLE, SECRET, World, hide

pytestmark = pytest.mark.django_db
METHODS = ("get", "head", "put", "post", "patch", "delete", "options", "trace")
SOMETHING = json.dumps({"recording_link": "https://a.example/1", "name": "2026.18"})
Programs = dict[tuple[str, bool], Client]


@pytest.fixture
def world(lasting_world: World, db: None) -> World:
    return deepcopy(lasting_world)


@pytest.fixture
def programs(world: World) -> Programs:
    """Everybody's, each with a token of every scope there is: what a role may not do must not hang on the token."""
    return {who: Program(user, *Scope) if user else Client() for who, user in world.people.items()}


def ask(client: Client, method: str, path: str, body: str = SOMETHING) -> Any:
    """One request, undone afterwards, so that each program meets the same site."""
    with transaction.atomic():
        sends = {"content_type": "application/json"} if method in {"put", "post", "patch"} else {}
        answer = getattr(client, method)(path, **({"data": body, **sends} if sends else {}))
        transaction.set_rollback(True)
    return answer


def is_right(endpoint: Endpoint, person: str, is_trained: bool, method: str, status: int) -> bool:
    if person in {ANONYMOUS, NO_ROLE}:
        return status == 401
    if method not in endpoint.methods:
        return status == 405
    if person not in endpoint.who_may(method):
        return status == 403
    if method == "put" and endpoint.others and is_trained:  # the things of the world are the untrained tester's
        return status == endpoint.others
    return status < 500 and status not in {401, 403, 405} and (status != 404 or endpoint.absent)


@pytest.mark.parametrize("name", ENDPOINTS)
def test_an_endpoint_opens_for_the_programs_of_those_it_is_for(world: World, programs: Programs, name: str) -> None:
    endpoint = ENDPOINTS[name]
    path = address(name, endpoint.args, world)
    wrong = [
        f"{person}, {'trained' if is_trained else 'not trained'}: {method.upper()} {path} gave {status}"
        for (person, is_trained), program in programs.items()
        for method in METHODS
        if not is_right(endpoint, person, is_trained, method, status := ask(program, method, path).status_code)
    ]
    assert wrong == []


@pytest.mark.parametrize("name", ENDPOINTS)
def test_a_cookie_opens_nothing(world: World, name: str) -> None:
    path = address(name, ENDPOINTS[name].args, world)
    for person in (role.value for role in Role):
        client = world.client(person)
        assert {ask(client, method, path).status_code for method in METHODS} == {401}


@pytest.mark.parametrize("name", [name for name in ENDPOINTS if name not in {"api_token", "api_taxonomy"}])
def test_a_token_without_the_scope_is_refused(world: World, name: str) -> None:
    endpoint = ENDPOINTS[name]
    path = address(name, endpoint.args, world)
    view_needs = {"get": "read", "put": "write", "post": "write", "delete": "write"}
    for method in endpoint.methods - {"head"}:
        who = next(iter(endpoint.who_may(method)))
        others = [scope for scope in Scope if not scope.endswith(view_needs[method])]
        answer = ask(Program(world.user(who), *others, name="Little"), method, path)
        assert answer.status_code == 403
        assert answer.json()["scope"] in answer["WWW-Authenticate"]


@pytest.mark.parametrize("name", [name for name, endpoint in ENDPOINTS.items() if endpoint.hidden])
def test_a_thing_of_safety_looks_like_one_that_is_not_there(world: World, programs: Programs, name: str) -> None:
    hide(world)
    endpoint = ENDPOINTS[name]
    assert endpoint.hidden is not None
    hidden = endpoint.hidden(world)
    gone = {key: str(int(value) + 10**6) if str(value).isdecimal() else missing(value) for key, value in hidden.items()}
    for (person, is_trained), program in programs.items():
        for method in endpoint.methods:
            if is_trained or person not in endpoint.who_may(method):
                continue
            there, nowhere = (
                ask(program, method, address(name, lambda world, args=args: args, world)) for args in (hidden, gone)
            )
            assert there.status_code == 404, (person, method)
            assert (there.content, there.headers) == (nowhere.content, nowhere.headers)


# --- the canary ------------------------------------------------------------------------------------


def addresses(world: World) -> Iterator[str]:
    """Every endpoint, and the lists in every way they can be asked, with names of what is hidden among them."""
    yield from (address(name, endpoint.args, world) for name, endpoint in ENDPOINTS.items() if endpoint.reads)
    lists = {
        "api_results": [
            *({"script": slug} for slug in (f"quiet-{SECRET}", "moved-out", "bad-news-day")),
            *({"area": area} for area, _ in taxonomy.AREAS),
            *({"q": words} for words in ("said", "Mine", "waited")),
            *({"tester": user.pk} for user in world.people.values() if user),
            *({"sort": sort, "direction": way} for sort in ("date", "script", "vision") for way in ("asc", "desc")),
            {"page_size": 1},
            {"build": world.build.name, "dimension": "content", "low": 4},
        ],
        "api_scripts": [
            *({"area": area} for area, _ in taxonomy.AREAS),
            {"q": "said"},
            {"q": "Once"},
            {"unrun": "yes"},
        ],
        "api_figures": [
            *({"by": by, "tags": tags} for by in By for tags in Source),
            *({"area": area} for area, _ in taxonomy.AREAS),
            *({"script": slug} for slug in (f"quiet-{SECRET}", "moved-out", "bad-news-day")),
            {"from": "2026-05-04", "by": "script"},
        ],
        "api_coverage": [{"area": "everyday"}, {"round": world.round.pk}],
        "api_reviews": [{"page_size": 1}],
        "api_rounds": [{"state": "closed"}, {"page_size": 1}],
        "api_tickets": [
            {"state": "closed"},
            {"page_size": 1},
            *({"script": slug} for slug in (f"quiet-{SECRET}", "moved-out", "bad-news-day")),
            *({"problem": tag} for tag in (taxonomy.TAG_GROUPS[0].tags[0].key, "weird_gaze")),
        ],
    }
    for name, asked in lists.items():
        yield from (f"{reverse(name)}?{urlencode(query)}" for query in asked)
    for slug in ("moved-out", f"quiet-{SECRET}"):
        yield reverse("api_versions", args=[slug])
        yield from (reverse("api_version", args=[slug, number]) for number in (1, 2, 3))
    pairs = Result.objects.values_list("pk", "draft_uuid")
    known = [
        world.result.pk,
        *(str(uuid.UUID(int=number)) for number in range(2)),
        *(key for pair in pairs for key in pair),
    ]
    of_result = ("api_result", "api_result_call", "api_result_review", "api_comments", "api_result_tickets")
    yield from (reverse(name, args=[key]) for key in known for name in of_result)
    yield from (reverse("api_round", args=[key]) for key in Round.objects.values_list("pk", flat=True))
    yield from (reverse("api_ticket", args=[key]) for key in Ticket.objects.values_list("pk", flat=True))


def read(program: Client, paths: list[str]) -> dict[str, str]:
    """Every answer, and the pages that lists lead on to."""
    pages: dict[str, str] = {}
    waiting = list(paths)
    while waiting:
        path = waiting.pop()
        if path in pages:
            continue
        answer = ask(program, "get", path)
        pages[path] = f"{answer.status_code} {answer.text}"
        said = answer.json()
        waiting += [said[name].removeprefix("http://testserver") for name in ("next", "previous") if said.get(name)]
    return pages


def filed(program: Program, world: World) -> dict[str, str]:
    """What is said to a tester's program that files results of scripts which it may and may not know of."""
    said = {"build": world.build.name, "called_at": "2026-05-04T09:30:00Z", "met_emma_before": False, "ratings": {}}
    scripts = [{"script": f"quiet-{SECRET}"}, {"script": "no-such"}, *_versions("moved-out", 1, 2, 3, 4)]
    answers = {}
    for asked in scripts:
        body = json.dumps({**said, **asked})
        answer = ask(program, "put", reverse("api_result", args=[uuid.UUID(int=7)]), body)
        answers[str(asked)] = f"{answer.status_code} {answer.text}"
    return answers


def _versions(slug: str, *numbers: int) -> list[dict[str, Any]]:
    return [{"script": slug, "script_version": number} for number in numbers]


@pytest.mark.parametrize("name", [role.value for role in Role])
def test_programs_read_the_same_with_and_without_anything_of_safety(world: World, name: str) -> None:
    program = Program(world.user(name), *Scope)
    before = list(addresses(world))
    without = read(program, before) | filed(program, world)
    hide(world)
    hidden = [path for path in addresses(world) if path not in before]
    with_it = read(program, before) | filed(program, world)
    assert with_it == without
    told = read(program, hidden)
    closed = set() if name in LEADING else {"403"}  # rounds and reviews are not for everybody
    assert {answer[:3] for answer in told.values()} - closed == {"404"}, "what is hidden is not there"
    assert not [path for path, answer in (with_it | told).items() if SECRET in answer]


def test_the_programs_of_the_trained_do_read_it(world: World) -> None:
    hide(world)
    for role in Role:
        program = Program(world.user(role.value, is_trained=True), *Scope)
        pages = read(program, list(addresses(world)))
        assert sum(f"{SECRET} said" in page for page in pages.values()) > 10, role


@pytest.mark.parametrize(
    ("rows", "name"),
    [(Script, "api_scripts"), (Result, "api_results"), (ScriptVersion, "api_versions"), (Call, "api_result_call")],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_guard_that_lets_through_would_be_seen(
    world: World, rows: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the canary can fail: with any one guard gone, the readings differ."""
    program = Program(world.user(Role.TESTER.value), *Scope)
    args = {"api_versions": ["moved-out"], "api_result_call": [world.result.pk]}.get(name, [])
    path = reverse(name, args=args)
    without = ask(program, "get", path).text
    hide(world)
    assert ask(program, "get", path).text == without
    queryset = type(rows.objects.all())
    monkeypatch.setattr(queryset, "visible_to", lambda found, user: found.all())
    assert ask(program, "get", path).text != without
