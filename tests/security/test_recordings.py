"""What somebody with an account may try on recordings that are not theirs, or with odd words on their own."""

from __future__ import annotations

import ast
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from emma_eval.accounts.roles import Role
from results.models import Chunk, Part, Recording, RecordingNote, RecordingState, Result, Take
from results.recordings.store import folder_of_this_site, recordings_store
from tests import make
from tests.stores import use_folder

from .access import ACCESS, address
from .world import World

pytestmark = pytest.mark.django_db

# Every place where a link to the store is made. Whoever adds one says here who may come by it.
LINKS_ARE_MADE_IN = {
    ("results/recordings/player/give_links.py", "get_link"): "whoever may see the recording, after the watch is noted",
    ("results/recordings/recorder/keep_chunks.py", "put_link"): "its tester, while it is being received",
    ("results/recordings/uploads/keep_parts.py", "part_link"): "its tester, while it is being uploaded",
}
LINKS_ARE_GIVEN_IN = {
    "results/recordings/player/show_recording.py": "the player, for a recording that can be played",
    "results/views/playing.py": "its script, by a POST",
}
ADAPTERS = "emma_eval/adapters/"
SHA = "ab" * 32


@pytest.fixture(autouse=True)
def _folder(settings: Settings, tmp_path: Path) -> None:
    cache.clear()
    use_folder(settings, tmp_path / "recordings")


