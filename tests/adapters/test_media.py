"""Media is read by its content, made playable without encoding wherever that can be, and heard where it belongs."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from emma_eval.adapters.media import (
    BadMediaError,
    InterruptedWorkError,
    asking,
    draw_thumbnail,
    look_into,
    sound_of,
    take_in,
)
from tests import media as made
from tests.media import FRAMES_A_S, KINDS, LEFT_BEEPS_MS, RIGHT_BEEPS_MS, frame_in, media, write

SECONDS = 12.0


def heard_in(path: Path) -> tuple[float, NDArray[np.float32]]:
    """How long the sound is in milliseconds, and the sound."""
    parts, at_ms = [], 0.0
    for sound in sound_of(path):
        assert sound.at_ms == pytest.approx(at_ms, abs=0.1), "stretches follow each other without a hole"
        parts.append(sound.samples)
        at_ms += sound.samples.shape[1] / 16
    return at_ms, np.concatenate(parts, axis=1)


def beeps_in(side: NDArray[np.float32]) -> list[int]:
    """When beeps begin, in milliseconds."""
    loud = np.flatnonzero(np.abs(side) > 0.1)
    return [round(at / 16) for at in loud[np.diff(loud, prepend=-(10**6)) > 3200]]


def frames_in(path: Path) -> list[tuple[int, int]]:
    """At which millisecond which frame is shown."""
    with av.open(str(path)) as file:
        return [
            (round(frame.time * 1000), frame_in(frame.to_ndarray(format="rgb24"))) for frame in file.decode(video=0)
        ]


@pytest.mark.parametrize("kind", KINDS)
def test_what_writes_test_media_takes_no_turns_from_the_other_tests(kind: str, tmp_path: Path) -> None:
    """With real-time turns in one worker its browser starves the others, and threads that wait for each other stand."""
    write(tmp_path / "a", KINDS[kind], 1)
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


@pytest.mark.parametrize(
    ("kind", "container", "media_type", "codecs"),
    [
        ("webm", "webm", "video/webm", ("vp8", "opus")),
        ("live.webm", "webm", "video/webm", ("vp8", "opus")),
        ("mp4", "mp4", "video/mp4", ("h264", "aac")),
        ("mov", "mov", "video/quicktime", ("h264", "aac")),
        ("mkv", "mkv", "video/x-matroska", ("h264", "opus")),
        ("m4a", "mp4", "audio/mp4", ("", "aac")),
        ("vbr.mp3", "mp3", "audio/mpeg", ("", "mp3")),
        ("wav", "wav", "audio/wav", ("", "pcm_s16le")),
        ("ogg", "ogg", "audio/ogg", ("", "opus")),
        ("prores.mov", "mov", "video/quicktime", ("prores", "pcm_s16le")),
    ],
)
def test_a_file_is_what_it_holds_whatever_it_is_called(
    kind: str, container: str, media_type: str, codecs: tuple[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "recording.txt"
    path.write_bytes(media(kind).read_bytes())
    about = look_into(path)
    assert (about.container, about.media_type) == (container, media_type)
    assert (about.video_codec, about.sound_codec) == codecs
    assert about.duration_ms == pytest.approx(SECONDS * 1000, abs=100)
    assert (about.width, about.height) == ((256, 64) if codecs[0] else (None, None))
    assert about.channels == 2


@pytest.mark.parametrize(
    ("kind", "name", "codecs"),
    [
        ("webm", "media.webm", ("vp8", "opus")),
        ("live.webm", "media.webm", ("vp8", "opus")),
        ("live.vp9.webm", "media.webm", ("vp9", "opus")),
        ("mp4", "media.mp4", ("h264", "aac")),
        ("live.mp4", "media.mp4", ("h264", "aac")),
        ("mov", "media.mp4", ("h264", "aac")),
        ("mkv", "media.mp4", ("h264", "opus")),
        ("m4a", "media.mp4", ("", "aac")),
        ("vbr.mp3", "media.mp4", ("", "mp3")),
        ("bare.mp3", "media.mp4", ("", "mp3")),
        ("wav", "media.wav", ("", "pcm_s16le")),
        ("ogg", "media.webm", ("", "opus")),
        ("ahead.mkv", "media.mp4", ("h264", "aac")),
        ("pcm.mkv", "media.mp4", ("h264", "aac")),
        ("prores.mov", "media.mp4", ("h264", "aac")),
        ("hevc.mov", "media.mp4", ("h264", "aac")),
        ("av1.webm", "media.webm", ("av1", "opus")),
    ],
)
def test_what_comes_in_can_be_played_and_is_found_where_it_was(
    kind: str, name: str, codecs: tuple[str, str], tmp_path: Path
) -> None:
    path = take_in(media(kind), tmp_path)
    about = look_into(path)
    assert (path.name, about.video_codec, about.sound_codec) == (name, *codecs)
    assert about.duration_ms == pytest.approx(SECONDS * 1000, abs=100)
    lasts_ms, sound = heard_in(path)
    assert lasts_ms == pytest.approx(SECONDS * 1000, abs=100)
    assert beeps_in(sound[0]) == pytest.approx([LEFT_BEEPS_MS + at for at in (0, 4000, 8000)], abs=40)
    assert beeps_in(sound[1]) == pytest.approx([RIGHT_BEEPS_MS + at for at in (0, 4000, 8000)], abs=40)
    if codecs[0]:
        shown = frames_in(path)
        assert [frame for _, frame in shown] == list(range(300))
        assert all(abs(at_ms - frame * 1000 / FRAMES_A_S) <= 40 for at_ms, frame in shown)


def test_sound_that_begins_later_than_the_picture_stays_beside_it(tmp_path: Path) -> None:
    path = take_in(media("late.mp4"), tmp_path)
    assert beeps_in(heard_in(path)[1][0]) == pytest.approx([5000, 9000], abs=40)
    assert beeps_in(heard_in(path)[1][1]) == pytest.approx([3000, 7000, 11_000], abs=40)
    assert all(abs(at_ms - frame * 1000 / FRAMES_A_S) <= 40 for at_ms, frame in frames_in(path))


def packets_in(path: Path) -> list[bytes]:
    with av.open(str(path)) as file:
        return [bytes(packet) for packet in file.demux() if packet.size]


@pytest.mark.parametrize("kind", ["mp4", "vp9.mp4"])
def test_what_was_cut_away_without_encoding_stays_away(kind: str, tmp_path: Path) -> None:
    """Cut at 3.5 s, as programs do that keep the pictures from the key frame before, and say not to show them."""
    path = tmp_path / "cut.mp4"
    with av.open(str(media(kind))) as source, av.open(str(path), "w", format="mp4") as file:
        tracks = [file.add_stream_from_template(stream) for stream in source.streams]
        for packet in source.demux():
            if packet.size and packet.pts is not None and packet.pts * packet.time_base >= 3:
                shift = round(3.5 / packet.time_base)
                packet.pts, packet.dts = packet.pts - shift, (packet.dts or packet.pts + shift) - shift
                packet.stream = tracks[packet.stream.index]
                file.mux(packet)
    taken = take_in(path, tmp_path / "")
    assert beeps_in(heard_in(taken)[1][0]) == pytest.approx([1500, 5500], abs=60)
    assert all(abs(at_ms + 3500 - frame * 40) <= 60 for at_ms, frame in frames_in(taken))


def test_before_the_sound_of_an_mp3_may_stand_a_large_cover(tmp_path: Path) -> None:
    sound, size = media("bare.mp3").read_bytes(), 20 * 1024**2
    if sound.startswith(b"ID3"):
        sound = sound[10 + sound[9] :]
    picture = b"APIC" + struct.pack(">IH", size, 0) + b"\0image/jpeg\0\3\0\xff\xd8\xff".ljust(size, b"U")
    length = bytes(len(picture) >> shift & 0x7F for shift in (21, 14, 7, 0))
    path = tmp_path / "song.mp3"
    path.write_bytes(b"ID3\3\0\0" + length + picture + sound)
    taken = take_in(path, tmp_path)
    assert look_into(taken).sound_codec == "mp3"
    assert beeps_in(heard_in(taken)[1][0]) == pytest.approx([1000, 5000, 9000], abs=40)


@pytest.mark.parametrize("kind", ["live.webm", "mov", "ahead.mkv", "vbr.mp3", "ogg"])
def test_nothing_is_encoded_that_browsers_play(kind: str, tmp_path: Path) -> None:
    before, after = packets_in(media(kind)), packets_in(take_in(media(kind), tmp_path))
    assert sorted(after) == sorted(before)


@pytest.mark.parametrize(
    ("kind", "index", "sound_or_picture"),
    [("live.webm", b"\x1c\x53\xbb\x6b", b"\x1f\x43\xb6\x75"), ("mov", b"moov", b"mdat"), ("vbr.mp3", b"moov", b"mdat")],
)
def test_the_index_stands_in_front(kind: str, index: bytes, sound_or_picture: bytes, tmp_path: Path) -> None:
    data = take_in(media(kind), tmp_path).read_bytes()
    assert 0 <= data.rfind(index, 0, data.find(sound_or_picture)) < data.find(sound_or_picture)


def test_the_same_file_is_made_twice(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
    one, other = (take_in(media("live.webm"), folder).read_bytes() for folder in folders)
    assert one == other


def test_where_the_file_has_no_sound_for_a_while_there_is_silence(tmp_path: Path) -> None:
    path = tmp_path / "jumps.webm"
    with av.open(str(media("webm"))) as source, av.open(str(path), "w", format="webm") as file:
        track = file.add_stream_from_template(source.streams.audio[0])
        for packet in source.demux(audio=0):
            if packet.pts is not None and packet.size:
                packet.pts += 7000 if packet.pts >= 6000 else 0
                packet.dts, packet.stream = packet.pts, track
                file.mux(packet)
    lasts_ms, sound = heard_in(path)
    assert lasts_ms == pytest.approx(19_000, abs=100)
    assert beeps_in(sound[0]) == pytest.approx([1000, 5000, 16_000], abs=40)
    assert not sound[:, 16 * 6100 : 16 * 12_900].any()


def test_sound_of_one_side_has_one_and_a_silent_film_none(tmp_path: Path) -> None:
    assert {len(sound.samples) for sound in sound_of(media("one.webm"))} == {1}
    assert list(sound_of(media("silent.webm"))) == []
    assert not look_into(take_in(media("silent.webm"), tmp_path)).has_sound


def test_uneven_pictures_stay_where_they_are(tmp_path: Path) -> None:
    shown = frames_in(take_in(media("uneven.webm"), tmp_path))
    assert len(shown) == 200
    steps = [after - before for (before, _), (after, _) in pairwise(shown)]
    assert max(steps) - min(steps) > 5, "pictures are as uneven as they were sent"
    assert all(abs(at_ms - frame * 40) <= 40 for at_ms, frame in shown)


def test_a_thumbnail_is_no_black_frame_and_no_larger_than_it_should_be(tmp_path: Path) -> None:
    path = tmp_path / "dark.mp4"
    with av.open(str(path), "w", format="mp4") as file:
        track: Any = file.add_stream("libx264", rate=5, options={"preset": "ultrafast"})
        track.width, track.height, track.pix_fmt, track.gop_size = 1280, 720, "yuv420p", 1
        for number in range(50):
            shade = 200 if number > 30 else 0
            frame = av.VideoFrame.from_ndarray(np.full((720, 1280, 3), shade, np.uint8), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, 5)
            file.mux(track.encode(frame))
        file.mux(track.encode(None))
    drawn = draw_thumbnail(path, tmp_path, 10_000)
    assert drawn is not None
    with av.open(str(drawn)) as picture:
        seen = next(picture.decode(video=0)).to_ndarray(format="gray")
    assert seen.shape == (360, 640)
    assert seen.mean() > 150
    assert draw_thumbnail(media("ogg"), tmp_path, 12_000) is None


UPRIGHT = struct.pack(">9i", 65536, 0, 0, 0, 65536, 0, 0, 0, 0x40000000)
ON_ITS_SIDE = struct.pack(">9i", 0, 65536, 0, -65536, 0, 0, 64 * 65536, 0, 0x40000000)


@pytest.mark.parametrize("kind", ["mov", "hevc.mov"])
def test_a_film_that_a_phone_took_on_its_side_stands_upright(kind: str, tmp_path: Path) -> None:
    data = bytearray(media(kind).read_bytes())
    at = data.find(UPRIGHT, data.rfind(b"tkhd"))
    data[at : at + len(UPRIGHT)] = ON_ITS_SIDE
    path = tmp_path / "phone.mov"
    path.write_bytes(data)
    taken = take_in(path, tmp_path)
    with av.open(str(taken)) as file:
        frames = list(file.decode(video=0))
    picture = frames[150].to_ndarray(format="rgb24")
    assert frames[0].rotation == (-90 if kind == "mov" else 0), "players turn what was copied"
    if kind == "hevc.mov":
        assert picture.shape == (256, 64, 3)
        picture = np.rot90(picture)
    assert frame_in(picture) == 150
    drawn = draw_thumbnail(taken, tmp_path, 12_000)
    assert drawn is not None
    with av.open(str(drawn)) as file:
        assert next(file.decode(video=0)).height == 256


def test_subtitles_covers_and_second_tracks_are_left_out(tmp_path: Path) -> None:
    path, lines = tmp_path / "much.mkv", tmp_path / "lines.srt"
    lines.write_text("1\n00:00:01,000 --> 00:00:02,000\nSomebody's words\n")
    with (
        av.open(str(media("mkv"))) as source,
        av.open(str(lines)) as words,
        av.open(str(path), "w", format="matroska") as file,
    ):
        tracks: list[Any] = [file.add_stream_from_template(source.streams[kind]) for kind in (0, 1, 1)]
        tracks.append(file.add_stream_from_template(words.streams[0]))
        file.add_attachment("secret.txt", "text/plain", b"not for players")
        for packet in (*source.demux(), *words.demux()):
            if packet.size:
                number = 3 if packet.stream.type == "subtitle" else packet.stream.index
                copies = [tracks[number]] if number != 1 else tracks[1:3]
                for track in copies:
                    packet.stream = track
                    file.mux(packet)
    assert b"not for players" in path.read_bytes()
    data = take_in(path, tmp_path)
    with av.open(str(data)) as file:
        assert [stream.type for stream in file.streams] == ["video", "audio"]
    assert b"not for players" not in data.read_bytes()
    assert b"Somebody's words" not in data.read_bytes()


# --- what a stranger may send ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "The file is empty."),
        (b"<!doctype html><p>Sign in", "web page"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a picture"),
        (b"PK\x03\x04" + bytes(100), "ZIP archive"),
        (b"\x7fELF" + bytes(100), "a program"),
        (b"Dear reader, this is a letter.", "no video or sound that we know"),
        (b"RIFF\x00\x00\x00\x00AVI LIST" + bytes(100), "AVI"),
        (bytes(5000), "no video or sound that we know"),
        (b"\x1a\x45\xdf\xa3" + bytes(5000), "damaged"),
        (b"\x00\x00\x00\x18ftypisom" + bytes(5000), "damaged"),
        (b"OggS" + bytes(5000), "damaged"),
        (b"RIFF\xff\xff\xff\xffWAVEfmt " + bytes(5000), "damaged"),
        (b"ID3\x04\x00\x00\x7f\x7f\x7f\x7f" + bytes(5000), "no video or sound that we know"),
    ],
)
def test_what_is_no_recording_is_refused_in_words(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "recording.mp4"
    path.write_bytes(content)
    with pytest.raises(BadMediaError, match=words):
        take_in(path, tmp_path)


@pytest.mark.parametrize("beginning", ["#EXTM3U\n#EXTINF:10,\n{}\n", "ffconcat version 1.0\nfile '{}'\n", "{}\n"])
def test_a_playlist_opens_nothing(beginning: str, tmp_path: Path) -> None:
    for target in (media("webm"), "http://127.0.0.1:9/stolen.webm"):
        path = tmp_path / "recording.webm"
        path.write_text(beginning.format(target))
        with pytest.raises(BadMediaError):
            look_into(path)


def test_a_film_that_refers_to_another_file_gets_nothing_of_it(tmp_path: Path) -> None:
    """In a mov the bytes of a track may lie in another file, named by its path: that of somebody else's recording."""
    theirs = media("mov", 3.0).read_bytes()
    (tmp_path / "theirs.mov").write_bytes(theirs)
    index = theirs.find(b"moov") - 4
    film = tmp_path / "film.mov"
    film.write_bytes(theirs[:48] + bytes(index - 48) + _elsewhere(theirs[index:], str(tmp_path / "theirs.mov")))
    with av.open(str(film), options={"enable_drefs": "1"}) as file:
        assert any(any(bytes(packet)) for packet in file.demux() if packet.size), "FFmpeg would give it, if it was told"
    (tmp_path / "out").mkdir()
    try:
        out = take_in(film, tmp_path / "out")
    except BadMediaError:
        return
    with av.open(str(out)) as file:
        assert not any(any(bytes(packet)) for packet in file.demux() if packet.size)


