"""Parts of an upload: links for them, what arrived, and what can't be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from emma_eval.accounts.models import User
from results.models import Call, Part, Recording, Upload
from results.recordings.uploads import begin_upload as beginning
from results.recordings.uploads.keep_parts import arrived_parts
from tests import make
from tests.s3 import S3Server
from tests.stores import use_bucket, use_folder

from ..uploading import Page, announced, await_another_second, post, put, sha256

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]


def test_parts_arrive_in_any_order_by_links_of_their_own(page: Page) -> None:
    for number in (3, 1, 2):
        assert page.send(number) == 200
    assert [part.number for part in arrived_parts(Upload.objects.get())] == [1, 2, 3]
    assert [part.size for part in Part.objects.all()] == [len(part) for part in page.parts]
    assert all(Part.objects.values_list("etag", flat=True))


def test_a_part_that_is_sent_twice_is_one(page: Page) -> None:
    assert page.send(1) == page.send(1) == 200
    assert len(arrived_parts(Upload.objects.get())) == 1
    assert Part.objects.count() == 1


def test_by_a_link_nothing_else_arrives(page: Page) -> None:
    """What is signed into it: its length and its SHA-256."""
    wrong = b"z" * len(page.parts[0])
    assert page.send(1, wrong) in {400, 409, 422}
    assert page.send(1, page.parts[0][:-1]) in {400, 403, 422}
    assert page.send(1, page.parts[0] + b"z") in {400, 403, 413}
    assert arrived_parts(Upload.objects.get()) == []


def test_a_part_with_another_digest_takes_the_place_of_the_first(page: Page, part_size: int) -> None:
    """The file was changed, or another tab sends another file under its name: the last word counts."""
    page.send(1)
    await_another_second(part_size)
    page.content = b"Z" + page.content[1:]
    assert page.ask(1).status_code == 200
    assert Part.objects.get(number=1).etag == ""
    assert arrived_parts(Upload.objects.get()) == []
    assert page.send(1) == 200
    assert [part.sha256 for part in arrived_parts(Upload.objects.get())] == [sha256(page.parts[0])]


def test_a_link_holds_for_a_while_and_a_fresh_one_does_the_same(
    page: Page, tester_client: Client, settings: Settings
) -> None:
    settings.LINKS_HOLD_S = -5
    over = page.ask(1).json()["links"]["1"]
    status, _ = put(tester_client, over, page.parts[0])
    assert status in {400, 403, 410}  # over
    settings.LINKS_HOLD_S = 60
    assert page.send(1) == 200


@pytest.mark.parametrize(
    "said",
    [
        {"ask": [{"number": 0, "sha256": "a" * 64}]},
        {"ask": [{"number": 4, "sha256": "a" * 64}]},
        {"ask": [{"number": -1, "sha256": "a" * 64}]},
        {"ask": [{"number": 10**12, "sha256": "a" * 64}]},
        {"ask": [{"number": "1", "sha256": "a" * 64}]},
        {"ask": [{"number": 1, "sha256": "A" * 64}]},
        {"ask": [{"number": 1, "sha256": "a" * 63}]},
        {"ask": [{"number": 1}]},
        {"ask": [{"number": 1, "sha256": "a" * 64}] * 17},
        {"ask": "all"},
        {"ask": [1]},
        {"arrived": [{"number": 4, "sha256": "a" * 64, "etag": "x"}]},
        {"arrived": [{"number": 1, "sha256": "a" * 64, "etag": "x" * 101}]},
        {"arrived": [{"number": 1, "sha256": "a" * 64, "etag": "a b"}]},
        {"arrived": [{"number": 1, "sha256": "a" * 64, "etag": 1}]},
        [],
    ],
)
def test_what_can_not_be_is_refused_and_changes_nothing(
    tester_client: Client, call: Call, settings: Settings, tmp_path: Path, said: Any
) -> None:
    cache.clear()
    use_folder(settings, tmp_path / "recordings")
    page = Page.begin(tester_client, call.uuid, b"x" * (2 * beginning.PART_BYTES + 1))
    answer = post(tester_client, page.begun["parts"], said)
    assert (answer.status_code, answer.json()["error"]) == (422, "malformed")
    assert not Part.objects.exists()


def test_the_upload_of_somebody_else_is_not_found(page: Page, trained_tester: User, eval_lead: User) -> None:
    for user, status in ((trained_tester, 404), (eval_lead, 403)):
        page.client = make.client_of(user)
        assert page.ask(1).status_code == status
        assert page.finish().status_code == status
        assert page.client.post(page.begun["drop"]).status_code == status


def test_a_page_that_asks_too_often_is_told_to_wait(page: Page, settings: Settings) -> None:
    settings.PARTS_ASKED_A_MINUTE = 3
    statuses = [page.ask(1).status_code for _ in range(4)]
    assert statuses[-1] == 429


def test_an_upload_is_given_up_and_nothing_of_it_is_kept(page: Page, tester_client: Client) -> None:
    page.send(1)
    upload = Upload.objects.get()
    answer = tester_client.post(page.begun["drop"])
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/recordings/new/?call={page.call}"
    assert not Recording.objects.exists()
    with pytest.raises(Exception, match=r"no longer|no such"):
        arrived_parts(upload)
    assert page.ask(1).status_code == 404


def test_what_is_not_finished_is_removed_from_the_list_only_after_a_page_has_asked(
    page: Page, tester_client: Client
) -> None:
    page.send(1)
    listed = tester_client.get(f"/recordings/new/?call={page.call}").text
    assert f'href="{page.begun["drop"]}"' in listed
    assert f'action="{page.begun["drop"]}"' not in listed
    asked = tester_client.get(page.begun["drop"]).text
    assert "call.mp4" in asked
    assert "is removed, for good" in asked
    assert f'href="/recordings/new/?call={page.call}">Keep it' in asked
    assert Upload.objects.count() == 1
    Recording.objects.update(state="working")
    answer = tester_client.get(page.begun["drop"])
    assert answer.headers["Location"] == Recording.objects.get().get_absolute_url(), "there is nothing to ask any more"


def test_a_store_that_is_down_is_told_and_may_be_asked_again(
    tester_client: Client, call: Call, settings: Settings
) -> None:
    """Nobody listens where the bucket is said to be."""
    cache.clear()
    use_bucket(settings, S3Server("http://127.0.0.1:1"), "none")
    answer = post(tester_client, f"/recordings/new/?call={call.uuid}", announced(b"x" * 25))
    assert (answer.status_code, answer.json()["error"]) == (503, "store")
    assert not Recording.objects.exists()
