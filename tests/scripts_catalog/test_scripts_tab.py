"""The Scripts tab."""

from __future__ import annotations

import pytest
from django.test import Client

from emma_eval.accounts.models import User
from tests import make

pytestmark = pytest.mark.django_db


def test_it_lists_a_script_by_its_title(tester_client: Client) -> None:
    make.script("bad-news-day", title="Bad news day")
    assert "Bad news day" in tester_client.get("/scripts/").text


def test_it_hides_safety_scripts_from_the_untrained(tester_client: Client, trained_tester: User) -> None:
    make.script("quiet-hint", area="safety", title="A quiet hint")
    assert "A quiet hint" not in tester_client.get("/scripts/").text
    assert "A quiet hint" in make.client_of(trained_tester).get("/scripts/").text
