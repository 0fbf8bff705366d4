"""A pasted link: when it is copied, from where, and what is said where it is not. Against real servers on loopback."""

from __future__ import annotations

import hashlib
import socket
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings as site
from django.utils import timezone
from pytest_django import Settings

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.adapters.addresses import Allowed, Hosts
from emma_eval.adapters.outgoing import Limits, Outgoing
from emma_eval.outbox.models import Row
from emma_eval.outbox.registry import TryLaterError
from results.filing.correct_result import add_recording_link, correct_result, filing_of
from results.models import Origin, Recording, RecordingState, Result
from results.recordings.hand_over import MAKE_READY
from results.recordings.store import recordings_store
from results.recordings.uploads import begin_upload
from results.recordings.uploads import copy_link as copying
from results.recordings.uploads.ask_for_copy import COPY_LINK, ask_for_copy
from results.recordings.uploads.copy_again import COPYING_AGAIN, copy_again, may_be_copied_again
from results.recordings.uploads.copy_link import OPENS_A_PAGE, copy_link
from results.recordings.uploads.finish_upload import digest_of
from results.recordings.work_folder import WORKED_IN
from scripts_catalog.models import Build, Script
from tests import make
from tests.adapters.certificates import Authority
from tests.adapters.test_outgoing import leads_to
from tests.receivers import Talk, answer, raw, redirect, serving
from tests.s3 import S3Server
from tests.stores import use_bucket, use_folder

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

LINK = "https://files.example.org/calls/the%20call.mp4?k=1#t=83"
VIDEO = b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n"


@pytest.fixture(autouse=True)
def _known_hosts(settings: Settings, tmp_path: Path) -> None:
    use_folder(settings, tmp_path / "recordings")
    settings.VAR_DIR = tmp_path  # tests that run at the same time copy into it, too
    settings.RECORDING_HOSTS = Hosts.read(["files.example.org", "*.cdn.example.org", "127.0.0.1"])
    settings.OUTGOING_ALLOW = Allowed.read(["127.0.0.1"])


@pytest.fixture
def script(db: None) -> Script:
    return make.script()


@pytest.fixture
def build(db: None) -> Build:
    return make.build()


@pytest.fixture
def result(tester: User, script: Script, build: Build) -> Result:
    return make.result(tester, script, build)


@pytest.fixture
def recording(result: Result) -> Callable[[str], Recording]:
    """The copy that is asked for of a link."""

    def ask(link: str) -> Recording:
        Result.objects.filter(pk=result.pk).update(recording_link=link)
        result.refresh_from_db()
        found = ask_for_copy(result)
        assert found is not None
        return found

    return ask


# --- when it is asked for ---------------------------------------------------------------------


def test_a_link_that_is_added_is_copied_once(result: Result, tester: User) -> None:
    mate = make.result(tester, make.script(), result.build, call_uuid=result.call_uuid, called_at=result.called_at)
    add_recording_link(tester, result, LINK)
    recording = Recording.objects.get()
    assert (recording.origin, recording.state) == (Origin.COPIED, RecordingState.RECEIVING)
    assert (recording.tester, recording.call_uuid) == (tester, mate.call_uuid)
    assert (recording.link, recording.name) == (LINK, "the call.mp4")
    assert Row.objects.get(handler=COPY_LINK).payload == {"recording": str(recording.pk)}
    mate.refresh_from_db()
    assert mate.recording_link == LINK


def test_a_link_that_is_filed_is_copied(tester: User, script: Script, build: Build) -> None:
    from results.filing.file_result import file_result

    model = make.result(tester, script, build, recording_link=LINK)
    filing = filing_of(model)
    Result.objects.all().delete()
    filed = file_result(tester, uuid.uuid4(), filing)
    assert Recording.objects.get().call_uuid == filed.result.call_uuid


def test_a_link_that_is_corrected_is_copied_too_and_the_same_again_is_not(result: Result, tester: User) -> None:
    add_recording_link(tester, result, LINK)
    result.refresh_from_db()
    other = replace(filing_of(result), recording_link="https://a.cdn.example.org/other.webm")
    correct_result(tester, result, other, based_on=result.version)
    result.refresh_from_db()
    correct_result(tester, result, replace(other, recording_link=LINK), based_on=result.version)
    assert set(Recording.objects.values_list("link", flat=True)) == {LINK, "https://a.cdn.example.org/other.webm"}