def _elsewhere(boxes: bytes, path: str) -> bytes:
    """The index of a film, whose tracks lie in this file from now on."""
    found, at = b"", 0
    while at + 8 <= len(boxes):
        size, kind = struct.unpack_from(">I4s", boxes, at)
        body = boxes[at + 8 : at + size]
        if kind in {b"moov", b"trak", b"mdia", b"minf", b"dinf"}:
            body = _elsewhere(body, path)
        elif kind == b"dref":
            body = body[:8] + _alias(path.encode())
        found += struct.pack(">I4s", 8 + len(body), kind) + body
        at += size
    return found


def _alias(path: bytes) -> bytes:
    """A reference to a file as old Macs wrote it: the volume, the name, how to get there, the whole path."""
    told = bytes(130) + struct.pack(">HH", 1, 1) + bytes(16) + struct.pack(">HH", 2, len(path))
    told += path + bytes(len(path) % 2) + struct.pack(">HH", 0xFFFF, 0) + bytes(16)
    return struct.pack(">I4sI", 12 + len(told), b"alis", 0) + told


def test_a_picture_beyond_8k_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wide.webm"
    with av.open(str(path), "w", format="webm") as file:
        track: Any = file.add_stream("libvpx", rate=1)
        track.width, track.height, track.pix_fmt = 16_000, 16, "yuv420p"
        frame = av.VideoFrame(16_000, 16, "yuv420p")
        frame.pts, frame.time_base = 0, Fraction(1, 1)
        file.mux(track.encode(frame))
        file.mux(track.encode(None))
    with pytest.raises(BadMediaError, match="larger than 8K"):
        take_in(path, tmp_path)


