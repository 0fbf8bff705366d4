"""An erased person's address is not given back by older lines of the trail, which stay as they were."""

from __future__ import annotations

import json

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from emma_eval.accounts import audit
from emma_eval.accounts.audit_chain.link_entries import link_entries
from emma_eval.accounts.audit_chain.verify_chain import verify_chain
from emma_eval.accounts.erased_addresses import NOT_SHOWN, REFUSED
from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.personal_data.erase_person import erase_person
from emma_eval.accounts.personal_data.own_data import write_own_data
from emma_eval.accounts.roles import Role
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
ADDRESS = "tess.old+1@example.test"


@pytest.fixture
def admin_client(administrator: User) -> Client:
    return make.client_of(administrator)


@pytest.fixture
def leaving(administrator: User) -> User:
    """Somebody of whom lines of every age and kind tell."""
    person = make.user(ADDRESS, Role.TESTER)
    make.user("ann@example.test", Role.TESTER)
    audit.record(administrator, "changed roles", ADDRESS, after=["tester"])
    audit.record(administrator, "exported results", "xlsx", filters=f"Tester: {ADDRESS.upper()}, since May", rows=3)
    audit.record(administrator, "imported a sheet", f"from:{ADDRESS}.csv", people=[ADDRESS, "ann@example.test"])
    audit.record(None, REFUSED, ADDRESS, reason="no group", subject="subject-of-tess")
    audit.record(None, "linked an account to sign-on", about=person, subject="subject-of-tess")
    return person


def read(client: Client) -> str:
    return client.get("/audit/").text.lower()


def test_while_there_is_an_account_lines_say_whose(admin_client: Client, leaving: User) -> None:
    assert read(admin_client).count(ADDRESS) == 5
    assert read(admin_client).count("subject-of-tess") == 2


def test_the_page_gives_no_address_of_somebody_who_is_erased(
    admin_client: Client, administrator: User, leaving: User
) -> None:
    erase_person(leaving, administrator)
    page = read(admin_client)
    assert ADDRESS not in page
    assert "subject-of-tess" not in page
    assert page.count(NOT_SHOWN) == 5
    assert "since may" in page, "the rest of a line is there"
    assert "address digest" not in page


def test_the_file_of_ones_own_data_gives_none_either(administrator: User, leaving: User) -> None:
    erase_person(leaving, administrator)
    written = "".join(write_own_data(administrator, timezone.now()))
    assert ADDRESS not in written.lower()
    assert NOT_SHOWN in [line["target"] for line in json.loads(written)["audit_trail"]]


def test_strangers_who_were_refused_and_people_who_are_here_stay_named(
    admin_client: Client, administrator: User, leaving: User
) -> None:
    audit.record(None, REFUSED, "stranger@example.test", reason="no group", subject="subject-of-stranger")
    erase_person(leaving, administrator)
    page = read(admin_client)
    for said in ("ann@example.test", "stranger@example.test", "subject-of-stranger"):
        assert said in page


def test_it_is_known_again_when_the_secret_was_changed(
    admin_client: Client, administrator: User, leaving: User, settings: LazySettings
) -> None:
    erase_person(leaving, administrator)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another-secret" * 5
    assert ADDRESS not in read(make.client_of(administrator))


def test_lines_stay_as_they_were_and_so_does_their_chain(administrator: User, leaving: User) -> None:
    link_entries(timezone.now())
    before = list(AuditEntry.objects.order_by("pk").values_list("target", "details"))
    erase_person(leaving, administrator)
    link_entries(timezone.now())
    assert list(AuditEntry.objects.order_by("pk").values_list("target", "details"))[: len(before)] == before
    assert verify_chain().fault is None
    assert ADDRESS not in json.dumps(AuditEntry.objects.get(action="erased a person").details)
