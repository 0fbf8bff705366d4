"""Turns of a call: tables of small calls, worked out by hand, and what must hold of any."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emma_eval.scoring import turns
from emma_eval.scoring.turns import (
    FEWEST_FOR_MEDIAN,
    FEWEST_FOR_P95,
    Event,
    Kind,
    Segment,
    TurnFigures,
    Unmeasured,
    Who,
    bridged,
    figures_of,
    nearest_rank,
)

Spans = list[tuple[int, int]]


def figures(tester: Spans, emma: Spans, *, cuts: tuple[int, ...] = (), lasts: int = 60_000) -> TurnFigures:
    found = figures_of(said(tester), said(emma), cuts_ms=cuts, duration_ms=lasts)
    assert isinstance(found, TurnFigures)
    return found


def said(spans: Spans) -> list[Segment]:
    return [Segment(*span) for span in spans]


def of_kind(found: TurnFigures, kind: Kind) -> list[Event]:
    return [event for event in found.events if event.kind == kind]


def latencies(found: TurnFigures) -> list[int]:
    return [event.value_ms for event in of_kind(found, Kind.REPLY)]


# --- replies ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tester", "emma", "expected"),
    [
        ([(0, 1000)], [(1600, 3000)], [600]),
        ([(0, 1000), (4000, 5000)], [(1600, 3000), (5200, 6000)], [600, 200]),
        # Emma speaks first: nothing to reply to.
        ([(2000, 3000)], [(0, 1500), (3400, 4000)], [400]),
        # The tester goes on after a pause: the reply is to the end of it.
        ([(0, 1000), (1700, 2500)], [(3000, 4000)], [500]),
        # Emma goes on after a pause of hers: one reply.
        ([(0, 1000)], [(1500, 2500), (3500, 4500)], [500]),
        # She begins before the tester's end and goes on: a negative offset.
        ([(0, 2000)], [(1700, 4000)], [-300]),
        # She comes in and gives up while the tester goes on: no reply, until she has one.
        ([(0, 5000)], [(1000, 2500), (5400, 6000)], [400]),
        # A short break within a word is none.
        ([(0, 1000), (1150, 2000)], [(2300, 3000)], [300]),
        # What is handed in twice, or out of order, is the same.
        ([(1150, 2000), (0, 1000), (0, 1000)], [(2300, 3000)], [300]),
    ],
)
def test_replies_are_measured_from_the_end_of_the_testers_speech(
    tester: Spans, emma: Spans, expected: list[int]
) -> None:
    assert latencies(figures(tester, emma)) == expected


def test_both_ends_of_a_reply_are_named_and_the_earlier_comes_first() -> None:
    found = figures([(0, 1000), (5000, 7000)], [(1600, 3000), (6700, 9000)])
    after, before = of_kind(found, Kind.REPLY)
    assert (after.from_ms, after.to_ms, after.value_ms) == (1000, 1600, 600)
    assert (after.from_point, after.to_point) == ("end of the tester’s speech", "beginning of Emma’s speech")
    assert (before.from_ms, before.to_ms, before.value_ms) == (6700, 7000, -300)
    assert (before.from_point, before.to_point) == ("beginning of Emma’s speech", "end of the tester’s speech")
    assert after.who == before.who == Who.EMMA


def test_an_interruption_is_no_reply_but_is_counted_and_shown() -> None:
    found = figures([(0, 5000)], [(2000, 8000)])
    assert (latencies(found), found.turn_count, found.early_count) == ([], 0, 1)
    assert [event.value_ms for event in of_kind(found, Kind.EARLY)] == [-3000]
    assert found.overlap_count == 1


def test_a_short_answer_in_a_silence_is_a_turn() -> None:
    found = figures([(0, 1000), (4000, 4300)], [(1500, 3500), (4800, 6000)])
    assert latencies(found) == [500, 500]


def test_a_median_and_a_p95_of_too_few_are_none() -> None:
    def with_replies(count: int) -> TurnFigures:
        starts = [at * 3000 for at in range(count)]
        return figures(
            [(at, at + 1000) for at in starts],
            [(at + 1000 + 10 * (at // 3000 + 1), at + 2500) for at in starts],
            lasts=count * 3000,
        )

    assert with_replies(FEWEST_FOR_MEDIAN - 1).latency_median_ms is None
    assert with_replies(FEWEST_FOR_MEDIAN).latency_median_ms == 30
    assert with_replies(FEWEST_FOR_P95 - 1).latency_p95_ms is None
    assert with_replies(FEWEST_FOR_P95).latency_p95_ms == 190


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [([7], 95, 7), (range(1, 21), 95, 19), (range(1, 101), 95, 95), (range(1, 102), 95, 96), ([3, 1, 2], 50, 2)],
)
def test_a_percentile_is_the_nearest_rank(values: list[int], percent: int, expected: int) -> None:
    assert nearest_rank(list(values), percent) == expected


@pytest.mark.parametrize(("values", "percent"), [([], 95), ([1], 0), ([1], 101)])
def test_there_is_no_percentile_of_nothing(values: list[int], percent: int) -> None:
    with pytest.raises(ValueError, match="percentile"):
        nearest_rank(values, percent)


# --- silences -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tester", "emma", "expected"),
    [
        ([(0, 1000)], [(3999, 5000)], []),
        ([(0, 1000)], [(4000, 5000)], [(1000, 4000, Who.EMMA)]),
        # The tester was asked and goes on after all: Emma was expected.
        ([(0, 1000), (5000, 6000)], [(6500, 7000)], [(1000, 5000, Who.EMMA)]),
        ([(6000, 7000)], [(0, 2000)], [(2000, 6000, Who.TESTER)]),
        # Before the first word and behind the last one nothing is told.
        ([(9000, 9500)], [(10_000, 11_000)], []),
    ],
)
def test_silences_say_who_was_expected(tester: Spans, emma: Spans, expected: list[tuple[int, int, Who]]) -> None:
    found = figures(tester, emma)
    assert [(event.from_ms, event.to_ms, event.who) for event in of_kind(found, Kind.SILENCE)] == expected
    assert found.silence_count == len(expected)
    assert found.silence_ms == sum(to - begin for begin, to, _ in expected)


# --- overlaps -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tester", "emma", "who", "lasts", "yielded"),
    [
        # The tester comes in, Emma stops.
        ([(3000, 6000)], [(0, 3800)], Who.TESTER, 800, Who.EMMA),
        # The tester comes in and gives up.
        ([(3000, 4500)], [(0, 8000)], Who.TESTER, 1500, Who.TESTER),
        # Emma comes in, the tester stops.
        ([(0, 2500)], [(2000, 5000)], Who.EMMA, 500, Who.TESTER),
        # Both stop together, as far as can be told.
        ([(0, 3000)], [(2000, 3150)], Who.EMMA, 1000, None),
    ],
)
def test_in_an_overlap_one_yields(tester: Spans, emma: Spans, who: Who, lasts: int, yielded: Who | None) -> None:
    (event,) = of_kind(figures(tester, emma), Kind.OVERLAP)
    assert (event.who, event.value_ms, event.yielded) == (who, lasts, yielded)
    assert event.from_point == f"beginning of {who.possessive} speech"


def test_shorter_overlaps_are_none() -> None:
    assert figures([(0, 2000)], [(1801, 4000)]).overlap_count == 0
    assert figures([(0, 2000)], [(1800, 4000)]).overlap_count == 1


def test_back_channels_take_no_turn_but_are_talk() -> None:
    found = figures([(0, 1000), (3000, 3500)], [(1500, 6000)])
    assert (found.overlap_count, found.turn_count, found.tester_talk_ms) == (0, 1, 1500)
    (event,) = of_kind(found, Kind.BACK_CHANNEL)
    assert (event.who, event.from_ms, event.to_ms) == (Who.TESTER, 3000, 3500)
    assert found.longest_monologue_ms == 4500


def test_longer_ones_are_overlaps() -> None:
    assert figures([(0, 1000), (3000, 4001)], [(1500, 6000)]).overlap_count == 1


def test_how_long_emma_took_to_yield() -> None:
    starts = range(0, 50_000, 10_000)
    found = figures([(at + 3000, at + 6000) for at in starts], [(at, at + 3500 + at // 100) for at in starts])
    assert (found.yield_count, found.yield_median_ms) == (5, 700)


# --- talk ---------------------------------------------------------------------------------------------------


def test_the_share_of_talk_is_of_both_together() -> None:
    assert figures([(0, 1000)], [(2000, 5000)]).emma_share == 0.75


@pytest.mark.parametrize(
    ("tester", "emma", "longest"),
    [
        ([(0, 500)], [(1000, 4000), (5000, 9000)], 8000),  # a pause of a second is part of it
        ([(0, 500)], [(1000, 4000), (6000, 9000)], 3000),  # one of two seconds ends it
        ([(0, 500), (4200, 4800)], [(1000, 4000), (5000, 9000)], 4000),  # and so does a turn
    ],
)
def test_a_monologue_lasts_until_a_turn_or_a_long_pause(tester: Spans, emma: Spans, longest: int) -> None:
    found = figures(tester, emma)
    assert found.longest_monologue_ms == longest
    assert len(of_kind(found, Kind.MONOLOGUE)) == 1


# --- joins --------------------------------------------------------------------------------------------------


def test_nothing_is_measured_across_a_join() -> None:
    found = figures([(0, 1000)], [(6000, 8000)], cuts=(3000,))
    assert (found.turn_count, found.silence_count, found.joined_count) == (0, 0, 1)
    assert [(event.from_ms, event.to_ms) for event in of_kind(found, Kind.JOINED)] == [(1000, 6000)]


def test_speech_is_cut_at_a_join() -> None:
    found = figures([(0, 1000)], [(2000, 8000)], cuts=(5000,))
    assert found.longest_monologue_ms == 3000
    assert found.emma_talk_ms == 6000


# --- withheld -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tester", "emma", "because"),
    [
        ([], [], "Nobody is heard in the recording."),
        ([(0, 1000)], [], "Emma is not heard in the recording, so that there are no turns to measure."),
        ([], [(0, 1000)], "The tester is not heard in the recording, so that there are no turns to measure."),
        ([(0, 40)], [(100, 1000)], "The tester is not heard in the recording, so that there are no turns to measure."),
    ],
)
def test_without_both_nothing_is_measured_rather_than_zero(tester: Spans, emma: Spans, because: str) -> None:
    assert figures_of(said(tester), said(emma), duration_ms=5000) == Unmeasured(because)


@pytest.mark.parametrize(("tester", "lasts"), [([(2000, 1000)], 5000), ([(0, 1000)], -1)])
def test_an_end_before_its_beginning_is_refused(tester: Spans, lasts: int) -> None:
    with pytest.raises(ValueError, match="before its beginning"):
        figures_of(said(tester), said([(0, 100)]), duration_ms=lasts)


# --- of any call --------------------------------------------------------------------------------------------

segments = st.lists(
    st.tuples(st.integers(0, 30_000), st.integers(0, 4_000)).map(lambda each: Segment(each[0], each[0] + each[1])),
    max_size=12,
)
cuts = st.lists(st.integers(0, 30_000), max_size=3)


@settings(max_examples=150, deadline=None)
@given(segments, segments, cuts)
def test_figures_agree_with_their_events(tester: list[Segment], emma: list[Segment], cuts_ms: list[int]) -> None:
    found = figures_of(tester, emma, cuts_ms=cuts_ms, duration_ms=30_000)
    if isinstance(found, Unmeasured):
        assert found.because
        return
    assert found.edition == turns.EDITION
    assert list(found.events) == sorted(found.events, key=lambda event: (event.from_ms, event.to_ms, event.kind))
    for event in found.events:
        assert 0 <= event.from_ms <= event.to_ms <= 30_000
        assert abs(event.value_ms) == event.to_ms - event.from_ms
        is_joined = event.kind == Kind.JOINED
        assert any(event.from_ms < cut < event.to_ms for cut in cuts_ms) <= is_joined
    assert found.turn_count == len(of_kind(found, Kind.REPLY))
    assert found.silence_ms == sum(event.value_ms for event in of_kind(found, Kind.SILENCE))
    assert 0 < (found.emma_share or 0) < 1
    assert found.tester_talk_ms <= 30_000
    assert max(found.tester_talk_ms, found.longest_monologue_ms) <= 30_000


@settings(max_examples=100, deadline=None)
@given(segments, segments)
def test_overlaps_and_talk_are_the_same_for_whoever_is_called_emma(tester: list[Segment], emma: list[Segment]) -> None:
    one = figures_of(tester, emma, duration_ms=40_000)
    other = figures_of(emma, tester, duration_ms=40_000)
    if isinstance(one, Unmeasured) or isinstance(other, Unmeasured):
        assert isinstance(one, Unmeasured) == isinstance(other, Unmeasured)
        return
    assert (one.overlap_count, one.silence_count) == (other.overlap_count, other.silence_count)
    assert (one.tester_talk_ms, one.emma_talk_ms) == (other.emma_talk_ms, other.tester_talk_ms)


@settings(max_examples=100, deadline=None)
@given(segments, st.integers(0, 500))
def test_bridging_leaves_no_short_break_and_loses_nothing(given_segments: list[Segment], break_ms: int) -> None:
    found = bridged(given_segments, break_ms)
    for one, other in pairwise(found):
        assert other.from_ms - one.to_ms >= break_ms
    assert all(any(each.from_ms <= one.from_ms and one.to_ms <= each.to_ms for each in found) for one in given_segments)


def test_it_needs_no_numpy() -> None:
    """It can be published and run by anyone, and a process that serves pages may load it."""
    code = "import emma_eval.scoring.turns, sys; sys.exit('numpy' in sys.modules or 'django' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
