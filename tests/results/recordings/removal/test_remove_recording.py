"""A recording is removed in one act, the store is emptied behind it, and what stays says who, when and why."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone
from pytest_django import Settings

from emma_eval.accounts.models import AuditEntry, User
from emma_eval.accounts.roles import Role
from emma_eval.adapters.recordings import StoreError
from emma_eval.outbox.deliver import deliver
from emma_eval.outbox.models import Row
from emma_eval.outbox.registry import TryLaterError
from emma_eval.webhooks.models import Delivery, Endpoint
from results import tasks  # noqa: F401  (registers the handlers)
from results.models import CallFigures, Chunk, Part, Recording, RecordingNote, RecordingState, Take, Upload
from results.recordings.hand_over import hand_over
from results.recordings.player.note_watch import note_watch
from results.recordings.recorder.begin_recording import OverError, receiving
from results.recordings.removal.empty_folder import LINKS_ARE_OVER, empty_folder
from results.recordings.removal.removal_reasons import Reason
from results.recordings.removal.remove_recording import remove_recording
from results.recordings.store import folder_of_this_site, recordings_store
from results.tell_results import tell_removed
from scripts_catalog import taxonomy
from tests import make
from tests.at_once import at_once
from tests.stores import use_bucket, use_folder

pytestmark = [pytest.mark.django_db, pytest.mark.data_layer]

CALL = uuid.UUID("0190b5a0-0000-4000-8000-0000000000ab")


@pytest.fixture(autouse=True)
def _folder(settings: Settings, tmp_path: Path) -> None:
    cache.clear()
    use_folder(settings, tmp_path / "recordings")


@pytest.fixture
def recording(tester: User) -> Recording:
    """With one of everything that can hang on a recording, each text with the same word in it."""
    made = make.recording(
        tester,
        CALL,
        name="zq17.mp4",
        link="https://files.example.test/zq17",
        digest="ab" * 32,
        size=900,
        segments=[{"file_ms": 0, "call_ms": 0, "lasts_ms": 90_000}],
        sides_because="zq17",
    )
    for name in ("peaks", "thumbnail", "captions"):
        setattr(made, f"{name}_key", f"{made.folder}{name}")
    made.save()
    take = made.takes.create(number=0, media_type="video/webm", began_at_ms=0, has_tester=True, has_emma=True)
    take.chunks.create(number=0, size=4, sha256="ab" * 32, arrived_at=timezone.now())
    upload = Upload.objects.create(
        recording=made, key=f"{made.folder}sent", upload_id="", size=9, part_size=9, fingerprint="zq17"
    )
    upload.parts.create(number=1, size=9, sha256="ab" * 32)
    RecordingNote.objects.create(recording=made, by=tester, at_ms=4, words="zq17 here")
    CallFigures.objects.create(recording=made, edition=1, measured_at=timezone.now(), turn_count=3)
    return made


def put(key: str, body: bytes = b"sound", folder: Path | None = None) -> None:
    place = (folder_of_this_site() or pytest.fail("a folder")).path(key)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(body)


def keys_under(recording: Recording) -> list[str]:
    return [kept.key for kept in recordings_store().under(recording.folder)]


def lines(action: str) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(action=action))


def test_nothing_of_what_it_was_is_left_in_any_row(recording: Recording, eval_lead: User) -> None:
    note_watch(recording, eval_lead, timezone.now())
    assert remove_recording(recording, eval_lead, Reason.PRIVATE)
    found = Recording.objects.get(pk=recording.pk)
    assert (found.state, found.removed_by, found.removed_because) == ("removed", eval_lead, Reason.PRIVATE.label)
    for model in (Take, Chunk, Upload, Part, CallFigures):
        assert not model.objects.exists(), model
    note = RecordingNote.objects.get()
    assert (note.words, note.withdrawn_at is None) == ("", False)
    columns = {field.name: getattr(found, field.attname) for field in Recording._meta.concrete_fields}
    assert "zq17" not in str(columns)
    assert [name for name, value in columns.items() if str(recording.pk) in str(value)] == ["uuid"]
    assert {columns[name] for name in ("size", "duration_ms", "digest", "width")} == {None, ""}
    assert found.segments == []
    assert found.watches.count() == 1, "who watched it stays"


def test_the_trail_says_who_why_and_whose_and_repeats_no_words(recording: Recording, tester: User) -> None:
    remove_recording(recording, tester, Reason.OTHER, "My flat is in zq17.")
    (line,) = lines("removed a recording")
    assert (line.actor, line.target, line.about) == (tester, recording.pk.hex, tester.pk)
    assert line.details == {"call": str(CALL), "person": tester.pk, "reason": "other"}
    assert Recording.objects.get().removed_because == "Another reason: My flat is in zq17."


def test_it_is_removed_once(recording: Recording, tester: User, eval_lead: User) -> None:
    assert remove_recording(recording, tester, Reason.ASKED)
    assert not remove_recording(recording, eval_lead, Reason.WRONG)
    assert Recording.objects.get().removed_by == tester
    assert len(lines("removed a recording")) == Row.objects.filter(handler="results.empty_recording").count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_several_who_remove_it_at_once_one_does(recording: Recording, tester: User) -> None:
    answers = at_once(*[lambda: remove_recording(recording, tester, Reason.ASKED)] * 4)
    assert sorted(answers) == [False, False, False, True]
    assert len(lines("removed a recording")) == 1


@pytest.mark.django_db(transaction=True)
def test_whoever_works_on_it_at_the_same_moment_comes_before_or_finds_it_removed(tester: User) -> None:
    """A page that sends chunks, one that says that this is all, somebody who watches: no ring, nothing comes back."""
    for _ in range(4):
        recording = make.recording(
            tester, CALL, state=RecordingState.RECEIVING, key="", duration_ms=None, ready_at=None
        )

        def send(recording: Recording = recording) -> Any:
            from django.db import transaction

            with transaction.atomic():
                return receiving(recording.pk, timezone.now()).takes.create(
                    number=0, media_type="video/webm", began_at_ms=0, has_tester=True, has_emma=True
                )

        answers = at_once(
            lambda recording=recording: remove_recording(recording, tester, Reason.ASKED),
            send,
            lambda recording=recording: hand_over(recording),
            lambda recording=recording: note_watch(recording, tester, timezone.now()),
        )
        assert answers[0] is True
        assert isinstance(answers[1], Take | OverError), answers[1]
        assert isinstance(answers[2], bool), answers[2]
        assert Recording.objects.get(pk=recording.pk).state == RecordingState.REMOVED
        assert not Take.objects.filter(recording=recording).exists()


# --- the store behind it -----------------------------------------------------------------------------


def test_the_store_is_emptied_at_once_and_seen_to_be_empty_when_no_link_can_bring_more(recording: Recording) -> None:
    """What comes by a link that was given out before goes too; the trail says it is empty only after that."""
    put(recording.key)
    put(f"{recording.folder}chunks/000-000001")
    other = make.recording(recording.tester, CALL)
    put(other.key)
    remove_recording(recording, None, Reason.KEPT_LONG_ENOUGH)
    removed_at = Recording.objects.get(pk=recording.pk).removed_at
    assert removed_at
    with pytest.raises(TryLaterError) as later:
        empty_folder(recordings_store(), str(recording.pk), [], removed_at)
    assert (later.value.wait, later.value.counts) == (LINKS_ARE_OVER, False)
    assert keys_under(recording) == []
    assert lines("emptied the store of a recording") == []
    put(f"{recording.folder}chunks/000-000002")
    for _ in range(2):
        empty_folder(recordings_store(), str(recording.pk), [], removed_at + LINKS_ARE_OVER)
    assert keys_under(recording) == []
    (line,) = lines("emptied the store of a recording")
    assert (line.actor, line.target) == (None, recording.pk.hex)
    assert Recording.objects.get(pk=recording.pk).emptied_at == removed_at + LINKS_ARE_OVER
    assert keys_under(other) == [other.key], "no other recording lost anything"


def test_the_outbox_does_it_and_does_not_count_its_tries(recording: Recording) -> None:
    put(recording.key)
    remove_recording(recording, None, Reason.KEPT_LONG_ENOUGH)
    row = Row.objects.get(handler="results.empty_recording")
    deliver(row.pk)
    row.refresh_from_db()
    assert keys_under(recording) == []
    assert (row.attempts, row.done_at, row.set_aside_at) == (0, None, None)
    assert row.next_try_at > timezone.now() + timedelta(minutes=50)


class Down:
    """The store while it is down. The real one can't be told to be down for one act alone."""

    def under(self, prefix: str) -> Sequence[Any]:
        raise StoreError("The store does not answer.")


