"""The link that opens Emma for the whole site."""

from __future__ import annotations

import pytest
from django.test import Client

from emma_eval.accounts.models import AuditEntry, User
from scripts_catalog.models import Site
from scripts_catalog.set_call_link import set_call_link
from tests import make
from tests.scripts_catalog.test_register_build import BAD_LINKS

pytestmark = pytest.mark.django_db


def test_it_is_set_changed_and_taken_away_by_page(eval_client: Client) -> None:
    for link in ("https://emma.test/a", "http://emma.test/b", ""):
        eval_client.post("/builds/", {"call_link": link})
        assert Site.objects.get().call_link == link
    assert AuditEntry.objects.count() == 3


def test_setting_the_same_link_again_leaves_no_trace(eval_member: User) -> None:
    assert set_call_link("https://emma.test/", eval_member)
    assert not set_call_link("https://emma.test/", eval_member)
    assert AuditEntry.objects.count() == 1


@pytest.mark.parametrize("link", BAD_LINKS)
def test_a_link_that_is_none_is_refused_and_kept_in_the_field(eval_client: Client, link: str) -> None:
    answer = eval_client.post("/builds/", {"call_link": link})
    assert answer.status_code == 422
    assert link[:60].replace("&", "&amp;") in answer.text
    assert not Site.objects.exists()


def test_a_link_without_a_scheme_becomes_https(eval_client: Client) -> None:
    eval_client.post("/builds/", {"call_link": "emma.test/call"})
    assert Site.objects.get().call_link == "https://emma.test/call"


@pytest.mark.data_layer
def test_a_build_without_a_link_opens_the_sites() -> None:
    own, without = make.build(call_link="https://emma.test/own"), make.build()
    assert Site.objects.call_link_for(without) == ""
    Site.objects.create(pk=1, call_link="https://emma.test/site")
    assert Site.objects.call_link_for(own) == "https://emma.test/own"
    assert Site.objects.call_link_for(without) == "https://emma.test/site"
    assert Site.objects.call_link_for(None) == "https://emma.test/site"