@pytest.mark.parametrize(
    "link",
    [
        "",
        "https://video.example.net/watch?v=1",
        "https://cdn.example.org/x.mp4",
        "https://files.example.org.evil.example/x.mp4",
        "https://evil.example/files.example.org/x.mp4",
    ],
)
def test_from_a_host_that_is_not_named_a_link_stays_a_link(result: Result, link: str) -> None:
    result.recording_link = link
    assert ask_for_copy(result) is None
    assert not Recording.objects.exists()


def test_where_no_host_is_named_nothing_is_copied(result: Result, settings: Settings) -> None:
    settings.RECORDING_HOSTS = Hosts()
    result.recording_link = LINK
    assert ask_for_copy(result) is None


def test_links_of_sheets_stay_links(result: Result) -> None:
    result.recording_link, result.sheet_digest = LINK, "a" * 64
    assert ask_for_copy(result) is None


# --- the copy ---------------------------------------------------------------------------------


def test_it_is_kept_and_handed_over(recording: Callable[[str], Recording], tmp_path: Path) -> None:
    body = b"moving pictures" * 1000
    with serving(answer(body=body, Content_Type="video/mp4")) as there:
        made = recording(f"{there.url}?k=1#t=83")
        copy_link(str(made.pk))
        copy_link(str(made.pk))
    assert [heard.path for heard in there.heard] == ["/hook?k=1"]
    made.refresh_from_db()
    assert (made.state, made.fault) == (RecordingState.WORKING, "")
    assert made.link.endswith("#t=83")
    assert made.sent_digest == digest_of([hashlib.sha256(body).hexdigest()])
    recordings_store().fetch(f"{made.pk}/sent", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == body
    assert Row.objects.filter(handler=MAKE_READY).count() == 1
    assert AuditEntry.objects.filter(action="copied a recording").count() == 1
    assert not list((site.VAR_DIR / WORKED_IN).iterdir())


def test_a_link_that_was_corrected_in_the_meantime_is_not_copied(
    recording: Callable[[str], Recording], result: Result
) -> None:
    with serving(answer(body=b"x", Content_Type="video/mp4")) as there:
        made = recording(there.url)
        Result.objects.filter(pk=result.pk).update(recording_link="https://elsewhere.example/x")
        copy_link(str(made.pk))
    assert there.heard == []
    assert not Recording.objects.exists()


@pytest.mark.parametrize(
    ("talk", "words"),
    [
        (answer(body=b"<html>", Content_Type="text/html; charset=utf-8"), OPENS_A_PAGE),
        (answer(body=b"{}", Content_Type="application/json"), "no recording: its answer is application/json"),
        (answer(404, b"no", Content_Type="text/html"), "no file behind this link"),
        (answer(410), "no file behind this link"),
        (answer(401, Content_Type="video/mp4"), "signed in there"),
        (answer(403), "signed in there"),
        (answer(418), "answered 418"),
        (raw(VIDEO + b"Content-Length: 4294967297\r\n\r\n"), "larger than 4 GB"),
        (redirect("https://elsewhere.example/x.mp4"), "elsewhere.example is not among the hosts"),
        (redirect("/again"), "leads on more than"),
    ],
    ids=["a page", "data", "404", "410", "401", "403", "odd", "too large", "another host", "in a ring"],
)
def test_what_can_not_be_copied_is_told_in_words_and_not_tried_again(
    recording: Callable[[str], Recording], talk: Talk, words: str
) -> None:
    with serving(talk) as there:
        made = recording(there.url)
        copy_link(str(made.pk))
    made.refresh_from_db()
    assert made.state == RecordingState.FAILED
    assert words in made.fault
    assert recordings_store().look(f"{made.pk}/sent") is None
    assert not list((site.VAR_DIR / WORKED_IN).iterdir())


@pytest.mark.parametrize(
    ("talk", "words"),
    [
        (answer(503), "answered 503"),
        (answer(429), "answered 429"),
        (raw(VIDEO + b"Content-Length: 100\r\n\r\nhalf"), "broke off"),
        (
            raw(VIDEO + b"Content-Length: 100000\r\n\r\n", *([b"x"] * 60), every_s=0.03),
            "less than 65,536 bytes a second",
        ),
        (raw(VIDEO, hangs_s=2), "did not answer in full"),
        (answer(body=b"", Content_Type="video/mp4"), "is empty"),
    ],
    ids=["503", "429", "cut off", "drips", "silence", "empty"],
)
def test_what_may_go_better_later_is_tried_again_and_says_so(
    recording: Callable[[str], Recording], monkeypatch: pytest.MonkeyPatch, talk: Talk, words: str
) -> None:
    monkeypatch.setattr(copying, "is_last_try", lambda: False)
    monkeypatch.setattr(copying, "OVER_S", 0.3)
    monkeypatch.setattr(copying, "LIMITS", Limits(connect_s=1, read_s=0.5, whole_s=5, most_bytes=10**6))
    with serving(talk) as there:
        made = recording(there.url)
        with pytest.raises(TryLaterError, match=words):
            copy_link(str(made.pk))
        made.refresh_from_db()
        assert made.state == RecordingState.RECEIVING
        assert words in made.fault
        there.talk = answer(body=b"all of it", Content_Type="video/mp4")
        copy_link(str(made.pk))
    made.refresh_from_db()
    assert (made.state, made.fault) == (RecordingState.WORKING, "")


def test_the_last_try_is_the_last(recording: Callable[[str], Recording]) -> None:
    with serving(answer(503)) as there:
        made = recording(there.url)
        copy_link(str(made.pk))  # outside of a delivery there is no other to come
    made.refresh_from_db()
    assert (made.state, made.fault) == (RecordingState.FAILED, "Not copied from this link: its host answered 503.")


def test_while_our_own_store_is_down_nothing_is_fetched_and_no_try_is_lost(
    recording: Callable[[str], Recording], settings: Settings, tmp_path: Path
) -> None:
    """Nobody listens where the bucket is said to be."""
    use_bucket(settings, S3Server("http://127.0.0.1:1"), "none")
    with serving(answer(body=b"all of it", Content_Type="video/mp4")) as there:
        made = recording(there.url)
        with pytest.raises(TryLaterError) as later:
            copy_link(str(made.pk))
        assert (later.value.counts, there.heard) == (False, [])
        made.refresh_from_db()
        assert made.state == RecordingState.RECEIVING
        assert made.fault.startswith("Not copied yet: The store of recordings can't be reached")
        use_folder(settings, tmp_path / "recordings")
        copy_link(str(made.pk))
    made.refresh_from_db()
    assert (made.state, made.fault) == (RecordingState.WORKING, "")


def test_a_large_file_has_the_digest_that_it_would_have_had_if_it_was_uploaded(
    recording: Callable[[str], Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(begin_upload, "LARGE_BYTES", 40)
    monkeypatch.setattr(begin_upload, "LARGE_PART_BYTES", 16)
    with serving(answer(body=bytes(50), Content_Type="video/mp4")) as there:
        made = recording(there.url)
        copy_link(str(made.pk))
    made.refresh_from_db()
    assert made.sent_digest == digest_of(hashlib.sha256(bytes(size)).hexdigest() for size in (16, 16, 16, 2))


# --- where a name leads -----------------------------------------------------------------------


def test_a_named_host_that_leads_inside_is_refused_without_a_connection(
    recording: Callable[[str], Recording], settings: Settings
) -> None:
    settings.OUTGOING_ALLOW = Allowed()
    with serving(answer(body=b"x", Content_Type="video/mp4")) as there:
        made = recording(f"https://files.example.org:{there.port}/x.mp4")
        copy_link(str(made.pk), way=lambda limits: Outgoing(Allowed(), limits, resolve=leads_to("127.0.0.1")))
        address = recording(there.url)
        copy_link(str(address.pk))
    assert there.heard == []
    for each in (made, address):
        each.refresh_from_db()
        assert each.state == RecordingState.FAILED
        assert "this machine's own address" in each.fault


def test_a_redirect_that_leads_inside_is_refused(recording: Callable[[str], Recording], tmp_path: Path) -> None:
    """Over TLS: the first host is what it says, the second is on the list too, and its name leads inside."""
    authority = Authority(tmp_path)

    def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"] if host == "files.example.org" else ["192.168.1.1"]

    def way(limits: Limits) -> Outgoing:
        return Outgoing(Allowed.read(["files.example.org"]), limits, resolve=resolve, tls=authority.trusting())

    to = redirect("https://a.cdn.example.org/x.mp4")
    with serving(to, tls=authority.server_for("files.example.org")) as there:
        made = recording(f"https://files.example.org:{there.port}/x.mp4")
        copy_link(str(made.pk), way=way)
    made.refresh_from_db()
    assert made.fault.startswith("Not copied from this link: a.cdn.example.org is a private address")


def test_a_name_that_leads_inside_a_moment_later_is_refused(recording: Callable[[str], Recording]) -> None:
    """DNS that changes between the redirect and what it leads to: each connection is looked at by itself."""
    answers = iter([["127.0.0.2"], ["127.0.0.1"]])

    def way(limits: Limits) -> Outgoing:
        return Outgoing(Allowed.read(["127.0.0.2"]), limits, resolve=lambda host, port: next(answers))

    with serving(redirect("/there"), "127.0.0.2") as good, socket.create_server(("127.0.0.1", good.port)) as bad:
        bad.settimeout(0.2)
        made = recording(f"http://files.example.org:{good.port}/x.mp4")
        copy_link(str(made.pk), way=way)
        with pytest.raises(TimeoutError):
            bad.accept()
    made.refresh_from_db()
    assert "this machine's own address" in made.fault


def test_what_was_removed_is_not_copied(recording: Callable[[str], Recording]) -> None:
    with serving(answer(body=b"x", Content_Type="video/mp4")) as there:
        made = recording(there.url)
        Recording.objects.filter(pk=made.pk).update(state=RecordingState.REMOVED, removed_at=timezone.now())
        copy_link(str(made.pk))
    assert there.heard == []
    assert recordings_store().look(f"{made.pk}/sent") is None


# --- once more --------------------------------------------------------------------------------


@pytest.fixture
def failed(recording: Callable[[str], Recording]) -> Recording:
    """Its host was not well."""
    with serving(answer(503)) as there:
        made = recording(there.url)
        copy_link(str(made.pk))
    made.refresh_from_db()
    assert made.state == RecordingState.FAILED
    return made


def test_a_copy_that_failed_is_tried_again_from_its_page(failed: Recording, eval_member: User, tester: User) -> None:
    again = f"{failed.get_absolute_url()}again/"
    client = make.client_of(tester)
    assert f'action="{again}"' in client.get(failed.get_absolute_url()).text
    before = Row.objects.filter(handler=COPY_LINK).count()
    for each in (client, client, make.client_of(eval_member)):
        each.post(again)
    failed.refresh_from_db()
    assert (failed.state, failed.fault, failed.finished_at) == (RecordingState.RECEIVING, "", None)
    assert Row.objects.filter(handler=COPY_LINK).count() == before + 1, "asked three times, it is copied once"


def test_a_copy_is_tried_again_by_those_who_may_change_it_alone(failed: Recording, manager: User) -> None:
    client = make.client_of(manager)
    again = f"{failed.get_absolute_url()}again/"
    assert again not in client.get(failed.get_absolute_url()).text
    assert client.post(again).status_code == 403
    failed.refresh_from_db()
    assert failed.state == RecordingState.FAILED


def test_what_can_not_help_is_not_offered(failed: Recording, tester: User, settings: Settings) -> None:
    assert may_be_copied_again(failed)
    settings.RECORDING_HOSTS = Hosts()
    assert not copy_again(failed, tester), "its host is no longer copied from"
    settings.RECORDING_HOSTS = Hosts.read(["127.0.0.1"])
    Result.objects.update(recording_link="https://elsewhere.example/x")
    assert not copy_again(failed, tester), "nobody stands by that link any more"
    failed.refresh_from_db()
    assert failed.state == RecordingState.FAILED


def test_it_is_not_tried_again_and_again(failed: Recording, tester: User) -> None:
    for _ in range(COPYING_AGAIN.most):
        assert copy_again(failed, tester)
        Recording.objects.filter(pk=failed.pk).update(state=RecordingState.FAILED)
        failed.refresh_from_db()
    said = make.client_of(tester).post(f"{failed.get_absolute_url()}again/", follow=True).text
    assert "a little later" in said
    failed.refresh_from_db()
    assert failed.state == RecordingState.FAILED
