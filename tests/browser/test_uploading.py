"""A recording is uploaded by the page's own script: to a real bucket, through faults and a closed page; to a folder."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from results.models import Call, Part, Recording, RecordingState
from results.recordings.store import recordings_store
from results.recordings.uploads import begin_upload as beginning
from scripts_catalog.models import Build, Script
from tests import make
from tests.browser.failing_store import FailingStore, failing_store
from tests.browser.test_every_page import faults_of
from tests.conftest import OpenPage, sign_in
from tests.s3 import S3Server
from tests.stores import use_bucket, use_folder

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PART = 5 * 1024**2
SIZE = 30_000_000
PARTS = 6


@pytest.fixture
def call(tess: User, script: Script, build: Build) -> Call:
    return make.call(tess, script)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "the call.mp4"
    path.write_bytes(os.urandom(SIZE))
    return path


@pytest.fixture
def store(s3: S3Server, settings: Settings, live_server: LiveServer) -> Iterator[FailingStore]:
    """The bucket, behind a proxy that answers 503, breaks off or is late when it is told to."""
    with failing_store(s3.endpoint) as between:
        bucket = s3.shared_bucket
        rule = {"AllowedOrigins": [live_server.url], "AllowedMethods": ["PUT", "GET"], "AllowedHeaders": ["*"]}
        s3.client().put_bucket_cors(
            Bucket=bucket, CORSConfiguration={"CORSRules": [{**rule, "ExposeHeaders": ["ETag"]}]}
        )
        use_bucket(settings, replace(s3, endpoint=between.url), bucket)
        directives = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
        connect = {"connect-src": [*directives["connect-src"], between.url]}
        settings.CONTENT_SECURITY_POLICY = {"DIRECTIVES": {**directives, **connect}}
        yield between


def open_form(page: Page, call: Call) -> None:
    page.goto(f"/recordings/new/?call={call.uuid}")
    page.evaluate(
        """() => { window.spoken = []; const place = document.querySelector("[data-spoken]");
          new MutationObserver(() => window.spoken.push(place.textContent)).observe(place, { childList: true }); }"""
    )


def choose(page: Page, file: Path, size: str = "28.6 MB") -> None:
    page.set_input_files("#file", file)
    expect(page.locator("[data-chosen]")).to_contain_text(f"the call.mp4, {size}")
    page.get_by_label("Me on the left, Emma on the right").check()
    page.get_by_label("agreed to being recorded").check()
    page.get_by_role("button", name="Upload", exact=True).click()


def drop(page: Page, *names: str) -> None:
    page.evaluate(
        """(names) => { const dataTransfer = new DataTransfer();
          for (const name of names) dataTransfer.items.add(new File(["sound"], name, { type: "video/mp4" }));
          const event = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
          document.querySelector("[data-drop]").dispatchEvent(event); }""",
        list(names),
    )


def wait_for(page: Page, percent: int) -> None:
    """Until so much of the file is gone, as the page shows it."""
    until = time.monotonic() + 30
    while page.locator("[data-bar]").evaluate("bar => bar.value") < 10 * percent:
        assert time.monotonic() < until, page.locator("[data-progress]").inner_text()
        page.wait_for_timeout(50)


def spoken(page: Page) -> str:
    return " | ".join(page.evaluate("window.spoken"))


def there(recording: Recording, tmp_path: Path) -> bytes:
    recordings_store().fetch(f"{recording.pk}/sent", tmp_path / "there")
    return (tmp_path / "there").read_bytes()


def test_through_faults_and_a_closed_page_all_of_it_comes_to_the_bucket_and_nothing_twice(
    open_page: OpenPage,
    tess: User,
    call: Call,
    store: FailingStore,
    file: Path,
    tmp_path: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(beginning, "PART_BYTES", PART)
    settings.LINKS_HOLD_S = 1
    # The first link is over before its part comes, which the bucket itself refuses; then one 503, one broken off.
    store.faults = ["late", "503", "reset"]
    store.before_a_late_one = lambda: setattr(settings, "LINKS_HOLD_S", 900)
    page = open_page(tess)
    open_form(page, call)
    assert faults_of(page) == []
    choose(page, file)
    while len(set(store.passed)) < 2:
        page.wait_for_timeout(20)
    store.is_down = True
    expect(page.locator("[data-state]")).to_contain_text("Nothing is lost: it is tried again in", timeout=20_000)
    expect(page.locator("[data-state]")).to_contain_text("it answers 503")
    assert faults_of(page) == []
    page.close()

    before = len(store.passed)
    assert 0 < before < PARTS
    told_before = set(Part.objects.exclude(etag="").values_list("number", flat=True))
    store.is_down = False
    again = open_page(tess)
    open_form(again, call)
    expect(again.get_by_text("Choose the same file below to go on.")).to_be_visible()
    choose(again, file)
    again.wait_for_url("**/recordings/*-*/", timeout=30_000)
    assert told_before.isdisjoint(store.passed[before:])
    assert set(store.passed) == set(range(1, PARTS + 1))
    recording = Recording.objects.get()
    assert recording.state != RecordingState.RECEIVING
    assert there(recording, tmp_path) == file.read_bytes()


def test_to_a_folder_with_a_pause_and_a_new_sign_in_and_its_progress_is_spoken(
    open_page: OpenPage,
    tess: User,
    call: Call,
    settings: Settings,
    file: Path,
    tmp_path: Path,
    live_server: LiveServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_folder(settings, tmp_path / "recordings")
    monkeypatch.setattr(beginning, "PART_BYTES", 1024**2)
    page = open_page(tess, width=360)
    slow = page.context.new_cdp_session(page)
    slow.send("Network.enable")
    line = {"offline": False, "latency": 5, "downloadThroughput": -1, "uploadThroughput": 2_000_000}
    slow.send("Network.emulateNetworkConditions", line)
    open_form(page, call)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Choose the file of the recording.")
    assert faults_of(page) == []
    empty = tmp_path / "empty.mp4"
    empty.touch()
    page.set_input_files("#file", empty)
    expect(page.locator("#file-error")).to_contain_text("0 bytes")
    drop(page, "first.mp4", "second.mp4")
    expect(page.locator("[data-chosen]")).to_contain_text("first.mp4")
    expect(page.locator("[data-others]")).to_contain_text("It is the first of 2 files.")
    assert page.locator("#file").evaluate("field => field.files[0].name") == "first.mp4"
    assert faults_of(page) == []
    file.write_bytes(file.read_bytes()[:12_000_000])
    choose(page, file, "11.4 MB")
    expect(page.locator("[data-others]")).to_be_hidden()
    wait_for(page, 30)
    # However long this machine takes for what follows, it is not all sent before.
    slow.send("Network.emulateNetworkConditions", {**line, "uploadThroughput": 50_000})
    expect(page.locator("[data-figures]")).to_contain_text("a second")
    expect(page.locator("[data-figures]")).to_contain_text("left")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("[data-state]")).to_have_text("Paused. What is sent stays sent.")
    assert "percent sent" in spoken(page)
    stood = page.locator("[data-percent]").inner_text()
    page.wait_for_timeout(600)
    assert abs(int(page.locator("[data-percent]").inner_text().split()[0]) - int(stood.split()[0])) < 15
    assert "Paused" in spoken(page)
    page.context.clear_cookies()
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("[data-state]")).to_contain_text("You are signed out.")
    sign_in(page.context, tess, live_server.url)
    page.context.new_page().goto("/todo/")  # with which comes another token
    slow.send("Network.emulateNetworkConditions", {**line, "uploadThroughput": -1})
    page.get_by_role("button", name="Go on").click()
    page.wait_for_url("**/recordings/*-*/", timeout=30_000)
    recording = Recording.objects.get()
    assert there(recording, tmp_path) == file.read_bytes()


def test_what_broke_off_for_good_is_begun_anew_and_what_was_begun_is_given_up_by_its_page(
    open_page: OpenPage, tess: User, call: Call, settings: Settings, file: Path, tmp_path: Path
) -> None:
    use_folder(settings, tmp_path / "recordings")
    page = open_page(tess)
    page.route("**/kept/**", lambda route: None)  # nothing ever arrives
    page.route("**/parts/", lambda route: route.fulfill(status=410, json={"error": "over", "message": "It is gone."}))
    open_form(page, call)
    choose(page, file)
    expect(page.get_by_role("alert")).to_contain_text("The upload broke off")
    expect(page.locator("#file-error")).to_have_text("It is gone.")
    expect(page.locator("[data-chosen]")).to_have_text("Drop it here, or choose it.")
    assert faults_of(page) == []
    page.unroute("**/parts/")
    choose(page, file)
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Cancel and remove it").click()
    expect(page.locator("[data-progress]")).to_be_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Cancel and remove it").click()
    expect(page.get_by_text("The upload was removed. Nothing of it is kept.")).to_be_visible()
    assert not Recording.objects.exists()
