"""Fetching a file that was made: by its owner alone, while the rights last, from a folder or from a bucket."""

from __future__ import annotations

import urllib.error
import urllib.request
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import settings as site
from django.core.files.storage import storages
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from emma_eval.accounts.models import Training, User
from emma_eval.accounts.roles import Role
from emma_eval.settings import LINKS_HOLD_S
from results.export.forget_files import forget_files
from results.live_call.begin_call import add_script
from results.models import Call, Export, State
from results.views import exports
from scripts_catalog.models import Script
from tests import make
from tests.s3 import S3Server

from .asking import html_of, ordered, read_workbook, work
from .conftest import Kinds

pytestmark = pytest.mark.django_db
WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@pytest.fixture(autouse=True)
def _every_workbook_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "MOST_AT_ONCE", 0)


@pytest.fixture
def made(client: Client, kinds: Kinds) -> Export:
    return work(ordered(client))


def fetch(client: Client, export: Export, **headers: str) -> Any:
    return client.get(reverse("export_file", args=[export.pk]), headers=headers)


def test_the_owner_fetches_the_file_under_a_name_that_tells_its_time(client: Client, made: Export) -> None:
    answer = fetch(client, made)
    assert len(read_workbook(answer.getvalue())) == 4
    assert answer["Content-Type"] == WORKBOOK
    assert answer["Content-Disposition"] == f'attachment; filename="{made.file_name}"'
    assert made.pk.hex not in answer["Content-Disposition"]


def test_a_download_that_broke_off_goes_on_where_it_was(client: Client, made: Export) -> None:
    whole = fetch(client, made)
    tag, data = whole["ETag"], whole.getvalue()
    rest = fetch(client, made, **{"Range": "bytes=100-", "If-Range": tag})
    assert (rest.status_code, rest.content) == (206, data[100:])
    assert rest["Content-Range"] == f"bytes 100-{len(data) - 1}/{len(data)}"


def test_nobody_else_fetches_it_or_hears_of_it(made: Export, manager_client: Client, trained_eval_member: User) -> None:
    for other in (manager_client, make.client_of(trained_eval_member)):
        assert fetch(other, made).status_code == 404
        assert other.get(made.get_absolute_url()).status_code == 404
        assert str(made.pk) not in other.get(reverse("export_new")).text


def test_who_lost_the_role_fetches_nothing_more(client: Client, made: Export, owner: User) -> None:
    owner.groups.clear()
    assert fetch(client, made).status_code == 403


def test_a_file_for_the_trained_is_gone_with_the_training(kinds: Kinds) -> None:
    owner = make.user("olga@example.test", Role.EVAL_TEAM, is_trained=True)
    client = make.client_of(owner)
    made = work(ordered(client))
    assert fetch(client, made).status_code == 200
    Training.objects.update(ends_on=timezone.localdate() - timedelta(days=1))
    assert fetch(client, made).status_code == 404
    assert client.get(made.get_absolute_url()).status_code == 404


def test_a_file_with_rows_of_a_script_that_is_safety_by_now_is_gone_for_the_untrained(
    client: Client, made: Export, owner: User
) -> None:
    Script.objects.filter(slug="bad-news-day").update(area="safety")
    assert fetch(client, made).status_code == 404
    assert str(made.pk) not in client.get(reverse("export_new")).text
    Training.objects.create(user=owner, starts_on="2020-01-01")
    assert fetch(client, made).status_code == 200


@pytest.mark.parametrize("how", ["run", "became safety", "filed"])
def test_a_file_with_moments_of_a_call_that_is_safety_by_now_is_gone_for_the_untrained(
    client: Client, kinds: Kinds, owner: User, how: str
) -> None:
    """None of the rows is of that script: it was run beside on the call whose moments are in the file."""
    call, beside = Call.objects.get(), make.script("beside", area="safety" if how == "run" else "everyday")
    if how == "became safety":
        call.runs.create(script=beside, script_version=beside.latest)
    made, without = work(ordered(client)), work(ordered(client, columns=["id", "comment"]))
    of_other_rows = work(ordered(client, "started=no"))
    assert [fetch(client, export).status_code for export in (made, without, of_other_rows)] == [200] * 3
    if how == "run":
        add_script(call, beside)
    else:
        Script.objects.filter(pk=beside.pk).update(area="safety")
    if how == "filed":
        make.result(kinds.full.tester, beside, kinds.full.build, call_uuid=call.uuid)
    assert [fetch(client, export).status_code for export in (made, without, of_other_rows)] == [404, 200, 200]
    assert client.get(made.get_absolute_url()).status_code == 404
    assert str(made.pk) not in client.get(reverse("export_new")).text
    Training.objects.create(user=owner, starts_on="2020-01-01")
    assert fetch(client, made).status_code == 200


