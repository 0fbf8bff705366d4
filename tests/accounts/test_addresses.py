"""An address that looks like somebody else's, or becomes it in small letters, is never theirs."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from emma_eval.accounts import invite, throttle
from emma_eval.accounts.addresses import address_of, is_address
from emma_eval.accounts.forms import ONLY_PLAIN_LETTERS
from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from emma_eval.outbox.models import Row
from tests import make
from tests.accounts.provider.road import Provider, come_in

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
KELVIN, LONG_S = "\u212a", "\u017f"  # small letters of theirs, or capital ones, are k and s
LOOK_ALIKES = [f"{KELVIN}as@example.test", f"ka{LONG_S}@example.test", f"kas@example.te{LONG_S}t"]


@pytest.fixture
def kas(db: None) -> User:
    return make.user("kas@example.test", Role.ADMINISTRATOR)


@pytest.mark.parametrize(
    ("said", "is_one"),
    [
        ("ann@example.test", True),
        ("Ann.O'Neil+x@xn--bcher-kva.example", True),
        ("ann@bücher.example", False),
        ("änn@example.test", False),
        ("ann@example.test\u200b", False),
        ("ann", False),
        *[(said, False) for said in LOOK_ALIKES],
    ],
)
def test_an_address_is_of_plain_letters(said: str, is_one: bool) -> None:
    assert is_address(said) is is_one


def test_only_the_capitals_of_plain_letters_become_small() -> None:
    assert address_of("  KAS@Example.TEST ") == "kas@example.test"
    for said in LOOK_ALIKES:
        assert address_of(said.upper() if LONG_S not in said else said) != "kas@example.test"


@pytest.mark.usefixtures("sign_on")
@pytest.mark.parametrize("said", LOOK_ALIKES)
def test_sign_on_by_a_look_alike_opens_no_account(client: Client, provider: Provider, kas: User, said: str) -> None:
    provider.says("mallory", email=said)
    assert come_in(client, provider, "mallory").status_code == 403
    assert "_auth_user_id" not in client.session
    assert AuditEntry.objects.get().details["reason"] == "no verified e-mail address"


@pytest.mark.parametrize("said", LOOK_ALIKES)
def test_a_password_is_tried_at_one_address_alone(client: Client, kas: User, said: str) -> None:
    """Else each look-alike would have ten tries of its own at the same account."""
    answer = client.post("/account/login/", {"login": said, "password": make.PASSWORD})
    assert answer.status_code == 422
    assert "_auth_user_id" not in client.session
    assert throttle._key(throttle.SIGN_IN, said) != throttle._key(throttle.SIGN_IN, kas.email)
    good = client.post("/account/login/", {"login": " KAS@Example.Test ", "password": make.PASSWORD})
    assert good.status_code == 302


@pytest.mark.parametrize("said", LOOK_ALIKES)
def test_a_link_for_a_new_password_is_asked_for_at_one_address_alone(client: Client, kas: User, said: str) -> None:
    client.post("/account/password/reset/", {"email": said})
    assert [row.payload for row in Row.objects.all()] == [{"user_id": None}]


@pytest.mark.parametrize("said", [*LOOK_ALIKES, "ann@bücher.example"])
def test_nobody_is_invited_at_a_look_alike(kas: User, said: str) -> None:
    answer: Any = make.client_of(kas).post("/people/invite/", {"email": said, "roles": ["tester"]})
    assert answer.status_code == 422
    assert ONLY_PLAIN_LETTERS in answer.text
    with pytest.raises(CommandError, match="plain letters"):
        call_command("invite", said, stdout=io.StringIO())
    with pytest.raises(CommandError, match="no active account"):
        call_command("let_in", said, stdout=io.StringIO())
    assert User.objects.count() == 1


def test_an_account_of_a_look_alike_would_be_another(kas: User) -> None:
    """What earlier releases may have let in stays apart from the account that it looks like."""
    other = invite.invited_account(f"ka{LONG_S}@example.test")
    assert other != kas
    assert User.objects.get_by_natural_key(" KAS@example.test") == kas
    trail = make.client_of(kas).get("/audit/", {"who": "KAS@example.test"})
    assert trail.status_code == 200
