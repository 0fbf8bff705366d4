"""Tokens: made once, kept as a digest, never more than their owner may at that very moment."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from emma_eval.accounts import change_access
from emma_eval.accounts.models import ApiToken, AuditEntry, Training, User, digest_of
from emma_eval.accounts.programs.scopes import ROLES_OF, Scope, scopes_for
from emma_eval.accounts.programs.tokens import make_token, revoke_token, tell_expired
from emma_eval.accounts.roles import Role
from emma_eval.accounts.tasks import clear_away
from tests import make
from tests.programs import Program

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]
WHOSE, RESULTS = "/api/v1/token/", "/api/v1/results/"


def test_a_token_is_known_by_its_digest_alone(tester: User) -> None:
    token, sent = make_token(tester, "Nightly run", [Scope.RESULTS_READ], days=90)
    assert sent.startswith("emma_")
    assert len(sent) == 48
    assert token.digest == digest_of(sent)
    assert sent.startswith(token.begins_with)
    assert len(token.begins_with) == 11
    assert timedelta(days=89, hours=23) < token.expires_at - timezone.now() < timedelta(days=90)


def test_it_says_in_whose_name_it_acts(tester: User) -> None:
    said = Program(tester, Scope.RESULTS_READ).get(WHOSE).json()
    assert said["owner"] == {"id": tester.pk, "name": "tess@example.test", "roles": ["tester"], "is_trained": False}
    assert said["scopes"] == ["results:read"]


def test_the_audit_trail_tells_of_its_beginning_and_its_end(tester: User, administrator: User) -> None:
    token, _ = make_token(tester, "Nightly run", [Scope.RESULTS_READ, Scope.SCRIPTS_READ], days=90)
    assert revoke_token(token, administrator)
    assert not revoke_token(token, administrator), "once"
    made, revoked = AuditEntry.objects.filter(target="Nightly run").order_by("pk")
    assert (made.action, made.actor) == ("made an API token", tester)
    assert made.details["scopes"] == ["results:read", "scripts:read"]
    assert (revoked.action, revoked.actor) == ("revoked an API token", administrator)
    assert revoked.about == tester.pk


def test_the_trail_is_told_once_that_a_token_expired(tester: User) -> None:
    make_token(tester, "Old", [Scope.RESULTS_READ], days=1)
    gone, _ = make_token(tester, "Revoked before", [Scope.RESULTS_READ], days=1)
    make_token(tester, "Still good", [Scope.RESULTS_READ], days=7)
    revoke_token(gone, tester)
    assert tell_expired(timezone.now() + timedelta(days=2)) == 1
    assert tell_expired(timezone.now() + timedelta(days=2)) == 0
    entry = AuditEntry.objects.get(action="saw an API token expire")
    assert (entry.target, entry.actor, entry.about) == ("Old", None, tester.pk)


def test_the_hourly_work_tells_of_it(tester: User) -> None:
    token, _ = make_token(tester, "Old", [Scope.RESULTS_READ], days=1)
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now())
    clear_away()
    assert AuditEntry.objects.filter(action="saw an API token expire").count() == 1


# --- what opens, and what does not ------------------------------------------------------------------

UNKNOWN = "emma_" + "a" * 43


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {UNKNOWN}",
        f"Token {UNKNOWN}",
        "Basic dGVzczpzZWNyZXQ=",
        UNKNOWN,
        "Bearer " + "x" * 5000,
        "Bearer \u00e9\u00e9",
        "Bearer emma_' OR 1=1 --" + "a" * 24,
    ],
)
def test_nothing_else_opens(client: Client, said: str) -> None:
    answer = client.get(WHOSE, headers={"Authorization": said} if said else {})
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith('Bearer realm="Emma Eval"')
    assert answer["Content-Type"] == "application/problem+json"


def test_the_scheme_may_be_written_in_any_way(tester: User, client: Client) -> None:
    sent = Program(tester).sent
    assert client.get(WHOSE, headers={"Authorization": f"bearer  {sent}"}).status_code == 200


def test_a_cookie_opens_nothing_and_takes_nothing_away(tester_client: Client, eval_member: User) -> None:
    assert tester_client.get(WHOSE).status_code == 401
    sent = Program(eval_member).sent
    answer = tester_client.get(WHOSE, headers={"Authorization": f"Bearer {sent}"})
    assert answer.json()["owner"]["id"] == eval_member.pk


def the_role(user: User, token: ApiToken) -> None:
    change_access.change_roles(user, set(), None)


def the_account(user: User, token: ApiToken) -> None:
    change_access.deactivate(user, None)


def the_token(user: User, token: ApiToken) -> None:
    revoke_token(token, user)


def its_time(user: User, token: ApiToken) -> None:
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now())


@pytest.mark.parametrize("take_away", [the_role, the_account, the_token, its_time], ids=lambda act: act.__name__)
def test_what_is_taken_away_is_gone_on_the_next_request(
    tester: User, take_away: Callable[[User, ApiToken], None]
) -> None:
    program = Program(tester)
    assert program.get(RESULTS).status_code == 200
    take_away(tester, program.token)
    for path in (RESULTS, WHOSE):
        answer = program.get(path)
        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer["WWW-Authenticate"]


def test_a_role_that_is_taken_away_closes_what_was_for_it_alone(eval_member: User) -> None:
    program = Program(eval_member)
    assert program.send("/api/v1/builds/2026.43/", {}).status_code == 201
    change_access.change_roles(eval_member, {Role.TESTER}, None)
    answer = program.send("/api/v1/builds/2026.44/", {})
    assert answer.status_code == 403
    assert answer.json()["scope"] == "builds:write"
    assert program.get(RESULTS).status_code == 200


def test_a_training_that_ends_closes_safety_at_once(trained_tester: User) -> None:
    make.script("quiet-hint", area="safety")
    program = Program(trained_tester)
    assert program.get("/api/v1/scripts/quiet-hint/").status_code == 200
    Training.objects.update(ends_on=timezone.localdate() - timedelta(days=1))
    assert program.get("/api/v1/scripts/quiet-hint/").status_code == 404
    assert program.get("/api/v1/scripts/").json()["items"] == []


def test_nobody_is_offered_what_their_roles_may_not_do(tester: User, eval_member: User, administrator: User) -> None:
    assert Scope.BUILDS_WRITE not in scopes_for(tester.roles)
    assert Scope.RESULTS_WRITE not in scopes_for(eval_member.roles)
    written = [scope for scope in scopes_for(administrator.roles) if scope.endswith("write")]
    assert written == [Scope.COMMENTS_WRITE], "an administrator's program speaks as every member's, and does no more"
    assert not [scope for scope, roles in ROLES_OF.items() if roles == {Role.ADMINISTRATOR}]


# --- what it leaves behind ----------------------------------------------------------------------------


def test_its_use_is_noted_at_most_once_a_minute(tester: User) -> None:
    program = Program(tester)
    program.get(WHOSE)
    first = ApiToken.objects.get().used_at
    assert first is not None
    program.get(WHOSE)
    assert ApiToken.objects.get().used_at == first
    ApiToken.objects.update(used_at=first - timedelta(seconds=61))
    program.get(WHOSE)
    assert ApiToken.objects.get().used_at >= first


def test_a_token_stands_in_no_log_no_table_and_no_page(
    tester: User, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    client = make.client_of(tester)
    page = client.post("/programs/", {"name": "Nightly run", "scopes": ["results:read"], "days": "90"})
    sent = page.context["sent"]
    program = Client(headers={"Authorization": f"Bearer {sent}"}, raise_request_exception=False)
    program.get(WHOSE)
    program.get("/api/v1/nothing/")
    program.put("/api/v1/results/1/", "{", content_type="application/json")
    monkeypatch.setattr(User, "has_role", _broken)
    assert program.get(RESULTS).status_code == 500
    monkeypatch.undo()
    assert sent in page.text
    assert sent not in client.get("/programs/").text
    assert sent not in caplog.text
    assert sent not in _everything_kept()


def _broken(*args: Any) -> bool:
    raise RuntimeError("on purpose")


def _everything_kept() -> str:
    """Every row of every table, as text."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        rows = []
        for table in tables:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            rows += cursor.fetchall()
    return str(rows)
