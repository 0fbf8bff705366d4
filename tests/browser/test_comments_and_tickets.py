"""The thread under a result and a ticket beside it, in a real browser: with scripts in place, without them by forms."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from results.comments.comment_on import comment_on
from results.counts.rebuild_counts import rebuild_counts
from results.models import Comment, Follower, Result, Ticket
from tests import make
from tests.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def tess(live_server: LiveServer) -> User:
    return make.user("tess@example.test", Role.TESTER, name="Tess")


@pytest.fixture
def eva(live_server: LiveServer) -> User:
    return make.user("eva@example.test", Role.EVAL_TEAM, name="Eva")


@pytest.fixture
def result(tess: User) -> Result:
    script, build = make.script("bad-news-day", title="Bad news day"), make.build("2026.42")
    return make.result(tess, script, build, problems=("weird_gaze", "cut_in"))


def say(page: Page, words: str) -> None:
    page.get_by_label("Your comment").fill(words)
    page.get_by_role("button", name="Add the comment").click()


def test_a_comment_comes_in_place_and_is_withdrawn_in_place(open_page: OpenPage, eva: User, result: Result) -> None:
    page = open_page(eva, width=360)
    page.goto(result.get_absolute_url())
    page.evaluate("window.isStillThisPage = true")
    thread = page.locator("#comments")
    say(page, "First line.\nSee https://example.org/a and <b>this</b>.")
    expect(thread.get_by_role("status")).to_have_text("Your comment is added.")
    expect(thread.locator(".said")).to_have_text("First line.\nSee https://example.org/a and <b>this</b>.")
    link = thread.get_by_role("link", name="https://example.org/a")
    expect(link).to_have_attribute("rel", re.compile("noopener"))
    expect(page.get_by_label("Your comment")).to_have_value("")

    say(page, " ")
    expect(thread.get_by_text("Write something first.")).to_be_visible()
    say(page, "A second one.")
    expect(thread.locator(".said-list > li")).to_have_count(2)
    thread.get_by_text("Withdraw").first.click()
    thread.get_by_role("button", name="Withdraw for good").first.click()
    expect(thread.get_by_text("Withdrawn.", exact=True)).to_be_visible()
    expect(thread.locator(".said-list > li")).to_have_count(2)
    assert page.evaluate("window.isStillThisPage") is True
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert list(Comment.objects.values_list("text", flat=True)) == ["", "A second one."]


def test_without_scripts_a_thread_works_by_plain_forms(
    open_page: OpenPage, eva: User, tess: User, result: Result
) -> None:
    comment_on(tess, result, "Anybody?")
    page = open_page(eva, java_script_enabled=False)
    page.goto(result.get_absolute_url())
    say(page, "Yes.")
    expect(page.get_by_text("Your comment is added.")).to_be_visible()
    expect(page.locator(".said-list > li")).to_have_count(2)
    assert page.url.endswith("#comments")


def test_new_comments_stand_on_the_to_do_page_until_they_were_in_view(
    open_page: OpenPage, eva: User, tess: User, result: Result
) -> None:
    comment_on(eva, result, "Which button was it?")
    page = open_page(tess)
    page.goto("/todo/")
    expect(page.get_by_role("heading", name="New comments")).to_be_visible()
    with page.expect_response(re.compile("/comments/read/")):
        page.get_by_role("region", name="New comments").get_by_role("link", name="Bad news day").click()
        page.locator("#comments-read").scroll_into_view_if_needed()
    assert Follower.objects.get(person=tess).read_up_to == Comment.objects.get().pk
    page.goto("/todo/")
    expect(page.get_by_role("heading", name="To do")).to_be_visible()
    expect(page.get_by_role("heading", name="New comments")).to_have_count(0)


def test_a_ticket_is_linked_from_a_result_and_says_that_the_problem_is_still_there(
    open_page: OpenPage, eva: User, tess: User, result: Result
) -> None:
    later = make.build("2026.43")
    for number in range(12):
        make.result(tess, result.script, later, problems=("weird_gaze",) if number < 3 else ())
    rebuild_counts()
    page = open_page(eva)
    page.goto(result.get_absolute_url())
    page.get_by_role("link", name="Link a ticket").click()
    page.get_by_label("Address of the ticket").fill("javascript:alert(1)")
    page.get_by_label("Title").fill("Eyes wander")
    page.get_by_role("button", name="Link the ticket").click()
    expect(page.get_by_role("alert")).to_contain_text("It begins with https://")
    page.get_by_label("Address of the ticket").fill("https://tracker.example.org/EMMA-7")
    page.get_by_role("button", name="Link the ticket").click()
    beside = page.get_by_role("region", name="Tickets")
    expect(beside).to_contain_text("still there on 2026.43 (3 of 12 calls)")
    expect(beside.get_by_role("link", name="Open on tracker.example.org")).to_have_attribute(
        "rel", "noopener noreferrer nofollow"
    )
    beside.get_by_role("link", name="Eyes wander").click()
    page.get_by_role("link", name="3", exact=True).click()
    expect(page.locator(".results tbody tr")).to_have_count(3)
    page.go_back()
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("button", name="Open it again")).to_be_visible()
    assert Ticket.objects.get().closed_at is not None
