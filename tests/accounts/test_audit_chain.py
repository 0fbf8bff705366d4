"""The chain of the audit trail: whatever is done to an entry behind the program's back is found."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import Error, connection, transaction
from django.utils import timezone

from emma_eval.accounts import append_only, audit
from emma_eval.accounts.audit_chain.digest import FIRST, canonical, digest_after
from emma_eval.accounts.audit_chain.link_entries import link_entries
from emma_eval.accounts.audit_chain.verify_chain import Fault, Found, head_of_chain, verify_chain
from emma_eval.accounts.keys import least_key_at
from emma_eval.accounts.models import AppendOnlyError, AuditEntry, AuditLink, User
from emma_eval.accounts.tasks import link_audit, verify_audit

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


@pytest.fixture
def keys(tester: User) -> list[int]:
    """Six entries, linked. Between the keys of any two there is room for another, as keys of a later time leave it."""
    for number in range(6):
        audit.record(tester, "filed a result", str(number), rows=number, words=["ä", "b"])
        time.sleep(0.003)
    link_entries(timezone.now())
    return list(AuditEntry.objects.order_by("pk").values_list("pk", flat=True))


@contextmanager
def lifted() -> Iterator[Any]:
    """What somebody with the rights of the database's owner can do."""
    vendor = connection.vendor
    with transaction.atomic(), connection.cursor() as cursor:
        if vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for statement in (*append_only.UNSEAL_LINKS[vendor], *append_only.UNSEAL[vendor]):
            cursor.execute(statement)
        yield cursor
        for statement in (*append_only.SEAL[vendor], *append_only.SEAL_LINKS[vendor]):
            cursor.execute(statement)


def verdict(**more: str) -> tuple[Fault | None, str, int]:
    found = verify_chain(**more)
    return found.fault, found.first, found.entries


def at_place(place: int, entry: int) -> str:
    return f"Entry {entry} in place {place}"


def test_an_untouched_trail_is_whole(keys: list[int]) -> None:
    assert verify_chain() == Found(6, head_of_chain(), 0)
    assert verify_chain(expected=head_of_chain()).fault is None


def test_each_link_tells_of_all_before_it(keys: list[int]) -> None:
    digest = FIRST
    for entry, link in zip(AuditEntry.objects.order_by("pk"), AuditLink.objects.order_by("place"), strict=True):
        digest = digest_after(digest, canonical(entry))
        assert (link.entry, link.digest) == (entry.pk, digest)


@pytest.mark.parametrize(
    "change",
    [
        "action = 'filed another result'",
        "target = '9'",
        "details = '{\"rows\": 7}'",
        "actor_id = NULL",
        "is_safety = NOT is_safety",
        "script = 'other'",
        "at = '2026-01-01 00:00:00+00:00'",
    ],
)
def test_a_changed_entry_is_found_whatever_was_changed(keys: list[int], change: str) -> None:
    with lifted() as cursor:
        cursor.execute(f"UPDATE accounts_auditentry SET {change} WHERE id = %s", [keys[2]])
    assert verdict() == (Fault.CHANGED, at_place(3, keys[2]), 2)


def test_a_changed_entry_with_a_link_to_match_is_found_by_the_next(keys: list[int]) -> None:
    with lifted() as cursor:
        cursor.execute("UPDATE accounts_auditentry SET target = 'x' WHERE id = %s", [keys[2]])
        before = AuditLink.objects.get(place=2).digest
        forged = digest_after(before, canonical(AuditEntry.objects.get(pk=keys[2])))
        cursor.execute("UPDATE accounts_auditlink SET digest = %s WHERE place = 3", [forged])
    assert verdict() == (Fault.CHANGED, at_place(4, keys[3]), 3)


def test_a_removed_entry_is_found(keys: list[int]) -> None:
    with lifted() as cursor:
        cursor.execute("DELETE FROM accounts_auditentry WHERE id = %s", [keys[3]])
    assert verdict() == (Fault.REMOVED, at_place(4, keys[3]), 3)


