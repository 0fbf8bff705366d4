from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from emma_eval.accounts.models import User
from emma_eval.adapters.addresses import Allowed
from emma_eval.webhooks import deliver, turns
from emma_eval.webhooks.kinds import _kinds, tells
from tests.receivers import Receiver, answer, serving


@pytest.fixture(autouse=True)
def _loopback_is_named(settings: Settings) -> None:
    settings.OUTGOING_ALLOW = Allowed.read(["127.0.0.1"])


@pytest.fixture(autouse=True)
def _worker_that_has_just_begun() -> None:
    turns.forget_all()


@pytest.fixture
def _short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliver, "LIMITS", deliver.Limits(connect_s=0.3, read_s=0.3, whole_s=0.6, most_bytes=10_000))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A program that takes everything."""
    with serving(answer(204)) as there:
        yield there


@pytest.fixture
def kind() -> Iterator[str]:
    """A kind of event that tells its subject, to those whose name does not say that they may not know."""

    @tells("tests.event", "Something happened")
    def tell(owner: User, subject: str) -> dict[str, object] | None:
        return None if owner.name == "Not told" else {"id": subject}

    yield "tests.event"
    del _kinds["tests.event"]