def test_a_recording_of_more_than_a_day_is_refused_whether_it_says_so_or_not(tmp_path: Path) -> None:
    for options in ({}, {"live": "1"}):
        path = tmp_path / "endless.webm"
        with av.open(str(media("ogg"))) as source, av.open(str(path), "w", format="webm", options=options) as file:
            track = file.add_stream_from_template(source.streams.audio[0])
            for number, packet in enumerate(source.demux(audio=0)):
                if packet.size and packet.pts is not None:
                    packet.pts += number // 100 * 48_000 * 3600 * 9
                    packet.dts, packet.stream = packet.pts, track
                    file.mux(packet)
        with pytest.raises(BadMediaError, match="24 hours"):
            take_in(path, tmp_path)


@pytest.mark.parametrize(("picture", "sound", "odd"), [("snow", None, "snow"), (None, "tta", "tta")])
def test_what_no_recorder_of_today_writes_is_given_to_no_decoder(
    picture: str | None, sound: str | None, odd: str, tmp_path: Path
) -> None:
    """Old and rare decoders are where holes are found: the file is refused before one of them has seen a byte."""
    kind = made.Kind("matroska", sound, picture)
    path = write(tmp_path / "odd.mkv", kind, 2.0)
    for act in (look_into, lambda path: take_in(path, tmp_path), lambda path: list(sound_of(path))):
        with pytest.raises(BadMediaError, match=f"form that is not taken .{odd}"):
            act(path)


