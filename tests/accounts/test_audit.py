"""The audit trail: written once, on either database."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import Error, connection, transaction

from emma_eval.accounts import audit
from emma_eval.accounts.adapter import AUDITED
from emma_eval.accounts.models import AppendOnlyError, AuditEntry, User, details_in_words
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


@pytest.fixture
def entry(tester: User) -> AuditEntry:
    audit.record(tester, "invited a person", "new@example.test", roles=["tester"])
    return AuditEntry.objects.get()


def test_it_says_who_did_what_to_which_thing(entry: AuditEntry, tester: User) -> None:
    assert (entry.actor, entry.action, entry.target) == (tester, "invited a person", "new@example.test")
    assert (entry.details, entry.is_safety) == ({"roles": ["tester"]}, False)


def test_the_program_refuses_to_change_an_entry(entry: AuditEntry) -> None:
    entry.action = "something else"
    with pytest.raises(AppendOnlyError):
        entry.save()
    with pytest.raises(AppendOnlyError):
        AuditEntry.objects.update(action="something else")


def test_the_program_refuses_to_remove_an_entry(entry: AuditEntry) -> None:
    with pytest.raises(AppendOnlyError):
        entry.delete()
    with pytest.raises(AppendOnlyError):
        AuditEntry.objects.all().delete()


@pytest.mark.parametrize(
    "statement",
    ["UPDATE accounts_auditentry SET action = 'something else'", "DELETE FROM accounts_auditentry"],
)
def test_the_database_refuses_too(entry: AuditEntry, statement: str) -> None:
    with (
        pytest.raises(Error, match="the audit trail is append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert AuditEntry.objects.get() == entry


def test_a_database_that_can_empty_a_table_at_once_refuses_that(entry: AuditEntry) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no TRUNCATE")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # what was written in this test is checked first
        with pytest.raises(Error, match="the audit trail is append-only"), transaction.atomic():
            cursor.execute("TRUNCATE accounts_auditentry")


def test_entries_about_safety_are_for_the_trained(tester: User, trained_tester: User) -> None:
    audit.record(tester, "versioned", "a quiet hint", is_safety=True)
    assert not AuditEntry.objects.visible_to(tester).exists()
    assert AuditEntry.objects.visible_to(trained_tester).count() == 1


def test_a_person_in_the_trail_cannot_be_removed(entry: AuditEntry, tester: User) -> None:
    with pytest.raises(Exception, match="protected"):
        tester.delete()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("turn", [1, 2])
def test_tests_with_real_transactions_start_with_an_empty_trail(turn: int) -> None:
    assert not AuditEntry.objects.exists()
    audit.record(make.user(), "invited a person")


def test_details_are_said_in_words(tester: User) -> None:
    details = {
        "roles": ["tester", "eval team"],
        "ends_on": None,
        "is_new": True,
        "fields": {"content": [4, 5]},
        "no": [],
        "due_on": {"before": "2026-11-06", "after": ""},
        "runs": {"before": 0, "after": 2},
    }
    audit.record(tester, "tried", **details)
    assert sorted(details_in_words(AuditEntry.objects.get().details)) == [
        ("due on", "none, before 6 Nov 2026"),
        ("ends on", "none"),
        ("fields", "{'content': [4, 5]}"),
        ("is new", "yes"),
        ("no", "none"),
        ("roles", "tester, eval team"),
        ("runs", "2, before 0"),
    ]


def recorded() -> Iterator[tuple[str, ast.expr | None]]:
    """The action of every call that writes into the trail, and the expression of its target."""
    for package in ("emma_eval", "results", "scripts_catalog"):
        for path in Path(settings.BASE_DIR, package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and ast.unparse(node.func) in {"audit.record", "_record"}:
                    given = [part for each in node.args for part in _spread(each)]
                    target = given[2] if len(given) > 2 else None
                    for part in ast.walk(given[1]):
                        if isinstance(part, ast.Constant) and isinstance(part.value, str):
                            yield part.value, target


def _spread(given: ast.expr) -> list[ast.expr]:
    """What is given to a call: `*(by, "filed a result")` gives two things."""
    return given.value.elts if isinstance(given, ast.Starred) and isinstance(given.value, ast.Tuple) else [given]


ACTIONS = sorted({action for action, _ in recorded()} | set(AUDITED.values()))
IRREGULAR = {"made", "set", "brought", "saw", "withdrew"}


def test_every_act_that_is_recorded_is_found() -> None:
    """So that the tests below can't look at nothing at all."""
    expected = {"filed a result", "corrected a result", "imported a sheet", "retired a script", "granted a training"}
    assert expected <= set(ACTIONS)
    assert len(ACTIONS) > 20


@pytest.mark.parametrize("action", ACTIONS)
def test_every_action_is_told_in_one_form_verb_first_in_the_past_then_the_thing(action: str) -> None:
    verb, _, thing = action.partition(" ")
    assert verb.endswith("ed") or verb in IRREGULAR
    assert thing


def test_no_target_repeats_the_kind_of_thing_that_the_action_names() -> None:
    for action, target in recorded():
        texts = [part.value for part in ast.walk(target) if isinstance(part, ast.Constant)] if target else []
        assert not any(isinstance(text, str) and text.strip() for text in texts), f"{action}: {texts}"
