"""Whatever is taken away while somebody works is gone on their very next request, of whatever kind that is."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from emma_eval.accounts import change_access
from emma_eval.accounts.models import Training, User
from emma_eval.accounts.roles import Role
from results.models import Draft
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
SECRET = "quiet-hint"


def page(client: Client, script: str) -> Any:
    return client.get(f"/scripts/{script}/")


def fragment(client: Client, script: str) -> Any:
    return client.get("/results/", headers={"HX-Request": "true"})


def saved_draft(client: Client, script: str) -> Any:
    body = {"version": 0, "script": script, "fields": {"comment": "a"}}
    return client.put(f"/drafts/{uuid.uuid4()}/", json.dumps(body), content_type="application/json")


def form_sent(client: Client, script: str) -> Any:
    return client.post("/results/new/", {"script": script})


def asked_by_a_script(client: Client, script: str) -> Any:
    return client.get(f"/scripts/{script}/", headers={"Accept": "application/json"})


REQUESTS: dict[str, Callable[[Client, str], Any]] = {
    "a page": page,
    "a fragment": fragment,
    "a draft": saved_draft,
    "a form": form_sent,
    "a script": asked_by_a_script,
}


def the_role(user: User) -> None:
    change_access.change_roles(user, set(), None)


def the_account(user: User) -> None:
    change_access.deactivate(user, None)


def the_session(user: User) -> None:
    admin = make.client_of(make.user("ada@example.test", Role.ADMINISTRATOR))
    admin.post(f"/people/{user.pk}/sessions/end/")


@pytest.fixture
def script(db: None) -> str:
    make.build("2026.18", is_current=True)
    return make.script("bad-news-day").slug


@pytest.mark.parametrize("ask", REQUESTS.values(), ids=REQUESTS)
@pytest.mark.parametrize("take_away", [the_role, the_account, the_session], ids=lambda act: act.__name__)
def test_the_next_request_is_closed(
    tester: User, script: str, take_away: Callable[[User], None], ask: Callable[[Client, str], Any]
) -> None:
    client = make.client_of(tester)
    assert ask(client, script).status_code in {200, 302}
    kept = Draft.objects.count()
    take_away(tester)
    answer = ask(client, script)
    leads_to_sign_in = answer.status_code == 302 and answer["Location"].startswith("/account/login/")
    assert leads_to_sign_in or answer.status_code in {401, 403}
    assert Draft.objects.count() == kept


def is_revoked(user: User) -> None:
    change_access.revoke_training(user.trainings.get(), None)


def lapses(user: User) -> None:
    Training.objects.filter(user=user).update(ends_on=timezone.localdate() - timedelta(days=1))


@pytest.mark.parametrize("ask", [page, saved_draft, asked_by_a_script], ids=lambda ask: ask.__name__)
@pytest.mark.parametrize("end", [is_revoked, lapses], ids=lambda act: act.__name__)
def test_a_training_that_ends_hides_safety_from_the_next_request(
    trained_tester: User, end: Callable[[User], None], ask: Callable[[Client, str], Any]
) -> None:
    make.build("2026.18", is_current=True)
    make.script(SECRET, area="safety")
    client = make.client_of(trained_tester)
    assert ask(client, SECRET).status_code == 200
    kept = Draft.objects.count()
    end(trained_tester)
    hidden, missing = ask(client, SECRET), ask(client, "no-such-script")
    assert hidden.status_code == missing.status_code
    assert hidden.status_code >= 400
    assert Draft.objects.count() == kept


@pytest.mark.parametrize("end", [is_revoked, lapses], ids=lambda act: act.__name__)
def test_a_training_that_ends_empties_the_fragments_too(trained_tester: User, end: Callable[[User], None]) -> None:
    build = make.build("2026.18")
    make.result(trained_tester, make.script(SECRET, area="safety"), build, comment="zq17")
    client = make.client_of(trained_tester)
    assert "zq17" in fragment(client, SECRET).text or SECRET in fragment(client, SECRET).text
    end(trained_tester)
    assert "zq17" not in fragment(client, SECRET).text
    assert SECRET not in fragment(client, SECRET).text


def test_a_role_that_is_given_opens_the_next_request(tester: User) -> None:
    client = make.client_of(tester)
    assert client.get("/audit/").status_code == 403
    change_access.change_roles(tester, {Role.ADMINISTRATOR}, None)
    assert client.get("/audit/").status_code == 200
