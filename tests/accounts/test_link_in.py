"""`manage.py let_in`: a link that signs a person in, once, for the locked out."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from emma_eval.accounts import change_access, link_in
from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


def link_for(email: str, **options: Any) -> str:
    said = io.StringIO()
    call_command("let_in", email, stdout=said, **options)
    return urlsplit(said.getvalue().strip()).path


def test_it_signs_in_once_and_looking_at_it_does_not(client: Client, administrator: User) -> None:
    path = link_for("ADA@example.test")
    assert "ada@example.test" in client.get(path).text
    assert client.get(path).status_code == 200
    assert client.post(path)["Location"] == "/"
    assert client.get("/people/").status_code == 200
    for answer in (Client().get(path), Client().post(path)):
        assert answer.status_code == 404
        assert "This link is over" in answer.text
    assert [entry.action for entry in AuditEntry.objects.order_by("pk")] == [
        "made a link that signs in",
        "signed in by a link",
    ]


def test_it_is_over_after_a_quarter_of_an_hour(
    client: Client, administrator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = link_for("ada@example.test")
    monkeypatch.setattr(link_in, "LASTS_S", -1)
    assert client.post(path).status_code == 404


def test_signing_in_otherwise_ends_it_too(client: Client, administrator: User) -> None:
    path = link_for("ada@example.test")
    Client().force_login(administrator)
    assert client.post(path).status_code == 404


def test_a_deactivated_account_gets_none_and_uses_none(client: Client, tester: User) -> None:
    path = link_for("tess@example.test")
    change_access.deactivate(tester, None)
    assert client.post(path).status_code == 404
    with pytest.raises(CommandError, match="no active account"):
        link_for("tess@example.test")


def test_it_may_make_an_administrator_where_none_is_left(client: Client, tester: User) -> None:
    client.post(link_for("tess@example.test", administrator=True))
    assert User.objects.get().roles == {Role.TESTER, Role.ADMINISTRATOR}
    assert client.get("/audit/").status_code == 200


@pytest.mark.parametrize("token", ["made-up", "eyJwayI6MX0:1abcde:xyz", "a:b:c"])
def test_a_made_up_link_signs_nobody_in(client: Client, administrator: User, token: str) -> None:
    assert client.post(f"/account/link/{token}/").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_two_at_the_same_moment_are_one(administrator: User) -> None:
    token = link_in.token_for(administrator)

    def use(_: int) -> bool:
        try:
            return link_in.use(token) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(use, range(4))) == [False, False, False, True]
