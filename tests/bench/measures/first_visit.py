"""What a first visit brings over the line, with an empty cache, as the browser counts it: the sign-in page, the first
page behind it, and the two one after the other as a newcomer meets them. Files are counted as our server sends them,
compressed; pages as the proxy in front compresses them (docs/deploy), with gzip at its first level, like nginx."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, Page, Response

from ..browser import chromium, fresh_context
from ..figures import Figure, at_most
from ..stage import Stage

PLACE, TITLE = 7, "First visit"
MOST_KB, MOST_REQUESTS = 150, 15


@dataclass
class Traffic:
    """What a page's network did: answers that came over the line, and their bytes, heads included."""

    count: int = 0
    size: float = 0.0
    pages: list[Response] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("response", self._note_page)
        link = page.context.new_cdp_session(page)
        link.on("Network.requestWillBeSent", self._sent)
        link.on("Network.loadingFinished", self._came)
        link.send("Network.enable")

    def _note_page(self, answer: Response) -> None:
        if answer.ok and answer.headers.get("content-type", "").startswith("text/html"):
            self.pages.append(answer)

    def settle(self, page: Page) -> None:
        """Wait until all has come, and count the pages among it as the proxy sends them."""
        page.wait_for_load_state("networkidle")
        while self.pages:
            body = self.pages.pop().body()
            self.size -= len(body) - len(gzip.compress(body, compresslevel=1))

    def _sent(self, event: dict[str, Any]) -> None:
        if "redirectResponse" in event:
            self._came(event["redirectResponse"])

    def _came(self, answer: dict[str, Any]) -> None:
        """What the browser had already has no bytes."""
        if answer["encodedDataLength"]:
            self.count += 1
            self.size += answer["encodedDataLength"]


def measure(stage: Stage) -> Iterator[Figure]:
    password = stage.house.ask("measures.first_visit", "give_a_password")
    with chromium() as browser:
        yield from _figures("sign-in page", _opened(stage, browser, "/account/login/"))
        yield from _figures("first page, signed in", _opened(stage, browser, "/", stage.facts["session"]))
        yield from _figures("first visit: both, one after the other", _signing_in(stage, browser, **password))


def _figures(what: str, traffic: Traffic) -> Iterator[Figure]:
    yield at_most(f"{what}, transferred", traffic.size / 1000, MOST_KB, "KB")
    yield at_most(f"{what}, requests", traffic.count, MOST_REQUESTS, "requests")


def _opened(stage: Stage, browser: Browser, path: str, session: str = "") -> Traffic:
    context, traffic = fresh_context(browser, stage.ours, session), Traffic()
    page = context.new_page()
    traffic.watch(page)
    page.goto(path)
    traffic.settle(page)
    context.close()
    return traffic


def _signing_in(stage: Stage, browser: Browser, email: str, password: str) -> Traffic:
    context, traffic = fresh_context(browser, stage.ours), Traffic()
    page = context.new_page()
    traffic.watch(page)
    page.goto("/")
    traffic.settle(page)
    page.fill("[name=login]", email)
    page.fill("[name=password]", password)
    page.click("main button[type=submit]")
    page.wait_for_selector(".menu-name")
    traffic.settle(page)
    context.close()
    return traffic


# --- asked of our Django -----------------------------------------------------------------------


def give_a_password() -> dict[str, str]:
    """A tester who can sign in as people do; others have sessions made for them."""
    from emma_eval.accounts.models import Attempt, User

    Attempt.objects.all().delete()
    tester = User.objects.get(email="tester-002@example.test")
    password = "a-password-of-the-benchmark"
    tester.set_password(password)
    tester.save()
    return {"email": tester.email, "password": password}