def test_a_store_that_is_down_is_asked_again_for_as_long_as_it_takes(recording: Recording) -> None:
    remove_recording(recording, None, Reason.KEPT_LONG_ENOUGH)
    long_after = timezone.now() + timedelta(days=30)
    with pytest.raises(TryLaterError) as later:
        empty_folder(Down(), str(recording.pk), [], long_after)  # type: ignore[arg-type]
    assert (later.value.counts, later.value.wait) == (False, timedelta(minutes=5))
    assert lines("emptied the store of a recording") == []


def test_a_recording_that_stands_is_never_emptied(recording: Recording) -> None:
    put(recording.key)
    empty_folder(recordings_store(), str(recording.pk), [], timezone.now() + timedelta(days=30))
    assert keys_under(recording) == [recording.key]


@pytest.mark.parametrize("kind", ["bucket", "folder"])
def test_it_reaches_parts_on_their_way_and_every_object_in_both_stores(
    kind: str, recording: Recording, settings: Settings, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if kind == "bucket":
        server = request.getfixturevalue("s3")
        use_bucket(settings, server, server.shared_bucket)
    store = recordings_store()
    file = tmp_path / "sound"
    file.write_bytes(b"sound")
    for name in ("media.webm", "peaks.json", "chunks/000-000000"):
        store.keep(f"{recording.folder}{name}", file, media_type="video/webm")
    upload = Upload.objects.get(recording=recording)
    upload.upload_id = store.begin_parts(upload.key, media_type="video/mp4")
    upload.save()
    assert len(keys_under(recording)) == 3
    remove_recording(recording, None, Reason.KEPT_LONG_ENOUGH)
    row = Row.objects.get(handler="results.empty_recording")
    assert row.payload["uploads"] == [[upload.key, upload.upload_id]]
    deliver(row.pk)
    assert keys_under(recording) == []
    with pytest.raises(StoreError):
        store.parts(upload.key, upload.upload_id)


# --- who may, and who is told ------------------------------------------------------------------------


def path_of(recording: Recording) -> str:
    return f"/recordings/{recording.pk}/remove/"


def test_its_tester_an_eval_lead_and_an_administrator_may(tester: User, eval_lead: User, administrator: User) -> None:
    make.result(tester, make.script(), make.build(), call_uuid=CALL)
    for user in (tester, eval_lead, administrator):
        recording = make.recording(tester, CALL)
        client = make.client_of(user)
        assert "What goes, for good" in client.get(path_of(recording)).text
        assert client.post(path_of(recording), {"reason": "asked"}).status_code == 302
        assert Recording.objects.get(pk=recording.pk).removed_by == user
        assert "was removed on" in client.get(path_of(recording)).text


def test_nobody_else_may_and_nobody_before_a_result_is_filed(
    tester: User, eval_member: User, eval_lead: User, manager: User
) -> None:
    recording = make.recording(tester, CALL)
    others = (make.user("other@example.test", Role.TESTER), eval_member, manager, eval_lead)
    answers = {make.client_of(user).post(path_of(recording), {"reason": "asked"}).status_code for user in others}
    assert answers == {403, 404}
    make.result(tester, make.script(), make.build(), call_uuid=CALL)
    for user in others[:3]:
        assert make.client_of(user).post(path_of(recording), {"reason": "asked"}).status_code in {403, 404}
    assert Recording.objects.get().state == RecordingState.READY


def test_a_call_that_became_safetys_closes_its_recording_to_its_own_untrained_tester(
    tester: User, eval_lead: User
) -> None:
    script = make.script("plain-talk")
    make.result(tester, script, make.build(), call_uuid=CALL)
    recording = make.recording(tester, CALL)
    type(script).objects.filter(pk=script.pk).update(area=taxonomy.SAFETY)
    for user in (tester, eval_lead):
        client = make.client_of(user)
        for page in ("", "remove/", "links/"):
            assert client.get(f"/recordings/{recording.pk}/{page}").status_code == 404, page
        assert client.post(path_of(recording), {"reason": "asked"}).status_code == 404
    assert make.client_of(eval_lead).get(f"/recordings/{recording.pk}/watches/").status_code == 404
    assert Recording.objects.get().state == RecordingState.READY


def test_a_reason_has_to_be_one_of_the_list_and_nothing_typed_is_lost(tester: User) -> None:
    recording = make.recording(tester, CALL)
    client = make.client_of(tester)
    for reason in ("", "kept_long_enough", "made-up"):
        answer = client.post(path_of(recording), {"reason": reason, "words": "my own words"})
        assert answer.status_code == 422
        assert "my own words" in answer.text
    assert client.post(path_of(recording), {"reason": "other", "words": "x" * 121}).status_code == 422
    assert Recording.objects.get().state == RecordingState.READY


def test_who_watched_is_for_leads_and_administrators(
    tester: User, eval_member: User, eval_lead: User, administrator: User
) -> None:
    make.result(tester, make.script(), make.build(), call_uuid=CALL)
    recording = make.recording(tester, CALL)
    note_watch(recording, eval_member, timezone.now())
    page = f"/recordings/{recording.pk}/watches/"
    assert "eve@example.test" in make.client_of(eval_lead).get(page).text
    remove_recording(recording, tester, Reason.ASKED)
    assert "eve@example.test" in make.client_of(administrator).get(page).text
    assert [make.client_of(user).get(page).status_code for user in (tester, eval_member)] == [403, 403]


def test_endpoints_are_told_of_a_recording_that_somebody_may_have_seen(tester: User, manager: User) -> None:
    url = "https://hooks.example.test/emma"
    Endpoint.objects.create(owner=manager, name="Ours", url=url, kinds=["recording.removed"], secret="whsec_")
    remove_recording(make.recording(tester, CALL), tester, Reason.ASKED)
    assert not Delivery.objects.exists(), "before a result is filed only its tester knows of it"
    script = make.script("plain-talk")
    result = make.result(tester, script, make.build(), call_uuid=CALL)
    recording = make.recording(tester, CALL)
    remove_recording(recording, tester, Reason.OTHER, "my own words")
    delivery = Delivery.objects.get()
    assert (delivery.subject, delivery.script, delivery.is_safety) == (str(recording.pk), "plain-talk", False)
    said = tell_removed(manager, delivery.subject)
    assert said
    assert (said["id"], said["call"], said["results"]) == (str(recording.pk), str(CALL), [str(result.pk)])
    assert said["because"] == "Another reason"
    type(script).objects.filter(pk=script.pk).update(area=taxonomy.SAFETY)
    assert tell_removed(manager, delivery.subject) is None


def test_the_line_of_a_recording_of_several_scripts_hides_once_any_of_them_is_safety(
    tester: User, manager: User, trained_tester: User
) -> None:
    url = "https://hooks.example.test/emma"
    Endpoint.objects.create(owner=manager, name="Ours", url=url, kinds=["recording.removed"], secret="whsec_")
    build = make.build()
    scripts = [make.script("plain-talk"), make.script("later-safety")]
    for script in scripts:
        make.result(tester, script, build, call_uuid=CALL)
    other = uuid.uuid4()
    make.result(tester, scripts[0], build, call_uuid=other)
    for call in (CALL, other):
        remove_recording(make.recording(tester, call), tester, Reason.ASKED)
    assert {delivery.script for delivery in Delivery.objects.all()} == {"plain-talk"}
    assert Delivery.objects.visible_to(manager).count() == 2
    type(scripts[1]).objects.filter(pk=scripts[1].pk).update(area=taxonomy.SAFETY)
    left = Delivery.objects.visible_to(manager).get()
    assert left.subject == str(Recording.objects.get(call_uuid=other).pk)
    assert Delivery.objects.visible_to(trained_tester).count() == 2
