"""Sign-on goes out by the one way out: what a provider's documents name is looked at like any address.

Against an imitation of a provider, since no real one names such addresses.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django import Settings

from emma_eval.accounts.role import Role
from emma_eval.accounts.sign_on.configured import SignOn
from emma_eval.accounts.sign_on.session import way_out
from emma_eval.adapters.addresses import Allowed
from emma_eval.adapters.errors import RefusedError
from tests.accounts.provider import CLIENT_ID, CLIENT_SECRET
from tests.accounts.provider.faulty import Faulty, serving
from tests.receivers import answer
from tests.receivers import serving as receiving

from .test_sign_on_faults import DISCOVERY, assert_refused, come_back, press_the_button

pytestmark = pytest.mark.django_db


@pytest.fixture
def faulty(settings: Settings) -> Iterator[Faulty]:
    with serving() as faulty:
        settings.ORIGIN = "http://testserver"
        roles = (("emma-testers", Role.TESTER),)
        settings.SIGN_ON = SignOn(faulty.issuer, CLIENT_ID, CLIENT_SECRET, "the provider", roles=roles)
        yield faulty


@pytest.mark.parametrize("document", ["token_endpoint", "jwks_uri", "userinfo_endpoint"])
def test_an_address_inside_that_a_provider_names_is_not_opened(
    client: Client, faulty: Faulty, document: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with receiving(answer(200, b"{}"), "127.0.0.2") as inside:
        faulty.discovery[document] = inside.url
        assert_refused(client, come_back(client, faulty))
    assert inside.heard == []


def test_what_the_operator_names_beside_the_provider_is_opened(
    client: Client, faulty: Faulty, settings: Settings
) -> None:
    settings.OUTGOING_ALLOW = Allowed.read(["127.0.0.2"])
    with receiving(answer(200, b'{"sub": "subject", "groups": []}'), "127.0.0.2") as inside:
        faulty.discovery["userinfo_endpoint"] = inside.url
        come_back(client, faulty)
    assert [heard.headers["authorization"] for heard in inside.heard] == ["Bearer a"]


def test_a_provider_that_leads_elsewhere_is_not_followed(client: Client, faulty: Faulty) -> None:
    with receiving(answer(200, b"{}")) as elsewhere:
        faulty.answers[DISCOVERY] = lambda faulty: (302, f"text/html\r\nLocation: {elsewhere.url}", b"")
        assert_refused(client, press_the_button(client))
    assert elsewhere.heard == []


def test_the_provider_needs_no_entry_and_nobody_else_gets_in_by_it(faulty: Faulty) -> None:
    assert way_out(1).send("GET", faulty.issuer + DISCOVERY).status == 200
    with pytest.raises(RefusedError):
        way_out(1).send("GET", "http://127.0.0.2/")
