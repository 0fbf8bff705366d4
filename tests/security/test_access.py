"""Every address x everybody x every method, from the URLconf itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests import make

from .access import ACCESS, PUBLIC, Page, address
from .endpoints import ENDPOINTS
from .world import ANONYMOUS, SECRET, World, hide, url_names

METHODS = ("get", "head", "options", "post", "put", "patch", "delete")
# Where something is done by POST from a page of its own.
ONLY_SENT = (
    *("review_next", "review_begin", "review_leave", "round_close", "view_remove", "comment_withdraw", "comments_read"),
    *("recording_links", "recording_offset", "recording_notes", "recording_note_withdraw"),
    *(f"webhook_{act}" for act in ("test", "replay", "pause", "resume", "rotate", "drop_old_secret", "remove")),
)
REFUSED_OUTRIGHT = 405  # before anybody is asked who they are; tells nothing but that the address has no such method


@pytest.fixture
def world(lasting_world: World, db: None) -> World:
    return deepcopy(lasting_world)


@pytest.fixture
def whole_world(world: World) -> World:
    hide(world)
    return world


def ask(client: Client, method: str, path: str, **headers: str) -> Any:
    """One request, undone afterwards, so that each person meets the same site."""
    with transaction.atomic():
        answer = getattr(client, method)(path, headers=headers)
        transaction.set_rollback(True)
    return answer


def leads_to_sign_in(answer: Any) -> bool:
    return answer.status_code == 302 and answer["Location"].startswith("/account/login/?next=")


def everybody(world: World) -> Iterator[tuple[str, str, bool, Client]]:
    for name, is_trained in world.people:
        yield (
            f"{name}, {'trained' if is_trained else 'not trained'}",
            name,
            is_trained,
            world.client(name, is_trained=is_trained),
        )


def test_every_address_is_classified() -> None:
    classified = {*ACCESS, *ENDPOINTS}
    assert sorted(set(url_names()) - classified) == [], "say in access.py, or in endpoints.py, who may open it"
    assert sorted(classified - set(url_names())) == [], "no such address any more"


@pytest.mark.parametrize("name", ACCESS)
def test_an_address_opens_for_those_it_is_for_and_nobody_else(world: World, name: str) -> None:
    page = ACCESS[name]
    path = address(name, page.args, world)
    wrong = [
        f"{who}: {method.upper()} {path} gave {answer.status_code}"
        for who, person, is_trained, client in everybody(world)
        for method in METHODS
        if not is_right(page, person, is_trained, answer := ask(client, method, path))
        and not (page.only_some_send and method == "post" and person in page.who and answer.status_code == 403)
    ]
    assert wrong == []


def is_right(page: Page, person: str, is_trained: bool, answer: Any) -> bool:
    status = answer.status_code
    if person not in page.who:
        is_closed = leads_to_sign_in(answer) or status == 401 if person == ANONYMOUS else status == 403
        return is_closed or status == REFUSED_OUTRIGHT
    if page.others and is_trained:  # the things of the world belong to the untrained one of each role
        return status in {page.others[1], REFUSED_OUTRIGHT}
    is_open = page.who == PUBLIC or not (leads_to_sign_in(answer) or status in {401, 403})
    return is_open and status < 500 and (status != 404 or page.absent)


@pytest.mark.parametrize("name", ONLY_SENT)
def test_what_is_only_sent_leads_to_its_page_when_it_is_opened_and_does_nothing(world: World, name: str) -> None:
    """By a bookmark, a reload, or the way back after a sign-in."""
    page = ACCESS[name]
    path = address(name, page.args, world)
    led_on = 0
    for client in [world.client(person) for person in page.who]:
        with CaptureQueriesContext(connection) as asked:
            answer = ask(client, "get", path)
        assert [each["sql"] for each in asked if each["sql"].startswith(("INSERT", "UPDATE", "DELETE"))] == []
        assert answer.status_code in {302, 404}
        if answer.status_code == 302:  # what is one's own
            assert client.get(answer["Location"]).status_code == 200
            led_on += 1
    assert led_on


@pytest.mark.parametrize("name", [name for name, page in ACCESS.items() if page.who != PUBLIC])
@pytest.mark.parametrize("headers", [{"Accept": "application/json"}, {"HX-Request": "true"}], ids=["script", "htmx"])
def test_a_script_without_a_sign_in_is_told_so_and_never_gets_a_page(
    world: World, name: str, headers: dict[str, str]
) -> None:
    path = address(name, ACCESS[name].args, world)
    statuses = {ask(Client(), method, path, **headers).status_code for method in ("get", "post")}
    assert statuses <= {401, REFUSED_OUTRIGHT}
    assert 401 in statuses


@pytest.mark.parametrize("name", [name for name, page in ACCESS.items() if page.hidden])
def test_a_thing_of_safety_does_not_exist_for_the_untrained(whole_world: World, name: str) -> None:
    page = ACCESS[name]
    assert page.hidden is not None
    path = address(name, page.hidden, whole_world)
    wrong = [
        f"{who}: {method.upper()} gave {answer.status_code}"
        for who, person, is_trained, client in everybody(whole_world)
        if person in page.who and not is_trained
        for method in METHODS
        if (answer := ask(client, method, path)).status_code not in {404, REFUSED_OUTRIGHT}
    ]
    assert wrong == []


@pytest.mark.parametrize("name", [name for name, page in ACCESS.items() if page.hidden])
def test_a_thing_that_may_not_be_known_looks_like_one_that_is_not_there(whole_world: World, name: str) -> None:
    page = ACCESS[name]
    assert page.hidden is not None
    hidden = page.hidden(whole_world)
    gone = {key: missing(value) for key, value in hidden.items()}
    client = whole_world.client(next(iter(sorted(page.who))))
    for method in METHODS:
        there = ask(client, method, address(name, lambda world: hidden, whole_world))
        nowhere = ask(client, method, address(name, lambda world: gone, whole_world))
        assert (there.status_code, without_token(there)) == (nowhere.status_code, without_token(nowhere)), method


def missing(value: Any) -> Any:
    if isinstance(value, int):
        return value + 1_000_000
    return f"no-such-{value}" if isinstance(value, str) else value.__class__(int=value.int ^ 1)


def without_token(answer: Any) -> str:
    return re.sub(r'(csrfmiddlewaretoken" value=")\w+', r"\1", answer.text)


@pytest.mark.parametrize("name", ["script", "script_changes", "script_version", "result"])
def test_a_thing_of_safety_opens_for_the_trained(whole_world: World, name: str) -> None:
    page = ACCESS[name]
    assert page.hidden is not None
    path = address(name, page.hidden, whole_world)
    for person in page.who:
        assert SECRET in whole_world.client(person, is_trained=True).get(path).text, person


@pytest.mark.parametrize("name", [name for name, page in ACCESS.items() if page.others])
def test_what_is_somebody_elses_is_closed_to_a_colleague(world: World, name: str) -> None:
    page = ACCESS[name]
    assert page.others is not None
    args, expected = page.others
    path = address(name, args, world)
    for person in page.who:
        client = world.client(person, is_trained=True)
        statuses = {ask(client, method, path).status_code for method in METHODS}
        assert statuses <= {expected, REFUSED_OUTRIGHT}, person
        assert expected in statuses


def test_nobody_reads_or_discards_the_draft_of_another(world: World) -> None:
    client = world.client("tester", is_trained=True)
    path = address("draft", ACCESS["draft"].args, world)
    assert "My draft." not in client.get(path).text
    client.delete(path)
    client.post(path)
    assert type(world.draft).objects.filter(pk=world.draft.pk).exists()
    assert "My draft." in world.client("tester").get(path).text


def test_a_person_without_the_role_of_a_page_never_learns_whether_a_thing_is_there(whole_world: World) -> None:
    client = make.client_of(whole_world.user("no role"))
    for name, page in ACCESS.items():
        if page.hidden and page.who != PUBLIC:
            there = ask(client, "get", address(name, page.hidden, whole_world))
            assert there.status_code in {403, REFUSED_OUTRIGHT}, name
