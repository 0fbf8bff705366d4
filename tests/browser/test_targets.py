"""On a phone, what stands in a list to be pressed is at least 24 px high, and what a page is about 44."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page
from pytest_django import Settings

from emma_eval.accounts.roles import Role
from results.models import Round, Ticket, Wanted
from tests import make
from tests.conftest import OpenPage
from tests.stores import use_folder

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LOW = """([selector, least]) => [...document.querySelectorAll(selector)]
    .map((each) => [each.innerText.trim(), each.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0 && box.height < least).map(([words, box]) => `${words}: ${box.height}`)"""
IN_LISTS = "main :is(li, th, h2, h3, h4, .crumb) > a, main a[data-count], main p.small > a:only-child"


@pytest.fixture
def phone(open_page: OpenPage) -> Page:
    owner = make.user("eva@example.test", Role.EVAL_TEAM, Role.TESTER, name="Eva")
    build = make.build("2026.43", is_current=True)
    for number in range(6):
        script = make.script(f"script-{number}")
        make.result(owner, script, build, problems=("too_long",), recording_link="")
    make.script("never-run")
    round_ = Round.objects.create(name="Before the release", build=build, begun_by=owner)
    Wanted.objects.create(round=round_, script=script, runs=5)
    Ticket.objects.create(link="https://t.example/1", title="Too long", tag="too_long", build=build, added_by=owner)
    make.counts()
    return open_page(owner, width=360, has_touch=True, is_mobile=True)


@pytest.mark.parametrize(
    ("path", "least", "selector"),
    [
        ("/dashboard/", 24, IN_LISTS),
        ("/dashboard/coverage/", 24, IN_LISTS),
        ("/tickets/", 24, IN_LISTS),
        ("/review/", 24, IN_LISTS),
        ("/results/", 24, IN_LISTS),
        ("/todo/", 24, IN_LISTS),
        ("/todo/", 44, ".todo-row .button"),
        ("/rounds/", 44, ".round-what a"),
    ],
)
def test_nothing_in_a_list_is_too_low_for_a_finger(phone: Page, path: str, least: int, selector: str) -> None:
    phone.goto(path)
    assert phone.locator(selector).count(), "the page has such links"
    assert phone.evaluate(LOW, [selector, least - 0.5]) == []


def test_a_long_name_with_text_of_twice_the_size_fits_320_pixels(open_page: OpenPage) -> None:
    owner = make.user("maximiliane.of.the.long.name@example.test", Role.TESTER, name="Maximiliane Wolfeschlegelstein")
    page = open_page(owner, width=320, height=640)
    page.goto("/todo/")
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    page.locator(".menu summary").click()
    for selector in (".menu summary", ".menu-body"):
        box = page.locator(selector).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320, selector
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_recordings_fit_a_page_so_narrow_that_text_of_twice_the_size_fits_320_pixels(
    open_page: OpenPage, settings: Settings, tmp_path: Path
) -> None:
    """160 pixels are as many letters wide as 320 are with letters of twice the size."""
    use_folder(settings, tmp_path / "recordings")
    owner = make.user("tess@example.test", Role.TESTER, name="Tess")
    result = make.result(owner, make.script("bad-news-day"), make.build("2026.43", is_current=True))
    own = make.recording(owner, result.call_uuid).get_absolute_url()
    page = open_page(owner, width=160, height=400)
    for path in (own, f"{own}remove/", f"{own}captions/", f"/recordings/new/?call={result.call_uuid}"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 160, path
