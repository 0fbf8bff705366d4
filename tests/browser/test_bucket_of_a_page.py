"""A page and the bucket, in a real browser: under our policy, by the bucket's own rules, past the site."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django.live_server_helper import LiveServer

from emma_eval.accounts.models import User
from results.recordings.store import recordings_store
from tests.conftest import OpenPage
from tests.s3 import S3Server
from tests.stores import let_pages_reach, use_bucket

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
BODY = "what was said"
SEND = """async ([url, headers, body]) => {
    const answer = await fetch(url, {method: "PUT", headers, body}).catch(() => null);
    return answer && [answer.status, answer.headers.get("ETag")];
}"""
READ = """async url => {
    const answer = await fetch(url, {headers: {Range: "bytes=5-7"}}).catch(() => null);
    return answer && [answer.status, await answer.text(), answer.headers.get("Content-Range")];
}"""


@pytest.fixture
def bucket(s3: S3Server, settings: Any, live_server: LiveServer) -> str:
    """Where recordings of the live site are kept, with the rules that the command gives it."""
    name = s3.new_bucket()
    use_bucket(settings, s3, name, location="recordings")
    let_pages_reach(settings, s3)
    settings.ORIGIN = live_server.url
    call_command("recordings_bucket", verbosity=0)
    return name


def test_a_page_sends_and_reads_by_links_and_a_page_of_others_does_not(
    open_page: OpenPage, tester: User, bucket: str, live_server: LiveServer
) -> None:
    """The same page under another name of this machine is another origin."""
    store = recordings_store()
    digest = hashlib.sha256(BODY.encode()).hexdigest()
    link = store.put_link("a/sent", size=len(BODY), media_type="video/webm", sha256=digest, holds_s=60)
    page = open_page(tester)
    page.goto("/guide/")
    passed_by = []
    page.on("request", lambda request: passed_by.append(request.url))

    said = [link.url, dict(link.headers), BODY]
    status, etag = page.evaluate(SEND, said)
    kept = store.look("a/sent")
    assert (status, kept and kept.size) == (200, len(BODY))
    assert etag.strip('"') == kept.etag  # type: ignore[union-attr]
    assert page.evaluate(SEND, [link.url, dict(link.headers), BODY.replace("w", "W")])[0] == 400

    url = store.get_link("a/sent", media_type="video/webm", holds_s=60)
    assert page.evaluate(READ, url) == [206, "was", f"bytes 5-7/{len(BODY)}"]
    assert not [each for each in passed_by if each.startswith(live_server.url) and "/static/" not in each]

    page.goto(live_server.url.replace("localhost", "127.0.0.1") + "/account/login/")
    assert page.evaluate(SEND, said) is None
    assert page.evaluate(READ, url) is None
