"""/healthz and /readyz."""

from __future__ import annotations

import pytest
from django.test import Client

from emma_eval import health


def test_healthz_needs_nothing(client: Client) -> None:
    assert client.get("/healthz").status_code == 200


@pytest.mark.django_db
def test_readyz_says_which_part_is_down(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> health.Finding:
        raise OSError

    monkeypatch.setattr(health, "PROBES", (("database", broken), ("outbox", health._outbox)))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"ready": False, "parts": {"database": "down", "outbox": "up"}}
