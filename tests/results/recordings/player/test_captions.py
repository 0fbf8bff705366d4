"""Transcripts are read strictly."""

from __future__ import annotations

import time

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


@pytest.mark.parametrize("hours", ["9" * 5_000, "9" * 400, "1000", "٠١"])
def test_hours_are_few_and_in_plain_digits(hours: str) -> None:
    """A time that no clock shows would fail every page that shows it, later."""
    with pytest.raises(UnreadableCaptionsError, match="Line 3"):
        read_captions(f"WEBVTT\n\n{hours}:00:01.000 --> {hours}:00:02.000\nlate\n".encode())


@pytest.mark.parametrize(
    "words", ["<", "<v a", "<v ", "<v" + " " * 1000, "&#", "<v.", "&lt", "<c.a>", "a\n"], ids=lambda words: words[:5]
)
def test_whatever_is_in_it_is_read_in_one_go(words: str) -> None:
    """A megabyte of tags that nobody closes takes hours to whoever looks for each end anew."""
    content = f"WEBVTT\n\n00:01.000 --> 00:02.000\n{words * (900_000 // len(words))}".encode()
    began = time.monotonic()
    read_captions(content)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("&#" + "9" * 5_000 + ";", "&#" + "9" * 5_000 + ";"),
        ("&amp;lt;b&amp;gt; &eacute; &#233; &#xe9;", "&lt;b&gt; é é é"),
        ("<script>alert(1)</script> 1 < 2 > 1 <", "alert(1) 1 1 <"),
        ("<v Emma <b>>hi", "<v Emma >hi"),
    ],
)
def test_odd_characters_are_words_and_no_markup(words: str, read: str) -> None:
    assert read_captions(f"WEBVTT\n\n00:01.000 --> 00:02.000\n{words}".encode())[0].words == read
