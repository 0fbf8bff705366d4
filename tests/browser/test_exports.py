"""Exports in Chromium: the choice stands in the address, the download begins, a file tells how far it is."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from emma_eval.accounts.models import User
from emma_eval.outbox.models import Row
from results.export.columns import COLUMNS
from results.models import Export
from tests import make
from tests.conftest import OpenPage
from tests.results.export.asking import read_csv

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def member(eval_member: User, tester: User) -> User:
    script, build = make.script("bad-news-day"), make.build("2026.10")
    for ratings in (2, 4):
        make.result(tester, script, build, ratings=ratings, comment="=1+1")
    return eval_member


def download(page: Page, selector: str) -> tuple[str, bytes]:
    with page.expect_download() as waiting:
        page.click(selector)
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


@pytest.mark.parametrize("width", [360, 1280])
def test_from_the_list_to_a_file_of_the_columns_that_were_chosen(open_page: OpenPage, member: User, width: int) -> None:
    page = open_page(member, width=width)
    page.goto("/results/?dimension=content&low=4")
    page.get_by_role("link", name="Export", exact=True).click()
    page.wait_for_url("**/results/export/?dimension=content&low=4")
    page.uncheck("#column-id")
    expect(page.locator("#chosen")).to_have_text(f"{len(COLUMNS) - 1} of {len(COLUMNS)} columns")
    expect(page).to_have_url(re.compile(r"\?dimension=content&low=4&without=id$"))
    page.reload()
    expect(page.locator("#column-id")).not_to_be_checked()
    page.get_by_role("link", name="None", exact=True).click()
    page.check("#column-comment")
    expect(page.locator("#chosen")).to_have_text(f"1 of {len(COLUMNS)} columns")
    name, data = download(page, "main button[type=submit]")
    assert name.endswith(".csv")
    assert read_csv(data) == [{"Comment": "'=1+1"}]
    expect(page.locator("h1")).to_have_text("Export results")  # the page stays, to be used again


def test_without_scripts_the_same_is_done_by_links_and_a_form(open_page: OpenPage, member: User) -> None:
    page = open_page(member, java_script_enabled=False)
    page.goto("/results/export/")
    page.get_by_role("link", name="None", exact=True).click()
    page.click("main button[type=submit]")
    expect(page.get_by_role("alert")).to_contain_text("Pick at least one column.")
    page.check("#column-script")
    _, data = download(page, "main button[type=submit]")
    assert read_csv(data) == [{"Script": "bad-news-day"}] * 2


def test_a_file_tells_each_second_how_far_it_is_and_then_gives_itself(
    open_page: OpenPage, member: User, settings: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / "made.xlsx").write_bytes(b"PK the file")
    storage = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": folder}}
    settings.STORAGES = {**settings.STORAGES, "exports": storage}
    now = timezone.now()
    row = Row.objects.create(handler="elsewhere", next_try_at=now + timedelta(hours=1))
    export = Export.objects.create(owner=member, total=60_000, columns=["id"], work=row)
    page = open_page(member)
    page.goto(export.get_absolute_url())
    said = page.locator("#said")
    expect(said).to_have_text("The file is about to be made.")
    Row.objects.update(lease_until=now + timedelta(minutes=5))
    Export.objects.update(rows=20_000)
    expect(said).to_have_text("The file is being made.")
    expect(page.locator("#figures")).to_have_text("20,000 of 60,000 results")
    expect(page.locator("#bar")).to_have_js_property("value", 20_000)
    Export.objects.update(rows=60_000, made_at=now, file="made.xlsx")
    expect(said).to_have_text("The file is ready.")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(1500)
    assert asked == []  # it stops asking
    name, data = download(page, "#file")
    assert (name, data) == (export.file_name, b"PK the file")
