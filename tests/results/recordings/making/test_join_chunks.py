"""The takes of a call become one file, end to end; what was not recorded is told by its segments."""

from __future__ import annotations

import hashlib
from pathlib import Path

import av
import pytest

from emma_eval.accounts.models import User
from emma_eval.adapters.media import BadMediaError, Run, join_takes, joining, look_into, writing
from emma_eval.adapters.recordings import Store
from results.models import Chunk, Recording
from results.recordings.making.join_chunks import JoinedCall, join_chunks
from tests.adapters.test_media import beeps_in, frames_in, heard_in
from tests.media import KINDS, media, write

from ..sent import put, recorded

pytestmark = [pytest.mark.django_db]
TAKE_MS = 12_000


def joined(recording: Recording, store: Store, tmp_path: Path) -> JoinedCall:
    folder = tmp_path / "made"
    folder.mkdir()
    return join_chunks(recording, store, folder)


def call_places(found: JoinedCall, places: list[int]) -> list[int]:
    """Where places in the file lie on the clock of the call."""
    told = []
    for at_ms in places:
        segment = [each for each in found.segments if each.file_ms <= at_ms + 30][-1]
        told.append(segment.call_ms + at_ms - segment.file_ms)
    return told


@pytest.mark.parametrize("kind", ["live.webm", "live.vp9.webm", "live.mp4"])
def test_takes_follow_each_other_without_the_gap_and_are_found_on_the_clock_of_the_call(
    kind: str, store: Store, tester: User, tmp_path: Path
) -> None:
    recording = recorded(tester, store, [(kind, 500), (kind, 60_500)])
    found = joined(recording, store, tmp_path)
    about = look_into(found.path)
    assert about.duration_ms == pytest.approx(2 * TAKE_MS, abs=100)
    assert about.container == kind.rpartition(".")[2], "as browsers play it"
    assert [segment.call_ms for segment in found.segments] == [500, 60_500]
    assert sum(segment.lasts_ms for segment in found.segments) == pytest.approx(about.duration_ms, abs=50)
    _, sound = heard_in(found.path)
    left = [1000, 5000, 9000]
    assert call_places(found, beeps_in(sound[0])) == pytest.approx(
        [500 + at for at in left] + [60_500 + at for at in left], abs=60
    )
    assert [frame for _, frame in frames_in(found.path)] == [*range(300), *range(300)]
    assert not found.words


@pytest.mark.parametrize("kind", ["live.webm", "live.mp4"])
def test_a_missing_chunk_costs_its_own_stretch_and_is_told(
    kind: str, store: Store, tester: User, tmp_path: Path
) -> None:
    recording = recorded(tester, store, [(kind, 0)], missing=[(1, 2)])
    found = joined(recording, store, tmp_path)
    assert found.words == "1 piece of a few seconds never arrived."
    first, second = found.segments
    assert 3000 < first.lasts_ms < 4500
    assert 5500 < second.call_ms < 7500
    assert second.file_ms == first.lasts_ms
    _, sound = heard_in(found.path)
    both = sorted(call_places(found, beeps_in(sound[0])) + call_places(found, beeps_in(sound[1])))
    assert both == pytest.approx([1000, 3000, *([7000] if second.call_ms < 7000 else []), 9000, 11_000], abs=60)
    shown = frames_in(found.path)
    assert all(
        abs(call - frame * 40) < 100
        for call, (_, frame) in zip(call_places(found, [at for at, _ in shown]), shown, strict=True)
    )


def test_a_take_whose_beginning_is_lost_borrows_the_head_of_another(store: Store, tester: User, tmp_path: Path) -> None:
    recording = recorded(tester, store, [("live.webm", 0), ("live.webm", 30_000)], missing=[(2, 0)])
    found = joined(recording, store, tmp_path)
    _, second = found.segments
    assert 31_500 < second.call_ms < 34_000
    _, sound = heard_in(found.path)
    assert call_places(found, beeps_in(sound[0]))[-1] == pytest.approx(39_000, abs=60)


def test_a_take_whose_beginning_is_lost_with_no_other_to_help_is_left_out(
    store: Store, tester: User, tmp_path: Path
) -> None:
    recording = recorded(tester, store, [("live.webm", 0), ("live.mp4", 30_000)], missing=[(2, 0)])
    found = joined(recording, store, tmp_path)
    assert [segment.call_ms for segment in found.segments] == [0]
    alone = recorded(tester, store, [("live.webm", 0)], missing=[(1, 0)])
    (tmp_path / "other").mkdir()
    with pytest.raises(BadMediaError, match="Nothing of the recording"):
        join_chunks(alone, store, tmp_path / "other")


