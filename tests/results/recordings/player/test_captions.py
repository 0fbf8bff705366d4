"""Transcripts are read strictly."""

from __future__ import annotations

import pytest

from results.recordings.player.captions import Cue, UnreadableCaptionsError, read_captions
from tests.playable import TRANSCRIPT


def test_it_reads_what_is_said_by_whom_and_when() -> None:
    found = read_captions(TRANSCRIPT.encode())
    assert found[1] == Cue(3_000, 6_000, "Emma", "I am so sorry. Do you want to tell me what happened?")
    assert [cue.at for cue in found] == ["0:01", "0:03", "0:07"]


def test_it_reads_names_notes_settings_and_hours() -> None:
    head = "\ufeffWEBVTT - a call\r\nKind: captions\r\n\r\nNOTE nothing\r\n\r\n"
    cue = "first\r\n01:00:00.000 --> 01:00:01.250 align:start line:0\r\n<i>Two</i> &amp;\r\nlines\r\n"
    text = head + cue
    assert read_captions(text.encode()) == [Cue(3_600_000, 3_601_250, "", "Two & lines")]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is no WebVTT"),
        ("1\n00:00:01,000 --> 00:00:02,000\nSubRip", "is no WebVTT"),
        ("WEBVTT\n\n", "no cue"),
        ("WEBVTT\n\n00:01 --> 00:02\nno thousandths", "Line 3"),
        ("WEBVTT\n\n00:00:02.000 --> 00:00:01.000\nbackwards", "line 3"),
        ("WEBVTT\n\n00:00:05.000 --> 00:00:06.000\na\n\n00:00:01.000 --> 00:00:02.000\nb", "order"),
        ("WEBVTT\n\nonly a name", "Line 0"),
    ],
)
def test_what_is_no_transcript_is_refused_in_words(text: str, fault: str) -> None:
    with pytest.raises(UnreadableCaptionsError, match=fault):
        read_captions(text.encode())


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"WEBVTT\n\n\x00"])
def test_what_is_no_text_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadableCaptionsError):
        read_captions(content)
