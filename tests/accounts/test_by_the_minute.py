"""Pages that save by themselves are limited by person, never by address, and are told when to come back."""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from emma_eval.accounts.models import RequestCount, User
from emma_eval.accounts.roles import Role
from results.models import Draft
from results.review.hold_result import begin_review
from scripts_catalog.models import Script
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def script(db: None) -> Script:
    return make.script("plain-talk")


def save(client: Client, key: uuid.UUID, words: str, version: int = 0) -> HttpResponse:
    body = {"version": version, "script": "plain-talk", "fields": {"comment": words}}
    answer: HttpResponse = client.put(f"/drafts/{key}/", json.dumps(body), content_type="application/json")
    return answer


def test_the_next_save_of_a_minute_is_told_when_to_come_back(
    tester_client: Client, script: Script, settings: Any
) -> None:
    settings.AUTOSAVES_A_MINUTE = 3
    key = uuid.uuid4()
    assert Counter(save(tester_client, key, str(n), n).status_code for n in range(3)) == {200: 3}
    answer = save(tester_client, key, "a fourth", 3)
    assert (answer.status_code, answer.json()["error"]) == (429, "too_many")
    assert 50 <= int(answer["Retry-After"]) <= 60
    assert Draft.objects.get().fields == {"comment": "2"}, "what was saved stays"
    RequestCount.objects.update(began_ms=time.time_ns() // 1_000_000 - 60_001)
    cache.clear()  # what the process remembers is over by then, too
    assert save(tester_client, key, "a fourth", 3).status_code == 200


def test_an_office_behind_one_address_is_not_locked_out(script: Script, settings: Any) -> None:
    settings.AUTOSAVES_A_MINUTE = 5
    people = [make.client_of(make.user(None, Role.TESTER)) for _ in range(40)]
    keys = [uuid.uuid4() for _ in people]
    saves = [(client, key, number) for number in range(5) for client, key in zip(people, keys, strict=True)]
    assert Counter(save(client, key, str(n), n).status_code for client, key, n in saves) == {200: 200}
    assert save(people[0], keys[0], "one more", 5).status_code == 429


def test_the_site_allows_more_than_the_page_ever_asks(settings: Any) -> None:
    """It saves once in 1.8 seconds while somebody types without a pause; three tabs at once are not refused."""
    assert settings.AUTOSAVES_A_MINUTE > 3 * 60 / 1.8


def test_telling_of_a_call_is_limited_by_itself(tester: User, script: Script, settings: Any) -> None:
    settings.TELLINGS_A_MINUTE, settings.AUTOSAVES_A_MINUTE = 2, 1
    client, call = make.client_of(tester), make.call(tester, script)
    path = f"/calls/{call.uuid}/tell/"
    statuses = [client.post(path, "{}", content_type="application/json").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert save(client, uuid.uuid4(), "of a draft").status_code == 200, "another count"


def test_saves_of_a_review_are_limited_too(eval_member: User, tester: User, script: Script, settings: Any) -> None:
    settings.AUTOSAVES_A_MINUTE = 1
    result = make.result(tester, script, make.build(), problems=("rambling",))
    begin_review(eval_member, result, timezone.now())
    client = make.client_of(eval_member)
    body = json.dumps({"edition": 0, "result_version": 1, "fields": {"reason": "x"}})
    paths = [f"/review/{result.pk}/save/"] * 2
    assert [client.put(path, body, content_type="application/json").status_code for path in paths] == [200, 429]