def test_what_nobody_can_decode_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "odd.mov"
    path.write_bytes(media("mov", 3.0).read_bytes().replace(b"avc1", b"zzzz"))
    with pytest.raises(BadMediaError, match="picture is in a form that is not taken"):
        take_in(path, tmp_path)


@pytest.mark.parametrize("kind", ["vbr.mp3", "mkv", "mov", "wav"])
def test_titles_in_other_alphabets_than_ours_are_no_fault(kind: str, tmp_path: Path) -> None:
    """As programs of long ago write names, in Latin-1."""
    path = tmp_path / f"recording.{kind}"
    with av.open(str(media(kind, 3.0))) as source, av.open(str(path), "w", format=KINDS[kind].container) as file:
        file.metadata["title"] = "Gespraech mit Zoe" * 3
        tracks = {track.index: file.add_stream_from_template(track) for track in source.streams}
        for packet in source.demux():
            if packet.size:
                packet.stream = tracks[packet.stream.index]
                file.mux(packet)
    written = path.read_bytes()
    assert b"mit Zoe" in written
    path.write_bytes(written.replace(b"mit Zoe", b"mit Zo\xeb"))
    assert look_into(take_in(path, tmp_path)).duration_ms > 2_000


def test_a_file_with_hundreds_of_tracks_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.mkv"
    with av.open(str(media("ogg"))) as source, av.open(str(path), "w", format="matroska") as file:
        tracks = [file.add_stream_from_template(source.streams.audio[0]) for _ in range(100)]
        packet = next(each for each in source.demux() if each.size)
        packet.pts = packet.dts = 0
        packet.stream = tracks[0]
        file.mux(packet)
    with pytest.raises(BadMediaError):
        take_in(path, tmp_path)


