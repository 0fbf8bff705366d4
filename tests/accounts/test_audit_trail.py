"""The page of the audit trail."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from emma_eval.accounts import audit
from emma_eval.accounts.audit_chain.link_entries import link_entries
from emma_eval.accounts.models import AuditEntry, AuditLink, User
from emma_eval.accounts.roles import Role
from emma_eval.accounts.views import audit as page
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin_client(administrator: User) -> Client:
    return make.client_of(administrator)


def said(client: Client, query: str = "") -> list[str]:
    return [line.entry.target for line in client.get(f"/audit/{query}").context["lines"]]


def test_the_newest_comes_first(admin_client: Client, tester: User) -> None:
    for n in range(3):
        audit.record(tester, "filed", f"result {n}")
    assert said(admin_client) == ["result 2", "result 1", "result 0"]


def test_it_is_filtered_by_whom_and_what(admin_client: Client, tester: User, administrator: User) -> None:
    audit.record(tester, "filed", "result 1")
    audit.record(tester, "corrected", "result 2")
    audit.record(administrator, "filed", "result 3")
    assert said(admin_client, "?who=TESS@example.test") == ["result 2", "result 1"]
    assert said(admin_client, "?action=filed") == ["result 3", "result 1"]
    assert said(admin_client, "?action=filed&who=tess@example.test") == ["result 1"]
    assert "Nothing matches" in admin_client.get("/audit/?who=nobody").text


def test_it_comes_in_pages_by_keyset(
    admin_client: Client, tester: User, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(page, "A_PAGE", 2)
    for n in range(5):
        audit.record(tester, "filed", f"result {n}")
    with django_assert_num_queries(4):
        first = admin_client.get("/audit/")
    with django_assert_num_queries(4):
        assert said(admin_client, f"?before={first.context['next_before']}") == ["result 2", "result 1"]
    assert said(admin_client, "?before=nonsense") == ["result 4", "result 3"]
    assert said(admin_client, f"?before={'9' * 40}") == ["result 4", "result 3"]


def test_entries_about_safety_and_their_words_are_for_the_trained(admin_client: Client, tester: User) -> None:
    audit.record(tester, "moved into Safety", "quiet-hint", is_safety=True, title="A quiet hint")
    assert "afety" not in admin_client.get("/audit/").text.replace("Safety scripts", "")
    trained = make.client_of(make.user("trained@example.test", Role.ADMINISTRATOR, is_trained=True))
    assert "A quiet hint" in trained.get("/audit/").text
    assert "moved into Safety" in trained.get("/audit/").text


@pytest.mark.parametrize(
    ("action", "target", "words"),
    [
        ("filed a result", "246986481601711", '<a href="/results/246986481601711/"><bdi>open it</bdi></a>'),
        ("corrected a result", "246986481601711", '<a href="/results/246986481601711/"><bdi>open it</bdi></a>'),
        ("retired a script", "bad-news-day", '<a href="/scripts/bad-news-day/"><bdi>bad-news-day</bdi></a>'),
        ("registered a build", "2026.48", "<b><bdi>2026.48</bdi></b>"),
        ("retired a script", '"><script>', '<a href="/scripts/&quot;&gt;&lt;script&gt;/">'),
    ],
)
def test_what_has_a_page_is_a_link_to_it(
    admin_client: Client, tester: User, action: str, target: str, words: str
) -> None:
    audit.record(tester, action, target)
    assert f"<bdi>{action}</bdi>: {words}" in admin_client.get("/audit/").text.replace(' class="to-row"', "")


@pytest.mark.parametrize(
    ("action", "place"),
    [("planned a round", "/rounds/247000000000001/"), ("linked a ticket", "/tickets/247000000000001/")],
)
def test_it_links_what_its_reader_may_open_and_nothing_else(
    admin_client: Client, tester: User, action: str, place: str
) -> None:
    audit.record(tester, action, "247000000000001")
    assert admin_client.get(place).status_code == 403
    page = admin_client.get("/audit/").text
    assert f"<bdi>{action}</bdi>" in page
    assert place not in page
    assert "open it" not in page
    both = make.client_of(make.user("both@example.test", Role.ADMINISTRATOR, Role.MANAGER))
    assert f'href="{place}"' in both.get("/audit/").text


def test_it_is_for_administrators(manager_client: Client) -> None:
    assert manager_client.get("/audit/").status_code == 403


def test_what_nobody_did_who_was_signed_in_is_shown_too(admin_client: Client) -> None:
    audit.record(None, "invited a person", "boss@example.test", roles=["administrator"])
    assert "the site itself" in admin_client.get("/audit/").text


def lines_of(client: Client) -> list[str]:
    """The page without its token, which is another one each time."""
    return [line for line in client.get("/audit/").text.splitlines() if "csrfmiddlewaretoken" not in line]


def test_the_head_of_the_chain_is_for_those_who_may_know_of_every_line(admin_client: Client, tester: User) -> None:
    trained = make.client_of(make.user("ann@example.test", Role.ADMINISTRATOR, is_trained=True))
    audit.record(tester, "filed a result", "1", is_safety=True)
    before = lines_of(admin_client)
    link_entries(timezone.now())
    digest = AuditLink.objects.get().digest
    assert "1 so far" in trained.get("/audit/").text
    assert digest in trained.get("/audit/").text
    assert lines_of(admin_client) == before, "a head that moves would tell of a hidden line"


def test_a_person_that_a_line_is_about_is_named_as_they_are_called_by_now(admin_client: Client, tester: User) -> None:
    audit.record(None, "changed roles", about=tester, after=["tester"])
    entry = AuditEntry.objects.get()
    assert (entry.target, entry.details) == ("", {"person": tester.pk, "after": ["tester"]})
    User.objects.filter(pk=tester.pk).update(name="Tess Lindqvist")
    page = admin_client.get("/audit/").text
    assert f'<a href="/people/{tester.pk}/"><bdi>Tess Lindqvist</bdi></a>' in page
    assert tester.email not in page