def sources() -> Iterator[tuple[str, ast.Module]]:
    for room in ("emma_eval", "results", "scripts_catalog"):
        for path in sorted((settings.BASE_DIR / room).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "_link" in text or "presigned" in text:
                yield path.relative_to(settings.BASE_DIR).as_posix(), ast.parse(text)


def named(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def calls_of(*names: str) -> set[tuple[str, str]]:
    return {
        (path, named(node))
        for path, tree in sources()
        if not path.startswith(ADAPTERS)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and named(node) in names
    }


# --- links -------------------------------------------------------------------------------------------


def test_links_to_the_store_are_made_where_this_list_says_and_nowhere_else() -> None:
    assert calls_of("get_link", "put_link", "part_link") == set(LINKS_ARE_MADE_IN)
    assert {path for path, _ in calls_of("give_links")} == set(LINKS_ARE_GIVEN_IN)
    assert calls_of("generate_presigned_url") <= {("results/views/exports.py", "generate_presigned_url")}


def test_a_link_holds_for_minutes_and_names_one_object_of_this_recording(world: World) -> None:
    said = world.client(Role.MANAGER.value).post(reverse("recording_links", args=[world.recording.pk])).json()
    assert said["expires_in_s"] <= 900
    folder = folder_of_this_site()
    assert folder
    right = folder.right(said["media"].strip("/").partition("/")[2])
    assert (right.act, right.key) == ("get", world.recording.key)
    assert right.until - folder.now() <= 900
    for other in (world.receiving.folder, "media.webm", world.recording.folder):
        assert world.client(Role.MANAGER.value).get(f"/kept/{other.strip('/')}/").status_code in {403, 404}


def test_a_link_is_given_only_for_what_can_be_played_and_seen(world: World) -> None:
    tester = world.client(Role.TESTER.value)
    for recording in (world.receiving, world.sending):
        assert tester.post(reverse("recording_links", args=[recording.pk])).status_code == 404
        assert "/kept/" not in tester.get(reverse("recording", args=[recording.pk])).text
    for name in (Role.EVAL_TEAM, Role.EVAL_LEAD, Role.ADMINISTRATOR):
        assert world.client(name.value).get(reverse("recording", args=[world.receiving.pk])).status_code == 404


# --- what is kept, as it is given ----------------------------------------------------------------------


def given(recording: Recording, body: bytes, media_type: str) -> Any:
    folder = folder_of_this_site()
    assert folder
    place = folder.path(recording.key)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(body)
    return Client().get(recordings_store().get_link(recording.key, media_type=media_type, holds_s=60))


def test_a_page_that_calls_itself_a_recording_is_no_page_here(world: World) -> None:
    for media_type in ("video/mp4", "text/html", "image/svg+xml", "application/xhtml+xml", ""):
        answer = given(world.recording, b"<html><script>alert(1)</script>", media_type)
        assert answer.status_code == 200
        assert answer["Content-Type"] == (media_type if media_type == "video/mp4" else "application/octet-stream")
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["X-Frame-Options"] == "DENY"
        assert "script-src 'self'" in answer["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


def test_what_is_kept_is_in_no_shared_cache_and_sets_no_cookie(world: World) -> None:
    answer = given(world.recording, b"sound", "video/webm")
    assert "private" in answer["Cache-Control"]
    assert not answer.cookies
    assert "public" not in answer["Cache-Control"]
    for path in ("recording", "recording_watches", "recording_remove"):
        page = world.client(Role.ADMINISTRATOR.value).get(reverse(path, args=[world.recording.pk]))
        assert "no-store" in page["Cache-Control"], path


def test_a_page_that_holds_a_link_is_kept_nowhere_and_tells_nobody_where_somebody_came_from(world: World) -> None:
    """Those of the player, and whatever other page somebody gets."""
    result = Result.objects.get(tester=world.recording.tester, call_uuid=world.recording.call_uuid)
    pages = [result.get_absolute_url(), *(address(name, page.args, world) for name, page in ACCESS.items())]
    client, holding = world.client(Role.EVAL_TEAM.value), set()
    for path in pages:
        answer = client.get(path)
        if not answer.streaming and "/kept/" in answer.text:
            holding.add(path)
            assert "no-store" in answer.get("Cache-Control", ""), path
            assert answer["Referrer-Policy"] == "same-origin", path
    assert holding >= {result.get_absolute_url(), world.recording.get_absolute_url()}


def test_only_the_page_of_a_call_may_ask_for_the_microphone_and_the_screen(world: World) -> None:
    allowing = set()
    for name, page in ACCESS.items():
        person = sorted(page.who)[0]
        answer = world.client(person).get(address(name, page.args, world))
        if (
            "microphone=()" not in answer["Permissions-Policy"]
            or "display-capture=()" not in answer["Permissions-Policy"]
        ):
            allowing.add(name)
    assert allowing == {"call"}


# --- whoever is somebody else ----------------------------------------------------------------------------


def ask(client: Client, name: str, recording: Recording, said: object) -> Any:
    return client.post(reverse(name, args=[recording.pk]), json.dumps(said), content_type="application/json")


def test_another_tester_sends_nothing_to_a_recording_and_drops_nothing_of_it(world: World) -> None:
    other = make.client_of(make.user("other@example.test", Role.TESTER))
    before = {model: model.objects.count() for model in (Recording, Take, Chunk, Part)}
    for name in ("recording_take", "recording_chunks", "recording_finish"):
        assert ask(other, name, world.receiving, {}).status_code == 404
    for name in ("upload_parts", "upload_finish", "upload_drop"):
        assert ask(other, name, world.sending, {}).status_code == 404
    begin = reverse("recording_begin", args=[world.call.uuid])
    assert other.post(begin, "{}", content_type="application/json").status_code == 404
    theirs = reverse("upload_new") + f"?call={world.call.uuid}"
    assert (other.get(theirs).status_code, other.post(theirs).status_code) == (404, 404)
    assert {model: model.objects.count() for model in before} == before


def test_a_recording_of_ones_own_call_cant_take_the_name_of_somebody_elses(world: World) -> None:
    """Whoever found out the name of a recording neither reads it so nor adds to it."""
    other = make.user("other@example.test", Role.TESTER)
    call = make.call(other, world.script)
    said = {"recording": str(world.receiving.pk), "consent_age_ms": 0, "has_begun": False}
    path = reverse("recording_begin", args=[call.uuid])
    answer = make.client_of(other).post(path, json.dumps(said), content_type="application/json")
    assert answer.status_code == 409
    assert Recording.objects.get(pk=world.receiving.pk).tester == world.user(Role.TESTER.value)


def test_what_is_recorded_is_no_upload_and_what_is_uploaded_no_recording(world: World) -> None:
    tester = world.client(Role.TESTER.value)
    assert ask(tester, "upload_parts", world.receiving, {"ask": []}).status_code == 404
    assert ask(tester, "recording_chunks", world.sending, {"take": 1}).status_code == 404


def test_nobody_takes_back_the_note_of_another(world: World) -> None:
    path = reverse("recording_note_withdraw", args=[world.recording.pk, world.note.pk])
    for name in (Role.TESTER, Role.EVAL_LEAD, Role.ADMINISTRATOR):
        assert world.client(name.value).post(path).status_code == 404
    elsewhere = reverse("recording_note_withdraw", args=[world.receiving.pk, world.note.pk])
    assert world.client(Role.MANAGER.value).post(elsewhere).status_code == 404
    assert RecordingNote.objects.get(pk=world.note.pk).words


def test_nothing_is_sent_from_the_page_of_a_stranger(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.user(Role.TESTER.value))
    names = [name for name in ACCESS if name.startswith(("recording", "upload")) and name != "recording_watches"]
    assert {client.post(address(name, ACCESS[name].args, world)).status_code for name in names} == {403}


# --- odd words on one's own ------------------------------------------------------------------------------

SENT_AS_JSON = {"recording_take": "receiving", "recording_chunks": "receiving", "upload_parts": "sending"}
ODD_BODIES = (
    *(b"null", b"[]", b"7", b'"x"', b"{", b"\xff\xfe", b"[" * 50_000, b'{"a":' * 20_000, b"9" * 90_000),
    *(b'{"take": NaN, "ask": NaN}', b'{"take": 1e400, "ask": 1e400}', b'{"take": true, "ask": true}'),
    *(b'{"announced": {}, "ask": 1}', b'{"announced": [[]], "ask": [1]}', b'{"sent": "all", "ask": {"number": 1}}'),
)


def test_an_odd_body_is_refused_in_words_and_changes_nothing(world: World) -> None:
    tester = world.client(Role.TESTER.value)
    before = Recording.objects.get(pk=world.sending.pk), Recording.objects.get(pk=world.receiving.pk)
    for name, recording in SENT_AS_JSON.items():
        for body in ODD_BODIES:
            path = reverse(name, args=[getattr(world, recording).pk])
            answer = tester.post(path, body, content_type="application/json")
            assert answer.status_code == 422, (name, body[:20])
            assert answer.json()["message"]
    after = Recording.objects.get(pk=world.sending.pk), Recording.objects.get(pk=world.receiving.pk)
    assert [vars(each)["state"] for each in before] == [vars(each)["state"] for each in after]
    assert not Part.objects.exists()


def test_a_million_chunks_are_not_announced(world: World) -> None:
    tester = world.client(Role.TESTER.value)
    take = {"number": 1, "media_type": "video/webm", "began_at_ms": 0, "has_tester": True, "has_emma": True}
    assert ask(tester, "recording_take", world.receiving, {**take, "chunk_count": 1_000_000}).status_code == 422
    assert ask(tester, "recording_take", world.receiving, {**take, "chunk_count": None}).status_code == 200
    one = {"size": 5, "sha256": SHA}
    for announced in (
        [{**one, "number": 1_000_000}],
        [{**one, "number": number} for number in range(1_000)],
        [{**one, "number": -1}],
        [{**one, "number": 0, "size": 2**40}],
        [{**one, "number": 0, "size": 0}],
        [{**one, "number": 0, "sha256": "../../etc/passwd"}],
    ):
        asked = {"take": 1, "announced": announced, "sent": []}
        assert ask(tester, "recording_chunks", world.receiving, asked).status_code == 422
    assert Chunk.objects.filter(take__recording=world.receiving).count() == 1


def test_parts_beyond_the_file_and_more_than_some_at_once_are_refused(world: World) -> None:
    tester = world.client(Role.TESTER.value)
    for number in (0, 3, 10**6, -1, 2**60):
        asked = {"ask": [{"number": number, "sha256": SHA}]}
        assert ask(tester, "upload_parts", world.sending, asked).status_code == 422, number
    many = {"ask": [{"number": 1, "sha256": SHA}] * 10_000}
    assert ask(tester, "upload_parts", world.sending, many).status_code == 422
    assert not Part.objects.exists()


ODD_NAMES = (
    *(
        "../../etc/passwd.mp4",
        "..\\..\\boot.mp4",
        "/srv/elsewhere/id.mp4",
        "C:\\Users\\Tess\\call.mp4",
        "call\u202e4pm.mp4",
    ),
    *("<script>alert(1)</script>.mp4", "x" * 1_900 + ".mp4", "\n\r\t.mp4", ".mp4", "mp4"),
)


def test_the_name_of_a_file_is_a_name_and_never_a_place(world: World) -> None:
    path = reverse("upload_new") + f"?call={world.call.uuid}"
    tester = world.client(Role.TESTER.value)
    said = {"size": 9_000, "media_type": "video/mp4", "sides": "unknown", "has_consent": True}
    taken = 0
    for number, name in enumerate(ODD_NAMES):
        asked = {**said, "name": name, "fingerprint": f"{number:064x}"}
        answer = tester.post(path, json.dumps(asked), content_type="application/json")
        assert answer.status_code in {201, 422}, name
        if answer.status_code == 201:
            made = Recording.objects.get(pk=answer.json()["recording"])
            assert not set(made.name) & set("/\\\n\r\u202e")
            assert 0 < len(made.name) <= 200
            assert made.upload.key == f"{made.pk}/sent"
            assert "<script>alert" not in tester.get(path).text
            made.delete()
            taken += 1
    assert taken


def test_notes_are_short_and_within_the_recording(world: World) -> None:
    client = world.client(Role.TESTER.value)
    path = reverse("recording_notes", args=[world.recording.pk])
    for said in (
        {"at": "0:04", "words": "x" * 501},
        {"at": "0:04", "words": "x" * 1_000_000},
        {"at": "99:59:59", "words": "too late"},
        {"at": "9" * 400, "words": "never"},
        {"at": "-1", "words": "before"},
        {"at": "0:04", "words": ""},
    ):
        assert client.post(path, said).status_code in {413, 422}, str(said)[:60]
    assert RecordingNote.objects.filter(recording=world.recording).count() == 1


def test_an_offset_stays_within_what_a_database_can_hold(world: World) -> None:
    client = world.client(Role.TESTER.value)
    path = reverse("recording_offset", args=[world.recording.pk])
    for by_ms in ("9" * 30, "-" + "9" * 30, "1e9", "NaN", ""):
        assert client.post(path, {"by_ms": by_ms}).status_code == 422, by_ms
    assert Recording.objects.get(pk=world.recording.pk).offset_ms == 0


# --- what was removed --------------------------------------------------------------------------------------


def test_nothing_is_done_to_a_recording_that_was_removed(world: World) -> None:
    Recording.objects.filter(pk__in=[world.receiving.pk, world.sending.pk]).update(
        state=RecordingState.REMOVED, removed_at=world.recording.created_at
    )
    tester = world.client(Role.TESTER.value)
    take = {"number": 1, "media_type": "video/webm", "began_at_ms": 0, "has_tester": True, "has_emma": True}
    assert ask(tester, "recording_take", world.receiving, {**take, "chunk_count": None}).status_code == 409
    chunks = {"take": 0, "announced": [{"number": 1, "size": 5, "sha256": SHA}], "sent": []}
    assert ask(tester, "recording_chunks", world.receiving, {**chunks, "take": 1}).status_code == 409
    assert ask(tester, "upload_parts", world.sending, {"ask": []}).status_code == 404
    assert ask(tester, "upload_finish", world.sending, {"digest": ""}).status_code == 404
    assert Take.objects.filter(recording=world.receiving).count() == 1
    page = tester.get(reverse("recording", args=[world.receiving.pk]))
    assert (page.status_code, "/kept/" in page.text) == (200, False)


def test_a_name_that_nobody_has_looks_like_one_that_may_not_be_seen(world: World) -> None:
    """Of recordings that exist and those that don't, a colleague hears the same."""
    other = make.client_of(make.user("other@example.test", Role.TESTER))
    for name in ("recording", "recording_links", "recording_remove", "recording_notes", "recording_captions"):
        there = other.get(reverse(name, args=[world.receiving.pk]))
        nowhere = other.get(reverse(name, args=[uuid.uuid4()]))
        assert there.status_code == nowhere.status_code == 404
