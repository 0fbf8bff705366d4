"""Whatever a stranger sends as a recording ends in clear words for its sender, and what was sent is kept."""

from __future__ import annotations

import pytest

from emma_eval.accounts.models import User
from emma_eval.adapters.media import asking
from emma_eval.adapters.recordings import Store
from emma_eval.outbox.deliver import deliver
from results.models import RecordingState
from tests.media import media

from ..sent import keys, recorded, row_of, state, uploaded

pytestmark = [pytest.mark.django_db]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "The file is empty."),
        (b"<html>Please sign in</html>", "a web page"),
        (b"PK\x03\x04" + bytes(5000), "a ZIP archive"),
        (b"\x7fELF" + bytes(5000), "a program"),
        (b"#EXTM3U\nhttp://127.0.0.1/secret\n", "a playlist"),
        (b"\x1a\x45\xdf\xa3" + bytes(5000), "damaged"),
    ],
)
def test_what_is_no_recording_fails_with_words_and_is_kept(
    content: bytes, words: str, store: Store, tester: User
) -> None:
    recording = uploaded(tester, store, content, name="call.mp4")
    row = row_of(recording)
    assert deliver(row.pk)
    assert state(recording) == RecordingState.FAILED
    assert words in recording.fault
    assert keys(store, recording) == ["sent"]
    row.refresh_from_db()
    assert row.done_at is not None, "no retry can help"


def test_a_file_of_another_kind_than_its_name_says_is_played_as_what_it_is(store: Store, tester: User) -> None:
    recording = uploaded(tester, store, media("live.webm"), name="call.mp4")
    assert deliver(row_of(recording).pk)
    assert (state(recording), recording.media_type) == (RecordingState.READY, "video/webm")
    avi = uploaded(tester, store, media("avi"), name="call.mp4")
    assert deliver(row_of(avi).pk)
    assert (state(avi), "AVI" in avi.fault) == (RecordingState.FAILED, True)


def test_takes_of_which_nothing_can_be_read_fail_and_their_chunks_are_kept(store: Store, tester: User) -> None:
    recording = recorded(tester, store, [("wav", 0)], missing=[(1, 0)])
    assert deliver(row_of(recording).pk)
    assert state(recording) == RecordingState.FAILED
    assert recording.fault
    assert len(keys(store, recording)) == 5


def test_a_decoder_that_crashes_fails_the_recording_and_not_the_worker(
    store: Store, tester: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file is known that crashes this FFmpeg, so the child is one that ends itself as it would."""
    monkeypatch.setattr(asking, "_MODULE", ["-c", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"])
    recording = uploaded(tester, store, media("webm"))
    assert deliver(row_of(recording).pk)
    assert state(recording) == RecordingState.FAILED
    assert "decoder broke off" in recording.fault