def test_a_chunk_that_is_not_what_was_announced_is_a_hole(store: Store, tester: User, tmp_path: Path) -> None:
    recording = recorded(tester, store, [("live.webm", 0)])
    chunk = Chunk.objects.get(number=3)
    put(store, chunk.key, b"something else")
    assert hashlib.sha256(b"something else").hexdigest() != chunk.sha256
    found = joined(recording, store, tmp_path)
    assert len(found.segments) == 2
    assert found.words


def test_a_chunk_that_the_store_lost_is_a_hole(store: Store, tester: User, tmp_path: Path) -> None:
    recording = recorded(tester, store, [("live.webm", 0)])
    store.remove([Chunk.objects.get(number=3).key])
    assert len(joined(recording, store, tmp_path).segments) == 2


@pytest.mark.parametrize(
    ("takes", "codecs"),
    [
        (("live.webm", "big.webm"), ("vp8", "opus")),
        (("sound.webm", "live.webm"), ("vp8", "opus")),
        (("silent.webm", "live.webm"), ("vp8", "opus")),
        (("live.mp4", "big.mp4"), ("h264", "aac")),
        (("live.webm", "live.vp9.webm"), ("h264", "opus")),
        (("live.webm", "live.mp4"), ("h264", "aac")),
    ],
)
def test_takes_that_differ_are_joined_and_encoded_only_where_they_must_be(
    takes: tuple[str, str], codecs: tuple[str, str], store: Store, tester: User, tmp_path: Path
) -> None:
    found = joined(recorded(tester, store, [(takes[0], 0), (takes[1], 20_000)]), store, tmp_path)
    about = look_into(found.path)
    assert (about.video_codec, about.sound_codec) == codecs
    assert about.duration_ms == pytest.approx(2 * TAKE_MS, abs=150)
    assert about.container in {"webm", "mp4"}, "what browsers play"
    _, sound = heard_in(found.path)
    assert call_places(found, beeps_in(sound[1]))[-1] == pytest.approx(31_000, abs=80)
    assert frames_in(found.path)[-1][1] == 299


def test_a_machine_that_slept_while_it_recorded_leaves_a_hole(tmp_path: Path) -> None:
    path = tmp_path / "slept.webm"
    with av.open(str(media("live.webm"))) as source, av.open(str(path), "w", "webm", {"live": "1"}) as file:
        tracks = [file.add_stream_from_template(stream) for stream in source.streams]
        for packet in source.demux():
            if packet.size and packet.pts is not None:
                packet.pts += 600_000 if packet.pts >= 6000 else 0
                packet.dts, packet.stream = packet.pts, tracks[packet.stream.index]
                file.mux(packet)
    joined = join_takes([Run(path, 1, 0)], tmp_path)
    assert look_into(joined.path).duration_ms == pytest.approx(TAKE_MS, abs=100)
    first, second = joined.segments
    assert (first.lasts_ms, second.call_ms) == pytest.approx((6000, 606_000), abs=60)
    shown = frames_in(joined.path)
    assert all(abs(at_ms - frame * 40) < 100 for at_ms, frame in shown)


def test_pictures_that_go_on_while_the_sound_pauses_are_kept_where_they_were(tmp_path: Path) -> None:
    path = tmp_path / "paused.webm"
    with av.open(str(media("live.webm"))) as source, av.open(str(path), "w", "webm", {"live": "1"}) as file:
        tracks = {stream.index: file.add_stream_from_template(stream) for stream in source.streams}
        for packet in source.demux():
            is_paused = packet.stream.type == "audio" and packet.pts is not None and 4000 < packet.pts < 8000
            if packet.size and not is_paused:
                packet.stream = tracks[packet.stream.index]
                file.mux(packet)
    joined = join_takes([Run(path, 1, 0)], tmp_path)
    assert len(joined.segments) == 1
    assert [frame for _, frame in frames_in(joined.path)] == list(range(300))
    assert beeps_in(heard_in(joined.path)[1][0]) == pytest.approx([1000, 9000], abs=60)


def test_pictures_that_cannot_stand_in_one_track_are_left_out_where_encoding_would_take_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, since a child would need an hour of media."""
    monkeypatch.setattr(joining, "LONGEST_ENCODED_S", 20)
    monkeypatch.setattr(writing, "allow", lambda seconds: None)
    long = write(tmp_path / "long.webm", KINDS["live.webm"], 14.0)
    joined = joining.join([Run(media("live.vp9.webm"), 1, 0), Run(long, 2, 20_000)], tmp_path)
    about = look_into(joined.path)
    assert (about.video_codec, about.sound_codec) == ("vp8", "opus")
    assert about.duration_ms == pytest.approx(26_000, abs=100)
    assert [frame for _, frame in frames_in(joined.path)] == list(range(350))
    assert beeps_in(heard_in(joined.path)[1][0]) == pytest.approx(
        [1000, 5000, 9000, 13_000, 17_000, 21_000, 25_000], abs=60
    )
