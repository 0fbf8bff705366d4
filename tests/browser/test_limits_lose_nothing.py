"""A page that saved too often in a minute is refused for a while. It waits as long as it is told, and loses nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from playwright.sync_api import Page, Response, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts import by_the_minute
from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.models import Call, Draft, Result, Review
from scripts_catalog.models import Build, Script
from tests import make
from tests.browser.beside_a_call import begin, go_to, standing
from tests.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MINUTE_S = 5


@pytest.fixture(autouse=True)
def _short_minutes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A real minute is too long for a test; all else is as it is."""
    monkeypatch.setattr(by_the_minute, "MINUTE_MS", MINUTE_S * 1000)
    cache.clear()
    yield
    cache.clear()


def refusals(page: Page) -> list[Response]:
    seen: list[Response] = []
    page.on("response", lambda answer: seen.append(answer) if answer.status == 429 else None)
    return seen


def test_a_draft_that_is_typed_on_is_saved_when_the_site_wants_it_again(
    open_page: OpenPage, tess: User, script: Script, build: Build, settings: Any
) -> None:
    settings.AUTOSAVES_A_MINUTE = 1
    page = open_page(tess)
    page.goto("/results/new/?script=bad-news-day")
    refused = refusals(page)
    page.locator("#id_comment").press_sequentially("She ")
    expect(page.locator("[data-state]")).to_contain_text("Saved ", timeout=10_000)
    page.locator("#id_comment").press_sequentially("laughed")
    expect(page.locator("[data-state]")).to_contain_text("saved very often in this minute, going on soon — kept in")
    page.locator("#id_comment").press_sequentially(" at me", delay=200)
    expect(page.locator("[data-state]")).to_contain_text("Saved ", timeout=15_000)
    assert Draft.objects.get().fields["comment"] == "She laughed at me"
    assert len(refused) == 1, "it waits as long as it was told, however much is typed meanwhile"
    assert 1 <= int(refused[0].headers["retry-after"]) <= MINUTE_S


def test_a_browser_that_is_closed_meanwhile_brings_it_back(
    open_page: OpenPage, tess: User, script: Script, build: Build, settings: Any
) -> None:
    settings.AUTOSAVES_A_MINUTE = 1
    page = open_page(tess)
    page.goto("/results/new/?script=bad-news-day")
    page.locator("#id_comment").press_sequentially("She ")
    expect(page.locator("[data-state]")).to_contain_text("Saved ", timeout=10_000)
    page.locator("#id_comment").press_sequentially("laughed")
    expect(page.locator("[data-state]")).to_contain_text("saved very often")
    page.reload()
    expect(page.locator("#id_comment")).to_have_value("She laughed")
    expect(page.locator("[data-state]")).to_contain_text("Saved ", timeout=15_000)
    assert Draft.objects.get().fields["comment"] == "She laughed"


def test_a_review_goes_on_too(
    open_page: OpenPage, tess: User, script: Script, build: Build, live_server: LiveServer, settings: Any
) -> None:
    settings.AUTOSAVES_A_MINUTE = 1
    made: Result = make.result(tess, script, build, problems=("too_long",), queued_for=1)
    page = open_page(make.user("rae@example.test", Role.EVAL_TEAM))
    page.goto("/review/")
    page.get_by_role("button", name="Next result").press("Enter")
    expect(page.locator("[data-compared]")).to_have_text("The same as the tester’s.")
    refused = refusals(page)
    page.locator("#id_reason").press_sequentially("It is ")
    expect(page.locator("[data-state]")).to_contain_text("Saved, yours until", timeout=10_000)
    page.locator("#id_reason").press_sequentially("the voice")
    expect(page.locator("[data-state]")).to_contain_text("Not saved: saved very often in this minute, trying again")
    expect(page.locator("[data-state]")).to_contain_text("Saved, yours until", timeout=15_000)
    assert Review.objects.get(result=made).draft["fields"]["reason"] == "It is the voice"
    assert len(refused) == 1


def test_moments_of_a_hurried_hand_all_arrive_in_their_order(
    open_page: OpenPage, tess: User, call: Call, settings: Any
) -> None:
    settings.TELLINGS_A_MINUTE = 6
    page = open_page(tess)
    refused = refusals(page)
    go_to(page, call)
    begin(page)
    for _ in range(12):
        page.keyboard.press("m")
        page.wait_for_timeout(120)
    expect(page.locator("[data-moments] li")).to_have_count(12)
    standing(page, "All kept")
    times = [moment.at_ms for moment in call.moments.order_by("number")]
    assert len(times) == 12
    assert times == sorted(times)
    assert refused