@pytest.mark.parametrize(
    ("kind", "share"), [("live.webm", 0.6), ("webm", 0.6), ("vbr.mp3", 0.5), ("wav", 0.5), ("ogg", 0.5)]
)
def test_a_file_that_is_cut_off_is_played_as_far_as_it_goes(kind: str, share: float, tmp_path: Path) -> None:
    path, data = tmp_path / "cut", media(kind).read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    about = look_into(take_in(path, tmp_path))
    assert about.duration_ms == pytest.approx(SECONDS * 1000 * share, abs=1500)


def test_a_film_whose_index_was_cut_off_is_refused(tmp_path: Path) -> None:
    path, data = tmp_path / "cut.mov", media("mov").read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(BadMediaError, match="damaged"):
        take_in(path, tmp_path)


def test_noise_in_the_middle_costs_what_was_there(tmp_path: Path) -> None:
    path, data = tmp_path / "noisy.webm", bytearray(media("live.webm").read_bytes())
    middle = len(data) // 2
    data[middle : middle + 2000] = np.random.default_rng(0).bytes(2000)
    path.write_bytes(data)
    lasts_ms, sound = heard_in(take_in(path, tmp_path))
    assert lasts_ms == pytest.approx(SECONDS * 1000, abs=500)
    assert beeps_in(sound[0])[0] == pytest.approx(1000, abs=40)
    assert beeps_in(sound[1])[-1] == pytest.approx(11_000, abs=40)


