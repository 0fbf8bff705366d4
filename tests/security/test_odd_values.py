"""No value of an address makes the site fall over or think for long: neither a page nor an endpoint, by no key."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.db import transaction
from django.test import Client

from emma_eval.accounts.programs.scopes import Scope
from emma_eval.accounts.roles import Role
from tests.programs import Program

from .access import ACCESS, address
from .endpoints import ENDPOINTS
from .world import World, hide

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
LONGEST_S = 2.0
EVERY = 8  # of the odd values one in so many is put to a page; all of them to all would take minutes
KEYS = (
    *("build", "with", "area", "tags", "period", "from", "to", "returning", "over", "sort", "direction", "round"),
    *("unchanged", "by", "before", "after", "page", "page_size", "q", "script", "tester", "problem", "biggest"),
    *("dimension", "low", "high", "like", "tag", "result", "view", "path", "query", "next", "state", "review"),
    *(
        "t",
        "call",
        "browser",
        "device",
        "connection",
        "camera",
        "started",
        "source",
        "who",
        "action",
        "closed",
        "columns",
        "format",
    ),
)
ODD = (
    *("0001-01-01", "9999-12-31", "9999-W53", "0", "-1", "9" * 18, "9" * 30, "9223372036854775807", "1e308", "NaN"),
    *("٣", "²", "\u202e𝟘\U0001f600é", "%", "_", "'\"><script>", "a" * 5000, "[]", "{}", ";", "\n", "on", "week", "day"),
    *("-9223372036854775809", "2026-02-30", "all", "any", "true", "script", "month", "\ufeff", "\ud800"),
)
LONG_TIMES = "from=0001-01-01&to=9999-12-31"
TOGETHER = (
    f"{LONG_TIMES}&over=week&period=",
    f"{LONG_TIMES}&over=day&build=any",
    "from=9999-12-31&to=0001-01-01&by=week",
    f"{LONG_TIMES}&by=week",
    f"{LONG_TIMES}&by=script&page_size=100",
    f"from=2000-01-01&to=2026-12-31&over=week&{'build=any&' * 200}",
    "&".join(f"{key}=1&{key}=2" for key in KEYS),
    "&".join(f"{key}%5B%5D=1" for key in KEYS),
    "before=1&after=1&before=9&after=eyJ4IjoxfQ==",
    "&".join(f"x{n}=1" for n in range(900)),
    "%ff%fe=%ff&build=%ff&q=%c0%80&script=%ed%a0%80",
)


def pages() -> list[str]:
    """Those that look at more of their address than which thing they show."""
    rooms = ("dashboard", "script_dash", "compar", "agree", "coverage", "round", "view", "ticket", "review", "comments")
    others = {"results", "todo", "threads", "webhook", "programs", "audit_trail", "gold"}
    return [name for name in ACCESS if name.startswith(rooms) or name in others]


def by_all_keys(turn: int, every: int) -> Iterator[str]:
    """What is odd together, and each odd value by every key at once: some to this page, the others to the next."""
    yield from TOGETHER
    for value in ODD[turn % every :: every]:
        said = quote(value, safe="", errors="surrogatepass")
        yield "&".join(f"{key}={said}" for key in KEYS)


def by_each_key(turn: int, every: int) -> Iterator[str]:
    """An endpoint names what is wrong with one key before it looks at another."""
    asked = [f"{key}={quote(value, safe='', errors='surrogatepass')}" for key in KEYS for value in ODD]
    return iter(asked[turn % every :: every])


def look(client: Client, path: str, query: str) -> str:
    """What is wrong with the answer, if anything is."""
    began = time.process_time()
    try:
        with transaction.atomic():
            answer: Any = client.get(f"{path}?{query}")
            if answer.streaming:
                b"".join(answer)
            transaction.set_rollback(True)
    except Exception as fault:
        return f"{path}?{query[:80]}: {type(fault).__name__}: {fault}"[:300]
    took = time.process_time() - began
    if answer.status_code >= 500 or took > LONGEST_S:
        return f"{path}?{query[:80]}: {answer.status_code} after {took:.1f} s"
    return ""


def test_the_pages_of_this_test_are_there() -> None:
    assert len(pages()) > 15


@pytest.mark.parametrize(("who", "is_trained"), [(Role.MANAGER.value, False), (Role.EVAL_TEAM.value, True)])
def test_no_page_falls_over_odd_values(world: World, who: str, is_trained: bool) -> None:
    hide(world)
    client, wrong = world.client(who, is_trained=is_trained), []
    for turn, name in enumerate(pages()):
        path = address(name, ACCESS[name].args, world)
        wrong += [look(client, path, query) for query in by_all_keys(turn, EVERY)]
    assert [said for said in wrong if said] == []


def test_no_endpoint_falls_over_odd_values(world: World, settings: Any) -> None:
    settings.API_REQUESTS_A_MINUTE = 1_000_000
    program, wrong = Program(world.user(Role.EVAL_TEAM.value), *Scope), []
    readable = [(name, each) for name, each in ENDPOINTS.items() if each.reads]
    for turn, (name, endpoint) in enumerate(readable):
        path = address(name, endpoint.args, world)
        asked = [*by_all_keys(turn, EVERY), *by_each_key(turn, 13 * EVERY)]
        wrong += [look(program, path, query) for query in asked]
    assert [said for said in wrong if said] == []
