"""Making, changing and removing an endpoint, and rotating its secret: each in the audit trail, without the secret."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest
from django.db import IntegrityError
from django.utils import timezone

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.webhooks.announce import announce
from emma_eval.webhooks.change_endpoint import (
    Particulars,
    change_endpoint,
    drop_old_secret,
    make_endpoint,
    remove_endpoint,
    rotate_secret,
)
from emma_eval.webhooks.models import Delivery, Endpoint

from .hooks import endpoint

pytestmark = [pytest.mark.data_layer, pytest.mark.django_db]
SAID = Particulars("Team dashboard", "https://hooks.example.test/path-with-key", ["result.filed"])


def test_a_new_one_has_a_secret_of_its_own_of_32_random_bytes(manager: User) -> None:
    first, second = make_endpoint(manager, SAID), make_endpoint(manager, SAID)
    assert first.secret.startswith("whsec_")
    assert len(base64.b64decode(first.secret.removeprefix("whsec_"))) == 32
    assert first.secret != second.secret
    assert (first.owner, first.kinds, first.paused_at) == (manager, ["result.filed"], None)


def test_each_act_is_in_the_audit_trail_and_no_secret_or_path_is(manager: User) -> None:
    made = make_endpoint(manager, SAID)
    assert change_endpoint(made, Particulars("Board", SAID.url, ["result.corrected"]), manager)
    rotate_secret(made, manager)
    assert drop_old_secret(made, manager)
    secret = made.secret
    remove_endpoint(made, manager)
    entries = list(AuditEntry.objects.order_by("pk"))
    assert [(entry.action, entry.target) for entry in entries] == [
        ("made a webhook", "Team dashboard"),
        ("changed a webhook", "Board"),
        ("rotated the secret of a webhook", "Board"),
        ("dropped the old secret of a webhook", "Board"),
        ("removed a webhook", "Board"),
    ]
    assert {entry.actor for entry in entries} == {manager}
    assert entries[0].details == {"host": "hooks.example.test", "events": ["result.filed"]}
    assert entries[1].details["events"] == ["result.corrected"]
    assert not any(word in str(entry.details) for entry in entries for word in (secret, "path-with-key"))


def test_saying_the_same_again_changes_nothing(manager: User) -> None:
    made = make_endpoint(manager, SAID)
    assert not change_endpoint(made, SAID, manager)
    assert AuditEntry.objects.count() == 1


def test_the_old_secret_signs_for_a_week_or_until_it_is_dropped(manager: User) -> None:
    made = make_endpoint(manager, SAID)
    first = made.secret
    rotate_secret(made, manager)
    second, now = made.secret, timezone.now()
    assert made.secrets_at(now) == [second, first]
    assert made.secrets_at(now + timedelta(days=6, hours=23)) == [second, first]
    assert made.secrets_at(now + timedelta(days=7, seconds=1)) == [second]
    drop_old_secret(made, manager)
    made.refresh_from_db()
    assert made.secrets_at(now) == [second]
    assert not drop_old_secret(made, manager)


def test_rotated_twice_only_the_last_two_sign(manager: User) -> None:
    made = make_endpoint(manager, SAID)
    first = made.secret
    rotate_secret(made, manager)
    rotate_secret(made, manager)
    assert len(made.secrets_at(timezone.now())) == 2
    assert first not in made.secrets_at(timezone.now())


def test_a_removed_one_takes_its_log_along(manager: User, kind: str) -> None:
    made = endpoint(manager)
    announce(kind, "7")
    remove_endpoint(made, manager)
    assert not Delivery.objects.exists()


def test_the_database_takes_no_other_scheme(manager: User) -> None:
    with pytest.raises(IntegrityError):
        endpoint(manager, "ftp://hooks.example.test/")


def test_of_an_address_the_host_alone_may_be_said() -> None:
    assert Endpoint(url="https://me:word@hooks.example.test:8443/key?k=key").host == "hooks.example.test"