def test_a_removed_link_is_found_though_its_entry_is_linked_again(keys: list[int]) -> None:
    with lifted() as cursor:
        cursor.execute("DELETE FROM accounts_auditlink WHERE entry = %s", [keys[3]])
    link_entries(timezone.now())
    assert verdict() == (Fault.UNLINKED, "The entry in place 4", 3)


def test_a_gap_that_was_closed_is_found(keys: list[int]) -> None:
    with lifted() as cursor:
        cursor.execute("DELETE FROM accounts_auditentry WHERE id = %s", [keys[3]])
        cursor.execute("DELETE FROM accounts_auditlink WHERE entry = %s", [keys[3]])
        for place in (5, 6):
            cursor.execute("UPDATE accounts_auditlink SET place = %s WHERE place = %s", [place - 1, place])
    assert verdict() == (Fault.CHANGED, at_place(4, keys[4]), 3)


@pytest.mark.parametrize("is_worked_out", [True, False])
def test_an_inserted_entry_is_found_also_with_a_link_that_fits(keys: list[int], is_worked_out: bool) -> None:
    forged = AuditEntry(pk=keys[2] + 1, action="filed a result", target="never")
    digest = "f" * 64
    forged.save(force_insert=True)
    if is_worked_out:
        before = AuditLink.objects.get(place=3).digest
        digest = digest_after(before, canonical(AuditEntry.objects.get(pk=forged.pk)))
    with lifted() as cursor:
        for place in (6, 5, 4):
            cursor.execute("UPDATE accounts_auditlink SET place = %s WHERE place = %s", [place + 1, place])
    AuditLink.objects.create(entry=forged.pk, place=4, digest=digest)
    assert verdict()[:2] == (Fault.INSERTED, at_place(4, forged.pk))


@pytest.mark.parametrize("column", ["key", "time"])
def test_an_entry_of_today_that_says_it_is_old_is_found(keys: list[int], column: str) -> None:
    long_ago = timezone.now() - timedelta(days=30)
    backdated = AuditEntry(action="filed a result", at=long_ago)
    if column == "key":
        backdated = AuditEntry(pk=least_key_at(long_ago), action="filed a result")
    backdated.save(force_insert=True)
    link_entries(timezone.now(), is_everything=True)
    assert verdict() == (Fault.INSERTED, at_place(7, backdated.pk), 6)


def test_two_entries_that_changed_places_are_found(keys: list[int]) -> None:
    with lifted() as cursor:
        for entry, place in ((keys[1], 99), (keys[4], 2), (keys[1], 5)):
            cursor.execute("UPDATE accounts_auditlink SET place = %s WHERE entry = %s", [place, entry])
    assert verdict() == (Fault.MOVED, at_place(2, keys[4]), 1)


def test_two_neighbours_that_changed_places_are_found(keys: list[int]) -> None:
    with lifted() as cursor:
        for entry, place in ((keys[2], 99), (keys[3], 3), (keys[2], 4)):
            cursor.execute("UPDATE accounts_auditlink SET place = %s WHERE entry = %s", [place, entry])
    assert verdict() == (Fault.MOVED, at_place(3, keys[3]), 2)


def test_two_links_that_changed_their_entries_are_found(keys: list[int]) -> None:
    with lifted() as cursor:
        for old, new in ((keys[1], 1), (keys[4], keys[1]), (1, keys[4])):
            cursor.execute("UPDATE accounts_auditlink SET entry = %s WHERE entry = %s", [new, old])
    assert verdict() == (Fault.MOVED, at_place(2, keys[4]), 1)


