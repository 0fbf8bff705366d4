"""Places in a recording, typed and shown."""

from __future__ import annotations

import pytest

from results.recordings.player.clocks import as_fine_clock, as_seconds, read_clock, say_duration


@pytest.mark.parametrize(
    ("typed", "at_ms"),
    [("83", 83_000), ("83.5", 83_500), ("1:23", 83_000), (" 1:23.4 ", 83_400), ("1:02:03", 3_723_000), ("0,25", 250)]
    + [(wrong, None) for wrong in ("", "x", "-1", "1:", "1e3", "1:2:3:4", "٣", "9" * 30, "1.2345")],
)
def test_a_place_is_read_as_people_write_it(typed: str, at_ms: int | None) -> None:
    assert read_clock(typed) == at_ms


def test_a_place_is_shown_and_put_into_addresses() -> None:
    assert [as_fine_clock(83_470), as_seconds(83_000), as_seconds(83_470), as_seconds(0)] == [
        "1:23.4",
        "83",
        "83.47",
        "0",
    ]


def test_how_long_something_lasted_is_said_in_its_unit() -> None:
    assert [say_duration(ms) for ms in (0, 380, 4_200, 59_960, 65_400)] == [
        "0 ms",
        "380 ms",
        "4.2 s",
        "1 min 0 s",
        "1 min 5 s",
    ]
