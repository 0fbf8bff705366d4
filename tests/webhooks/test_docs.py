"""What docs/webhooks.md tells receivers holds: its code verifies what is sent, and it names every kind of event."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from emma_eval.webhooks.announce import announce
from emma_eval.webhooks.change_endpoint import rotate_secret
from emma_eval.webhooks.kinds import TEST, kinds_to_choose
from emma_eval.webhooks.owners import OWNERS
from tests.receivers import Receiver

from .hooks import endpoint, work

TEXT = (settings.BASE_DIR / "docs" / "webhooks.md").read_text(encoding="utf-8")


@pytest.fixture
def is_from_emma() -> Callable[..., bool]:
    [code] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    verify: Callable[..., bool] = names["is_from_emma"]
    return verify


@pytest.mark.django_db
def test_the_code_for_receivers_believes_us_and_nobody_else(
    is_from_emma: Callable[..., bool], manager: User, receiver: Receiver, kind: str
) -> None:
    to = endpoint(manager, receiver.url)
    old = to.secret
    rotate_secret(to, manager)
    announce(kind, "7")
    work()
    [heard] = receiver.heard
    assert is_from_emma(to.secret, heard.headers, heard.body)
    assert is_from_emma(old, heard.headers, heard.body)
    assert not is_from_emma("whsec_" + "A" * 43 + "=", heard.headers, heard.body)
    assert not is_from_emma(to.secret, heard.headers, heard.body + b" ")
    assert not is_from_emma(to.secret, {**heard.headers, "webhook-timestamp": "1000000000"}, heard.body)


def test_every_kind_of_event_is_told_of() -> None:
    named = set(re.findall(r"^\| `([\w.]+)` \|", TEXT, re.MULTILINE))
    assert {kind.name for kind in kinds_to_choose() if not kind.name.startswith("tests.")} | {TEST} == named


def test_it_says_who_may_have_an_endpoint() -> None:
    told = TEXT[: TEXT.index("```")].lower()
    words = {Role.MANAGER: "managers", Role.EVAL_TEAM: "the eval team", Role.EVAL_LEAD: "eval leads"}
    said = {role for role, word in {**words, Role.ADMINISTRATOR: "administrators"}.items() if word in told}
    assert said == set(OWNERS)


def test_its_neighbour_asks_for_no_program_that_is_not_everywhere() -> None:
    told = (settings.BASE_DIR / "docs" / "api.md").read_text(encoding="utf-8")
    assert "uuidgen" not in told
    assert "python3 -c 'import uuid; print(uuid.uuid4())'" in told