def test_a_removed_end_is_found_against_a_noted_head(keys: list[int]) -> None:
    noted = head_of_chain()
    with lifted() as cursor:
        cursor.execute("DELETE FROM accounts_auditlink WHERE place > 4")
        cursor.execute("DELETE FROM accounts_auditentry WHERE id > %s", [keys[3]])
    assert verify_chain().fault is None
    assert verdict(expected=noted) == (Fault.CUT, f"The noted head {noted}", 4)


def test_a_chain_that_was_made_anew_is_found_against_a_noted_head(keys: list[int]) -> None:
    noted = head_of_chain()
    with lifted() as cursor:
        cursor.execute("UPDATE accounts_auditentry SET target = 'x' WHERE id = %s", [keys[0]])
        cursor.execute("DELETE FROM accounts_auditlink")
    link_entries(timezone.now(), is_everything=True)
    assert verify_chain().fault is None
    assert verify_chain(expected=noted).fault is Fault.CUT


def test_a_head_that_was_noted_earlier_stays_on_a_chain_that_grew(keys: list[int], tester: User) -> None:
    noted = head_of_chain()
    audit.record(tester, "filed a result", "later")
    assert verify_chain().unlinked == 1
    link_audit()
    assert verify_chain(expected=noted) == Found(7, head_of_chain(), 0)


def test_an_entry_that_is_committed_late_is_linked_behind(keys: list[int], tester: User) -> None:
    late = AuditEntry(pk=keys[2] + 1, actor=tester, action="imported a sheet")
    late.save(force_insert=True)
    link_audit()
    assert AuditLink.objects.get(entry=late.pk).place == 7
    assert verify_chain() == Found(7, head_of_chain(), 0)


def test_an_entry_that_was_overlooked_for_days_is_linked_by_the_nightly_look(keys: list[int]) -> None:
    AuditEntry(pk=least_key_at(timezone.now() - timedelta(days=9)), action="imported a sheet").save(force_insert=True)
    link_entries(timezone.now())
    assert verify_chain().unlinked == 1
    link_audit(is_everything=True)
    assert verify_chain().unlinked == 0


def test_a_long_trail_is_linked_in_batches_and_twice_changes_nothing(
    tester: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("emma_eval.accounts.audit_chain.link_entries.IN_ONE_TRANSACTION", 3)
    for number in range(10):
        audit.record(tester, "filed a result", str(number))
    assert link_entries(timezone.now(), patience_s=0) == 0
    assert (link_entries(timezone.now()), link_entries(timezone.now())) == (10, 0)
    assert verify_chain() == Found(10, head_of_chain(), 0)


def test_the_chain_is_append_only_in_the_program_and_in_the_database(keys: list[int]) -> None:
    with pytest.raises(AppendOnlyError):
        AuditLink.objects.update(digest=FIRST)
    with pytest.raises(AppendOnlyError):
        AuditLink.objects.all().delete()
    for statement in ("UPDATE accounts_auditlink SET place = 9", "DELETE FROM accounts_auditlink"):
        with (
            pytest.raises(Error, match="the audit trail is append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)


def test_the_command_says_how_many_and_the_head(keys: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    call_command("verify_audit")
    assert capsys.readouterr().out == f"6 entries, each as it was linked. Head: {head_of_chain()}.\n"


def test_the_command_ends_with_one_and_names_the_entry(keys: list[int]) -> None:
    with lifted() as cursor:
        cursor.execute("UPDATE accounts_auditentry SET target = 'x' WHERE id = %s", [keys[2]])
    with pytest.raises(CommandError, match=f"Entry {keys[2]} in place 3 was changed") as caught:
        call_command("verify_audit")
    assert caught.value.returncode == 1


def test_the_weekly_look_notes_the_head_in_the_log(keys: list[int], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    verify_audit()
    assert f"Head: {head_of_chain()}" in caplog.text
    with lifted() as cursor:
        cursor.execute("DELETE FROM accounts_auditentry WHERE id = %s", [keys[3]])
    verify_audit()
    assert [record.levelname for record in caplog.records][-1] == "ERROR"
