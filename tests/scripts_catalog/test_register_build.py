"""Builds of Emma: registering, changing, making one current."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from emma_eval.accounts.models import AuditEntry, User
from scripts_catalog.models import Build, RunCount, Site
from scripts_catalog.register_build import (
    BuildExistsError,
    Particulars,
    change_build,
    make_build_current,
    register_build,
)
from tests import make

pytestmark = pytest.mark.django_db
BAD_LINKS = [
    "javascript:alert(1)",
    "data:text/html,x",
    "ftp://emma.test/",
    "https://user:secret@emma.test/",
    "https://user@emma.test/",
    "https://",
    "https://emma.test/" + "x" * 500,
    "https://[::1",
    "not a link",
]


def register(name: str, by: User, *, make_current: bool = False, **said: Any) -> Build:
    return register_build(name, Particulars(**said), make_current=make_current, by=by)


def current() -> list[str]:
    return list(Build.objects.filter(is_current=True).values_list("name", flat=True))


@pytest.mark.data_layer
def test_the_first_build_is_current_and_later_ones_only_when_asked(eval_member: User) -> None:
    register("2026.9", eval_member)
    register("2026.10", eval_member)
    assert current() == ["2026.9"]
    register("2026.11", eval_member, make_current=True)
    assert current() == ["2026.11"]
    assert Build.objects.current_build() == Build.objects.get(name="2026.11")


@pytest.mark.data_layer
def test_exactly_one_build_is_current(eval_member: User) -> None:
    old, new = make.build(is_current=True), make.build()
    assert make_build_current(new, eval_member)
    assert not make_build_current(new, eval_member)
    assert current() == [new.name]
    with pytest.raises(IntegrityError), transaction.atomic():
        Build.objects.filter(pk=old.pk).update(is_current=True)


@pytest.mark.data_layer
@pytest.mark.parametrize("name", ["2026.9", "2026.09"])
def test_a_build_that_sorts_the_same_is_the_same(eval_member: User, name: str) -> None:
    register("2026.9", eval_member)
    with pytest.raises(BuildExistsError):
        register(name, eval_member)


@pytest.mark.data_layer
@pytest.mark.parametrize("link", ["javascript:alert(1)", "emma.test", "data:x"])
def test_the_database_takes_no_link_that_opens_no_page(link: str) -> None:
    for row in (Build(name="2026.9", call_link=link), Site(pk=1, call_link=link)):
        with pytest.raises(IntegrityError), transaction.atomic():
            row.save()


def test_builds_sort_by_their_numbers() -> None:
    for name in ("2026.9", "2026.10", "2025.48"):
        make.build(name)
    assert [build.name for build in Build.objects.all()] == ["2026.10", "2026.9", "2025.48"]


def test_a_build_is_registered_by_page(eval_client: Client) -> None:
    typed = {
        "name": "2026.48",
        "released_on": "2026-11-20",
        "note": "Quieter.\r\nFaster.",
        "call_link": "https://emma.test/48",
        "is_current": "on",
    }
    assert eval_client.post("/builds/new/", typed).status_code == 302
    build = Build.objects.get()
    assert (build.released_on, build.note, build.call_link, build.is_current) == (
        date(2026, 11, 20),
        "Quieter.\nFaster.",
        "https://emma.test/48",
        True,
    )
    page = eval_client.get("/builds/").text
    assert "released 20 Nov 2026" in page
    assert [line.action for line in AuditEntry.objects.order_by("id")] == ["registered a build", "made a build current"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 61}, "name"),
        ({"name": "1." * 30}, "name"),
        ({"name": "2026.09"}, "name"),
        ({"released_on": "2026-13-01"}, "released_on"),
        ({"note": "x" * 2001}, "note"),
        *(({"call_link": link}, "call_link") for link in BAD_LINKS),
    ],
)
def test_what_is_wrong_stands_beside_its_field(eval_client: Client, changes: dict[str, str], field: str) -> None:
    make.build("2026.9")
    answer = eval_client.post("/builds/new/", {"name": "2026.48", "note": "Kept words", **changes})
    assert answer.status_code == 422
    assert f'href="#id_{field}"' in answer.text
    assert f'id="id_{field}_error"' in answer.text
    assert "Kept words" in answer.text or field == "note"
    assert Build.objects.count() == 1


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("javascript:alert(1)", "The link must begin with https:// or http://."),
        ("https://me:secret@emma.test/", "Leave user name and password out of the link."),
        ("ftp://me:secret@emma.test/", "The link must begin with https:// or http://."),
        (f"https://emma.test/{'x' * 9000}", "The link has 9018 characters; 500 is the most."),
        (f"javascript:{'x' * 9000}", "The link has 9011 characters; 500 is the most."),
        ("https://nowhere", "This is not a web address."),
    ],
)
def test_one_fault_of_a_link_has_one_error(eval_client: Client, link: str, said: str) -> None:
    answer = eval_client.post("/builds/new/", {"name": "2026.48", "call_link": link})
    assert answer.context["form"].errors == {"call_link": [said]}


def test_a_build_is_changed_but_never_renamed(eval_client: Client) -> None:
    build = make.build("2026.48", call_link="https://emma.test/")
    assert 'name="name"' not in eval_client.get(f"/builds/{build.pk}/").text
    eval_client.post(f"/builds/{build.pk}/", {"name": "other", "note": "New note", "call_link": ""})
    build.refresh_from_db()
    assert (build.name, build.note, build.call_link) == ("2026.48", "New note", "")
    assert AuditEntry.objects.get().details == {"changed": ["note", "call link"]}


def test_saving_without_a_change_leaves_no_trace(eval_member: User) -> None:
    build = make.build(note="Same")
    assert not change_build(build, Particulars(note="Same"), by=eval_member)
    assert not AuditEntry.objects.exists()


def test_a_build_is_made_current_by_page(eval_client: Client) -> None:
    make.build("2026.9", is_current=True)
    build = make.build("2026.10")
    eval_client.post(f"/builds/{build.pk}/current/")
    assert current() == ["2026.10"]


def test_runs_that_were_safety_are_not_counted_for_the_untrained(
    eval_client: Client, trained_eval_member: User
) -> None:
    build, script = make.build(), make.script()
    RunCount.objects.add(script, build, filed_as_safety=False, runs=2)
    RunCount.objects.add(script, build, filed_as_safety=True, runs=5)
    RunCount.objects.add(make.script(area="safety"), build, filed_as_safety=True, runs=11)
    assert "2 runs" in eval_client.get("/builds/").text
    assert "18 runs" in make.client_of(trained_eval_member).get("/builds/").text


def test_builds_are_for_the_eval_team(tester_client: Client, manager_client: Client) -> None:
    build = make.build()
    for path in ("/builds/", "/builds/new/", f"/builds/{build.pk}/"):
        assert tester_client.get(path).status_code == 403
        assert manager_client.get(path).status_code == 403
    assert tester_client.post(f"/builds/{build.pk}/current/").status_code == 403