def test_of_a_removed_file_and_of_one_for_the_trained_no_calls_are_kept(client: Client, kinds: Kinds) -> None:
    made = work(ordered(client))
    assert made.calls.count() == 1
    assert made.made_at is not None
    forget_files(made.made_at + timedelta(days=8))
    assert made.calls.count() == 0
    trained = make.client_of(make.user("olga@example.test", Role.EVAL_TEAM, is_trained=True))
    assert work(ordered(trained)).calls.count() == 0


def test_a_file_that_is_not_made_yet_is_not_there(client: Client, kinds: Kinds) -> None:
    assert fetch(client, ordered(client)).status_code == 404


def test_a_file_that_somebody_removed_by_hand_is_not_there(client: Client, made: Export) -> None:
    storages["exports"].delete(made.file)
    assert fetch(client, made).status_code == 404


def test_after_a_week_the_file_is_removed_and_the_page_says_so(client: Client, made: Export) -> None:
    assert made.made_at is not None
    forget_files(made.made_at + timedelta(days=7) - timedelta(seconds=1))
    assert fetch(client, made).status_code == 200
    forget_files(made.made_at + timedelta(days=7, seconds=1))
    forget_files(made.made_at + timedelta(days=7, seconds=1))
    assert Export.objects.get().state == State.REMOVED
    assert not storages["exports"].exists(made.file)
    assert fetch(client, made).status_code == 404
    said = html_of(client.get(made.get_absolute_url()))
    assert "The file was removed." in said
    assert "Export again" in said
    forget_files(made.made_at + timedelta(days=31))
    assert not Export.objects.exists()


# --- from a bucket ----------------------------------------------------------------------------


@pytest.fixture
def bucket(s3: S3Server, settings: Settings) -> str:
    """The settings of a site whose files are in a bucket of a real server."""
    name = s3.new_bucket()
    options = {
        "bucket_name": name,
        "endpoint_url": s3.endpoint,
        "region_name": s3.region,
        "access_key": s3.key,
        "secret_key": s3.secret,
        "addressing_style": "path",
        "signature_version": "s3v4",
        "location": "exports",
        "querystring_expire": LINKS_HOLD_S,
        "default_acl": None,
        "file_overwrite": True,
    }
    storage = {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}
    settings.STORAGES = {**settings.STORAGES, "exports": storage}
    return name


def get(link: str, **headers: str) -> Any:
    return urllib.request.urlopen(urllib.request.Request(link, headers=headers), timeout=20)


def test_a_file_in_the_bucket_is_fetched_by_a_link_that_is_soon_over(
    client: Client, kinds: Kinds, bucket: str, s3: S3Server
) -> None:
    made = work(ordered(client))
    assert made.state == State.READY
    assert [item["Key"] for item in s3.client().list_objects_v2(Bucket=bucket)["Contents"]] == [f"exports/{made.file}"]
    answer = fetch(client, made)
    link = answer["Location"]
    assert answer.status_code == 302
    assert int(parse_qs(urlsplit(link).query)["X-Amz-Expires"][0]) <= 15 * 60
    with get(link) as file:
        assert file.headers["Content-Type"] == WORKBOOK
        assert file.headers["Content-Disposition"] == f'attachment; filename="{made.file_name}"'
        assert len(read_workbook(file.read())) == 4
    with get(link, Range="bytes=0-3") as part:
        assert (part.status, part.read()) == (206, b"PK\x03\x04")


def test_neither_the_bare_address_nor_a_changed_link_opens_the_file(client: Client, kinds: Kinds, bucket: str) -> None:
    made = work(ordered(client))
    link = fetch(client, made)["Location"]
    for wrong in (
        link.partition("?")[0],
        link.replace(made.file, "other.xlsx"),
        link.replace("Expires=900", "Expires=9000"),
    ):
        with pytest.raises(urllib.error.HTTPError) as refused:
            get(wrong)
        assert refused.value.code == 403


def test_files_in_the_bucket_are_removed_after_a_week_and_so_are_strays(
    client: Client, kinds: Kinds, bucket: str, s3: S3Server
) -> None:
    made = work(ordered(client))
    assert made.made_at is not None
    s3.client().put_object(Bucket=bucket, Key="exports/stray.xlsx", Body=b"left behind")
    s3.client().put_object(Bucket=bucket, Key="elsewhere/recording.webm", Body=b"of another room")
    forget_files()
    assert len(s3.client().list_objects_v2(Bucket=bucket)["Contents"]) == 3
    forget_files(timezone.now() + timedelta(days=1, minutes=1))
    keys = [item["Key"] for item in s3.client().list_objects_v2(Bucket=bucket)["Contents"]]
    assert keys == ["elsewhere/recording.webm", f"exports/{made.file}"]
    forget_files(made.made_at + timedelta(days=8))
    keys = [item["Key"] for item in s3.client().list_objects_v2(Bucket=bucket)["Contents"]]
    assert keys == ["elsewhere/recording.webm"]


def test_no_link_lasts_longer_than_a_quarter_of_an_hour() -> None:
    assert site.LINKS_HOLD_S <= 15 * 60