def test_what_no_browser_plays_is_refused_where_encoding_it_would_take_too_long(tmp_path: Path) -> None:
    path = tmp_path / "long.mov"
    kind = replace(KINDS["prores.mov"], sound=None)
    with av.open(str(write(tmp_path / "short.mov", kind, 1))) as source, av.open(str(path), "w", format="mov") as file:
        track = file.add_stream_from_template(source.streams.video[0])
        for number, packet in enumerate(each for each in source.demux() if each.size):
            base = packet.time_base
            packet.pts = packet.dts = round(number * 200 / base)
            packet.stream = track
            file.mux(packet)
    with pytest.raises(BadMediaError, match="prores"):
        take_in(path, tmp_path)


# --- the child ----------------------------------------------------------------------------------------


class Seen:
    """The real Popen, and what it began."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.children: list[subprocess.Popen[bytes]] = []
        begin = subprocess.Popen

        def popen(*args: Any, **kwargs: Any) -> subprocess.Popen[bytes]:
            self.children.append(begin(*args, **kwargs))
            return self.children[-1]

        monkeypatch.setattr(asking.subprocess, "Popen", popen)


@pytest.mark.parametrize(
    ("end", "error"),
    [(signal.SIGSEGV, BadMediaError), (signal.SIGXCPU, BadMediaError), (signal.SIGKILL, InterruptedWorkError)],
)
def test_a_child_that_dies_takes_nobody_with_it(
    end: signal.Signals, error: type[Exception], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = Seen(monkeypatch)
    sounds = sound_of(made.media("wav", 120.0))
    next(sounds)
    seen.children[0].send_signal(end)
    with pytest.raises(error):
        list(sounds)
    assert seen.children[0].poll() is not None


def test_a_child_knows_no_secret_and_ends_with_whoever_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EMMA_SECRET_KEY", "not for strangers")
    seen = Seen(monkeypatch)
    sounds = sound_of(made.media("wav", 120.0))
    next(sounds)
    environment = Path(f"/proc/{seen.children[0].pid}/environ").read_bytes()
    assert b"PATH=" in environment
    assert b"EMMA" not in environment
    sounds.close()  # type: ignore[attr-defined]
    assert seen.children[0].poll() is not None


def test_a_child_may_use_so_much_and_no_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(BadMediaError, match="more time or memory"):
        asking.ask("take in", made.media("prores.mov"), cpu_s=0, folder=tmp_path)
    monkeypatch.setattr(asking, "MEMORY_BYTES", 48 * 1024**2)
    with pytest.raises(BadMediaError):
        take_in(made.media("prores.mov"), tmp_path)
    monkeypatch.undo()
    monkeypatch.setattr(asking, "LARGEST_FILE_BYTES", 10_000)
    with pytest.raises(BadMediaError):
        take_in(made.media("webm"), tmp_path)


def test_whoever_waits_for_a_child_gives_signs_of_life_and_may_end_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(asking, "BEAT_S", 0.02)
    seen = Seen(monkeypatch)

    def beat() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        take_in(made.media("prores.mov"), tmp_path, beat=beat)
    assert seen.children[0].poll() is not None


def test_nothing_of_ffmpeg_is_loaded_where_it_is_asked(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from emma_eval.adapters.media import look_into;"
        f"look_into(Path({str(media('webm'))!r})); print('av' in sys.modules)"
    )
    said = subprocess.run(
        [asking.sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=os.getcwd()
    )
    assert said.stdout == "False\n"


def most_memory(child: subprocess.Popen[bytes]) -> int:
    """Of a child that runs, in kilobytes; 0 once it has ended."""
    lines = Path(f"/proc/{child.pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def test_a_file_of_eight_hours_is_made_ready_in_little_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It holds a tenth of a second in each second, as recorders do that send nothing while nobody speaks."""
    long = made.write_long(tmp_path / "long.webm", "slow.webm", 8 * 3600, every_s=60, nth=8)
    monkeypatch.setattr(asking, "BEAT_S", 0.05)
    seen, used = Seen(monkeypatch), [0]
    path = take_in(long, tmp_path, beat=lambda: used.append(most_memory(seen.children[-1])))
    assert look_into(path).duration_ms == pytest.approx(8 * 3600 * 1000, abs=2000)
    for sound in sound_of(path):
        if sound.at_ms > 3600 * 1000:
            used.append(most_memory(seen.children[-1]))
            break
    assert 10_000 < max(used) < 150_000
